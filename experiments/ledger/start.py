"""Starting a run: a row for every output, durable before anybody is told that it started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import F, Max, Q, QuerySet

from evalstudio.calls.models import Connection
from evaluators.core import Needs, Status
from evaluators.engine import Work, work_of
from evaluators.kinds import BadConfig
from evaluators.models import EvaluatorVersion
from evaluators.processing import number_for
from experiments.analysis.pairing import outputs_of
from experiments.ledger import cases, turns
from experiments.ledger.asked import Asked
from experiments.ledger.defaults import limited
from experiments.ledger.finish import OPEN, finish_run
from experiments.ledger.limits import deadline, has_spent, said_of
from experiments.models import Experiment, Output, Purpose, Run, RunState, Slice

BATCH = 20_000  # rows a transaction
LEAST_ROWS = 8  # a slice
EVERYTHING = Asked()
STOPPED = (RunState.STOPPING, RunState.STOPPED)


class CannotStart(Exception):
    """This version cannot run here. The message is a sentence for the person who asked."""


def start(
    version: EvaluatorVersion,
    experiment: Experiment,
    started_by: Any = None,
    *,
    baseline: Experiment | None = None,
    asked: Asked = EVERYTHING,
) -> Run:
    """The current run of a version over an experiment, with a row for every output that is asked for and there is now.

    A comparative version needs a baseline, and gets a row for every output whose case has one there too. Asked again,
    it returns the same run, adds rows for outputs that are new and goes on where it was stopped; with other options,
    with a newer processor that it reads, or to judge all again, it is a new run, and the former one stays as it is.
    Killed at any moment, it leaves a run that is still preparing, which the sweep completes. Raises CannotStart.
    """
    return _prepared(enter(version, experiment, started_by, baseline=baseline, asked=asked))


def enter(
    version: EvaluatorVersion,
    experiment: Experiment,
    started_by: Any = None,
    *,
    baseline: Experiment | None = None,
    asked: Asked = EVERYTHING,
) -> Run:
    """The run that `start` starts, still without what rows it lacks: `prepare` writes them. Raises CannotStart."""
    work = _work(version)
    needs = work.needs
    _check_pair(needs, experiment, baseline)
    facts = _facts(work, experiment) | {"started_by": started_by}
    check_options(needs.lane, facts["connection"], asked)
    with transaction.atomic():
        Experiment.with_arriving.select_for_update().get(pk=experiment.pk)  # one start at a time
        alike = Run.objects.filter(version=version, experiment=experiment, baseline=baseline)
        current = alike.filter(is_current=True)
        run = current.first()
        if run is None or asked.again or not asked.is_met_by(run) or run.processor != facts["processor"]:
            sample = asked.sample(outputs_of(experiment, baseline))
            repeats = {"first_repeat": _unused_repeat(alike) if asked.again else 0, "repeats": asked.repeats}
            chosen = {"selection": asked.selection, "sample": sample, "keeps_details": asked.keeps_details}
            asked = limited(asked, needs.lane, facts["connection"], experiment.project_id)
            current.update(is_current=False)
            run = Run.objects.create(
                version=version, experiment=experiment, baseline=baseline, **chosen, **repeats, **facts
            )
        set_bounds(run, {name: value for name, value in asked.bounds.items() if value is not None})
        check_spent(run)
    return run


def set_bounds(run: Run, changes: Mapping[str, Any]) -> None:
    """Change some of the bounds of a run, as in `Asked.bounds`."""
    for name, value in changes.items():
        setattr(run, name, value)
    if changes:
        run.save(update_fields=list(changes))


def check_spent(run: Run) -> None:
    """Raises CannotStart where nothing more may be spent."""
    if has_spent(run):
        raise CannotStart(said_of(run) or "It has spent what it may. It goes on when its limit is raised.")


def check_options(lane: str, connection: Connection | None, asked: Asked) -> None:
    """Raises CannotStart where options make no sense for what evaluates."""
    is_limited = asked.limit_usd is not None or asked.limit_s is not None
    if lane not in turns.LANES and (asked.repeats > 1 or is_limited):
        raise CannotStart("Nothing here evaluates for this version, so it has neither repeats nor limits.")
    if asked.limit_usd is None or connection is None or connection.is_rehearsal:
        return
    if connection.usd_per_million_in is None or connection.usd_per_million_out is None:
        raise CannotStart(
            f"What calls of “{connection.name}” cost is not known, so spending cannot be limited. Give its prices, or"
            " limit the time."
        )


def _unused_repeat(runs: QuerySet[Run]) -> int:
    """The first repeat that no run of the same version had here. Replies are kept by repeat, so none of them serves."""
    return runs.aggregate(next=Max(F("first_repeat") + F("repeats")))["next"] or 0


def start_sample(
    version: EvaluatorVersion,
    experiment: Experiment,
    started_by: Any = None,
    *,
    purpose: Purpose,
    output_ids: Sequence[int],
    baseline: Experiment | None = None,
    first_repeat: int = 0,
    repeats: int = 1,
) -> Run:
    """A run over some outputs only, apart from those whose results are shown; asked again, the same run.

    `repeats` judgements of each output, numbered from `first_repeat`; no two of them share a reply. Raises CannotStart.
    """
    work = _work(version)
    _check_pair(work.needs, experiment, baseline)
    facts = _facts(work, experiment)
    wanted = {
        "version": version,
        "experiment": experiment,
        "baseline": baseline,
        "purpose": purpose,
        "sample": sorted(output_ids),
        "first_repeat": first_repeat,
        "repeats": repeats,
        "processor": facts.pop("processor"),
    }
    run = Run.objects.filter(**wanted).order_by("pk").first()
    return _prepared(run or Run.objects.create(**wanted, **facts, started_by=started_by, is_current=False))


def follow(experiment: Experiment) -> None:
    """Let its current runs, and those against it, judge the outputs and pairs that have come since they were started.

    Of a pair either side may come last, so that whoever brings that one has both judged.
    """
    of_it = Run.objects.filter(Q(experiment=experiment) | Q(baseline=experiment))
    for run in of_it.filter(is_current=True, sample__isnull=True).exclude(state__in=STOPPED):
        prepare(run.pk)


def _prepared(run: Run) -> Run:
    prepare(run.pk, wakes=True)
    run.refresh_from_db()
    return run


def _facts(work: Work, experiment: Experiment) -> dict[str, Any]:
    project_id = experiment.project_id
    return {
        "lane": work.needs.lane,
        "connection": _connection(work.needs, project_id),
        "processor": number_for(work, project_id),
    }


def _check_pair(needs: Needs, experiment: Experiment, baseline: Experiment | None) -> None:
    """Comparative versions run on pairs of one data set, the others never do."""
    if needs.compares and baseline is None:
        raise CannotStart("This version compares two results. Open one and choose the other to compare it with.")
    if baseline is None:
        return
    if not needs.compares:
        raise CannotStart("This version judges one result. Run it on each of the two.")
    if baseline.pk == experiment.pk:
        raise CannotStart("A result cannot be compared with itself. Choose another.")
    if baseline.dataset_version.dataset_id != experiment.dataset_version.dataset_id:
        raise CannotStart("The two results answer different data sets, so there are no cases that both have.")


def prepare(run_id: int, *, wakes: bool = False) -> None:
    """Write the rows and slices that a run lacks, then let it be worked on. Safe to repeat and to interrupt.

    A run that was stopped, perhaps just now, only goes on if this `wakes` it.
    """
    after, size = 0, None
    asks = Run.objects.filter(pk=run_id, purpose=Purpose.ANSWERS).exists()
    end_of_batch = cases.end_of_batch if asks else _end_of_batch
    insert_rows = cases.insert_rows if asks else _insert_rows
    while (upto := end_of_batch(run_id, after, BATCH)) is not None:
        with transaction.atomic():
            run = Run.objects.select_for_update().get(pk=run_id)
            size = size or _slice_size(run)
            if insert_rows(run, after, upto):
                _insert_slices(run, size)
                _reopen(run)
        after = upto
    with transaction.atomic():
        _activate(run_id, wakes)


def _work(version: EvaluatorVersion) -> Work:
    try:
        return work_of(version)
    except BadConfig as error:
        raise CannotStart(f"This version cannot be read any more. Edit it and save it again. ({error})") from error


def _connection(needs: Needs, project_id: int) -> Connection | None:
    if needs.connection_id is None:
        return None
    connection = Connection.objects.filter(pk=needs.connection_id, project_id=project_id).first()
    if connection is None:
        raise CannotStart("This version calls a connection that its project no longer has. Choose another and save.")
    if connection.archived_at:
        raise CannotStart(f"The connection “{connection.name}” is archived. Choose another and save a new version.")
    return connection


def _end_of_batch(run_id: int, after: int, batch: int) -> int | None:
    """The id of the last output of the next batch, None when there are no more."""
    left = Output.objects.filter(experiment__runs=run_id, id__gt=after).order_by("id").values_list("id", flat=True)
    return left[batch - 1 : batch].first() or left.aggregate(last=Max("id"))["last"]


def _slice_size(run: Run) -> int:
    """Rows a slice: small runs are cut so that all workers get some, large ones so that slices stay few."""
    if run.limit_usd is not None:
        return LEAST_ROWS  # what is taken at once is reserved
    if run.sample is not None:
        size = len(run.sample)
    elif run.purpose == Purpose.ANSWERS:
        size = run.experiment.dataset_version.n_cases
    else:
        size = Output.objects.filter(experiment=run.experiment_id).count()
    return max(LEAST_ROWS, min(size * run.repeats // 64, 64 if run.connection_id else 256))


def _insert_rows(run: Run, after: int, upto: int) -> int:
    """Rows for a stretch of outputs; how many there were not yet. Those that people score await them."""
    chosen = run.sample if run.sample is not None else ()
    among = f"AND mine.id IN ({', '.join(map(str, map(int, chosen)))})" if run.sample is not None else ""
    pairs = (
        "JOIN experiments_output AS other"
        " ON other.experiment_id = %s AND other.case_id = mine.case_id AND other.attempt = mine.attempt"
    )
    split = (run.selection or {}).get("split")
    of_split = "JOIN experiments_case AS of_case ON of_case.id = mine.case_id AND of_case.split = %s" if split else ""
    repeats = ", ".join(f"({run.first_repeat + number})" for number in range(run.repeats))
    with connection.cursor() as cursor:
        cursor.execute(
            f"""INSERT INTO experiments_evaluation (run_id, output_id, baseline_output_id, repeat, state, why)
               SELECT %s, mine.id, {"other.id" if run.baseline_id else "CAST(NULL AS bigint)"}, times.column1, %s, ''
               FROM experiments_output AS mine {pairs if run.baseline_id else ""} {of_split}
               CROSS JOIN (VALUES {repeats}) AS times
               WHERE mine.experiment_id = %s AND mine.id > %s AND mine.id <= %s {among}
               ORDER BY mine.id, times.column1
               ON CONFLICT DO NOTHING""",  # noqa: S608 - numbers of ours only
            [
                *(run.pk, int(first_state(run.lane))),
                *([run.baseline_id] if run.baseline_id else []),
                *([split] if split else []),
                *(run.experiment_id, after, upto),
            ],
        )
        return cursor.rowcount


def first_state(lane: str) -> Status:
    """Where a row begins: those that nothing here evaluates await their scores."""
    return Status.PENDING if lane in turns.LANES else Status.AWAITING


def _insert_slices(run: Run, size: int) -> None:
    """Slices over the rows that have come after the last slice; rows of one run get their ids under its lock."""
    last = Slice.objects.filter(run=run).aggregate(last=Max("last_id"))["last"] or 0
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO experiments_slice (run_id, first_id, last_id, done, crashes)
               SELECT %s, MIN(id), MAX(id), FALSE, 0
               FROM (SELECT id, (ROW_NUMBER() OVER (ORDER BY id) - 1) / %s AS part FROM experiments_evaluation
                     WHERE run_id = %s AND state = 0 AND score IS NULL AND id > %s) AS fresh
               GROUP BY part ORDER BY part""",
            [run.pk, size, run.pk, last],
        )


def _reopen(run: Run) -> None:
    """A finished run that gets new rows is preparing again, so that they are not forgotten if this process ends."""
    if run.state == RunState.FINISHED:
        Run.objects.filter(pk=run.pk).update(state=RunState.PREPARING, finished_at=None)


def _activate(run_id: int, wakes: bool) -> None:
    run = Run.objects.select_for_update().get(pk=run_id)
    if run.state in STOPPED and not wakes:
        return
    if run.state == RunState.PREPARING or Slice.objects.filter(OPEN, run=run).exists():
        goes_on = {} if run.state == RunState.ACTIVE else {"ends_at": deadline(run), "stop_reason": ""}
        Run.objects.filter(pk=run_id).update(
            state=RunState.ACTIVE, finished_at=None, revision=F("revision") + 1, **goes_on
        )
        if not finish_run(run_id):
            transaction.on_commit(lambda: turns.ask_for_run(run))
