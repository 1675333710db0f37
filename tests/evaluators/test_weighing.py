"""Options weighed by the probabilities of the tokens that begin them."""

import math

import pytest

from evalstudio.calls.replies import Token
from evaluators.core import Sample
from evaluators.kinds import get_kind
from evaluators.scoring import EnumScoring, Option, PercentageScoring
from evaluators.tools import Tools
from evaluators.verdicts import ReplyForm, read
from evaluators.weighing import PLAIN, weigh
from tests.calls.talking import store_for, with_client
from tests.local_chat_server import says

LETTERS = EnumScoring((Option("A", 100), Option("B", 0), Option("C", 50)))
LABELS = EnumScoring((Option("Supported", 100), Option("Unclear", 50), Option("Contradicted", 0)))
JUDGE = get_kind("judge")


def token(text, **chances):
    """A token with its alternatives as name=chance; a chance for `_` is the token's own."""
    own = chances.pop("_", 1.0)
    others = tuple((name, math.log(chance)) for name, chance in {text: own, **chances}.items())
    return Token(text, math.log(own), others)


def weighed(tokens, scoring=LETTERS, form=ReplyForm.LAST_LINE, letters=None):
    letters = scoring.letters if letters is None else letters
    verdict = read("".join(token.text for token in tokens), scoring, form, letters)
    return weigh(verdict, tokens, scoring, letters)


def test_a_letter_is_weighed_against_the_other_letters():
    assert weighed([token("Because A.\n"), token("A", _=0.6, B=0.3, C=0.1)]) == pytest.approx(0.65)


def test_what_begins_no_option_is_left_out_and_the_rest_adds_up_to_one():
    tokens = [token("r\n"), token("A", _=0.5, B=0.25, Answer=0.2, D=0.05)]
    assert weighed(tokens) == pytest.approx(2 / 3)


def test_the_same_letter_in_other_spellings_adds_up():
    tokens = [token("r\n"), token(" (A", _=0.4, **{" (B": 0.2, "a": 0.1, " B": 0.1, "**": 0.1})]
    assert weighed([*tokens, token(")")]) == pytest.approx(5 / 8)


def test_the_decisive_token_is_found_from_the_end():
    tokens = [token("A", _=0.1, B=0.9), token(" is the question.\n"), token("B", _=0.75, A=0.25), token(".\n")]
    assert weighed(tokens) == pytest.approx(0.25)
    tokens = [token("r\n"), token("Answer: "), token("B", _=0.75, A=0.25)]
    assert weighed(tokens) == pytest.approx(0.25)


def test_a_label_in_json_is_weighed_by_the_token_that_begins_it():
    tokens = [
        token('{"reason": "Supported was not said.'),
        token('", "'), token("label"), token('": "'),
        token("Sup", _=0.5, Un=0.3, Contr=0.1, Yes=0.1),
        token("ported"), token('"}'),
    ]  # fmt: skip
    assert weighed(tokens, LABELS, ReplyForm.JSON) == pytest.approx((0.5 + 0.15) / 0.9)


def test_a_token_that_begins_with_the_quotation_mark_is_read_as_well():
    tokens = [token('{"label":'), token(' "Un', _=0.6, **{' "Sup': 0.4}), token('clear"}')]
    assert weighed(tokens, LABELS, ReplyForm.JSON) == pytest.approx(0.7)


def test_a_label_among_other_words_is_weighed_where_it_stands():
    tokens = [token('{"label": "'), token("It is "), token("Un", _=0.5, Sup=0.5), token('clear"}')]
    assert weighed(tokens, LABELS, ReplyForm.JSON) == pytest.approx(0.75)


def test_a_letter_that_stands_for_a_label_is_weighed_among_letters():
    tokens = [token("r\n"), token("A", _=0.8, C=0.2)]
    assert weighed(tokens, LABELS) == pytest.approx(0.8)


def test_options_with_one_beginning_cannot_be_told_apart():
    scale = EnumScoring((Option("Good", 100), Option("Good enough", 60), Option("Bad", 0)))
    tokens = [token('{"label": "'), token("Good", _=0.7, Bad=0.3), token(' enough"}')]
    assert weighed(tokens, scale, ReplyForm.JSON) is None
    tokens = [token('{"label": "'), token("Bad", _=0.7, Good=0.3), token('"}')]
    assert weighed(tokens, scale, ReplyForm.JSON) == 0.0, "what could be either is left out"


@pytest.mark.parametrize(
    "tokens", [[], [token("nothing of it")], [token('{"label": "Gr\\u00fcn"}')]], ids=["none", "others", "escaped"]
)
def test_without_the_token_nothing_is_weighed(tokens):
    scale = EnumScoring((Option("Grün", 100), Option("Rot", 0)))
    verdict = read('{"label": "Grün"}', scale, ReplyForm.JSON, {})
    assert weigh(verdict, tokens, scale, {}) is None


def test_a_number_has_nothing_to_weigh():
    verdict = read("r\n0.5", PercentageScoring(), ReplyForm.LAST_LINE)
    assert weigh(verdict, [token("0.5")], PercentageScoring(), {}) is None


# Over the wire


def judged(server, reply, tokens, **more):
    options = [{"label": label, "percentage": at} for label, at in (("A", 100), ("B", 0))]
    stored = {
        "prompt": "{{ outputs.value }}?\nWrite the letter on the last line.",
        "connection_id": 1,
        "model": "tiny",
        "scoring": {"type": "enum", "options": options},
        "threshold": 0.5,
        "weighted": True,
    }
    settings = JUDGE.load(JUDGE.blank() | stored | more, JUDGE.schema)
    server.then(says(reply, tokens))

    async def act(chat):
        return await JUDGE.one(settings, Sample(outputs={"value": "x"}), Tools(chat=chat))

    return with_client(store_for(server), act)


def test_the_score_is_weighed_and_the_label_stays_what_was_said(chat_server):
    score = judged(chat_server, "r\nA", [("r\n", {}), ("A", {"A": 0.75, "B": 0.25})], threshold=0.8)
    assert (score.label, score.passed, score.measures) == ("A", False, {"weighed": 1.0})
    assert score.value == pytest.approx(0.75, abs=1e-5)
    assert score.reason == "r"


def test_without_probabilities_the_plain_option_counts_and_the_reason_says_so(chat_server):
    chat_server.refuses = {"logprobs"}
    score = judged(chat_server, "r\nA", None)
    assert (score.value, score.measures, score.reason) == (1.0, {"weighed": 0.0}, f"r\n\n{PLAIN}")


def test_without_weighing_none_are_asked_for(chat_server):
    score = judged(chat_server, "r\nA", [("A", {"A": 0.75, "B": 0.25})], weighted=False)
    assert (score.value, score.measures) == (1.0, {})
    assert "logprobs" not in chat_server.bodies[0]
