"""Getting answers: to the engine a calling kind like any judge, whose score of a row is that there is an answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef, Subquery

from evalstudio.calls.replies import Ask, ChatError, Reply
from evalstudio.web.foreign import storable
from evaluators.asking import why_of
from evaluators.core import Needs, Sample, Score, Status, Why
from evaluators.engine import Work, evaluate_now
from evaluators.paths import MissingPath
from evaluators.prompts import PromptError, RenderError
from evaluators.tools import Tools
from experiments.datasets.contents import digest_of
from experiments.models import Evaluation, Output, OutputBody
from experiments.outputs.prompting import Recipe, read

MOST_ATTEMPTS = 100  # of a run, for which numbers of calls are set apart


@dataclass(frozen=True, slots=True)
class Answer(Score):
    """What a system answered. The ledger counts it as scored; what is wrong with the answer itself is its `error`."""

    outputs: Mapping[str, Any] | None = None
    steps: tuple[Mapping[str, Any], ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Job:
    """What a run asks for. No two rows of any runs share a reply, however alike: `run_id` and the attempt tell them."""

    recipe: Recipe
    run_id: int


class Answering:
    """What the engine asks of a calling kind."""

    def needs(self, job: Job) -> Needs:
        return Needs("net", job.recipe.model.connection_id)

    async def one(self, job: Job, sample: Sample, tools: Tools) -> Score:
        """The answer to one case; unscored where the case lacks what the prompt reads. NotNow passes through."""
        recipe = job.recipe
        try:
            messages = recipe.texts.messages(sample)
        except MissingPath as missing:
            return Score.unscored(Why.MISSING, recipe.texts.lacks(missing))
        except (PromptError, RenderError) as error:
            return Score.failed(Why.TEMPLATE, str(error))
        assert tools.chat is not None
        try:
            reply = await tools.chat.ask(ask_of(recipe, messages, nonce=job.run_id * MOST_ATTEMPTS + sample.repeat))
        except ChatError as error:
            return Score.failed(why_of(error), str(error))
        return answer_of(recipe, messages, reply)


def work_of(recipe: Recipe, run_id: int) -> Work:
    """The work of a run for answers."""
    kind, job = Answering(), Job(recipe, run_id)
    return Work(kind, job, kind.needs(job))


def try_now(recipe: Recipe, sample: Sample, limit_s: float) -> Score:
    """The answer to one case while somebody waits; nothing of it is kept. Raises NotNow when no slot comes free."""
    return evaluate_now(Answering(), Job(recipe, 0), sample, _tools_once, limit_s=limit_s)


@asynccontextmanager
async def _tools_once() -> AsyncIterator[Tools]:
    """A client that tries once: who waits wants to read what is wrong."""
    from evalstudio.calls.chat import ONCE, open_chat

    async with open_chat(patience=ONCE) as chat:
        yield Tools(chat=chat)


def ask_of(recipe: Recipe, messages: tuple[Mapping[str, str], ...], *, nonce: int) -> Ask:
    """The request of a case's messages."""
    model = recipe.model
    return Ask(
        model.connection_id,
        model.name,
        messages,
        temperature=model.temperature,
        max_tokens=model.max_tokens,
        seed=model.seed,
        nonce=nonce,
    )


def answer_of(recipe: Recipe, messages: tuple[Mapping[str, str], ...], reply: Reply) -> Answer:
    """A reply as an output, with the call as its one step."""
    outputs, error = read(storable(reply.text), as_json=recipe.texts.reads_json)
    if reply.finish_reason == "length":
        error = f"The answer was cut off at {recipe.model.max_tokens:,} tokens."
    step = {
        "name": reply.model_reported or reply.model_asked,
        "messages": list(messages),
        "latency_ms": reply.latency_ms,
    }
    return Answer(
        Status.SCORED,
        value=1.0,
        outputs=outputs,
        steps=(step,),
        error=error,
        replies=(reply,),
        latency_ms=reply.latency_ms,
    )


def keep_answers(experiment_id: int, answers: Mapping[int, Answer]) -> None:
    """Store the answers of rows, by the row's id, as outputs of the experiment; part of a settling transaction."""
    rows = Evaluation.objects.filter(pk__in=answers)
    outputs, bodies = [], []
    for row_id, case_id, attempt in rows.order_by("pk").values_list("pk", "case", "repeat"):
        answer = answers[row_id]
        output = Output(experiment_id=experiment_id, case_id=case_id, attempt=attempt, **_figures(answer))
        outputs.append(output)
        bodies.append(OutputBody(output=output, outputs=answer.outputs, steps=list(answer.steps)))
    Output.objects.bulk_create(outputs)
    for output, body in zip(outputs, bodies, strict=True):
        body.output_id = output.pk
    OutputBody.objects.bulk_create(bodies)
    mine = Output.objects.filter(experiment=experiment_id, case=OuterRef("case"), attempt=OuterRef("repeat"))
    rows.update(output=Subquery(mine.values("pk")))


def _figures(answer: Answer) -> dict[str, Any]:
    reply = answer.replies[-1]
    figures = {
        "error": answer.error,
        "latency_ms": reply.latency_ms,
        "cost_usd": reply.cost_usd,
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
    }
    return {"content_hash": digest_of([answer.outputs, answer.steps, figures]), **figures}
