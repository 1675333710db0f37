"""A run under fault: web and workers are killed at random, the endpoint misbehaves, the database is locked at times.

    python -m benchmarks.chaos [--db sqlite|postgres] [--rows 2000] [--kills 50] [--times 1] [--seed 1]

Everything is as installed: `serve` on an empty database, a judge, an endpoint in a process of its own. One row kills
whoever asks about it. At every look, from within and over the API, each row is there once and each unsettled row says
why. At the end every row is scored, unscored or failed with its reason, and the calls that were made stay within

    rows + forced retries + Σ over kills (in flight + 64)

Says what happened and exits with 1 where anything of this does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import processes
from benchmarks.chat_endpoint import running

ROOT = Path(__file__).parent.parent
FAULTS: dict[str, float] = {
    "rate_429": 0.05,
    "retry_after": 0.5,
    "rate_500": 0.03,
    "rate_cut": 0.02,
    "rate_malformed": 0.02,
}
HANGING: dict[str, Any] = {"rate_hang": 0.01, "kill_asker": "DEADLY"}
UNFLUSHED = 64
SLOTS = 16
LOCKED = ("experiments_run", "experiments_evaluation", "experiments_slice", "calls_lease", "django_q_ormq")
DEADLY = 17  # the number of the row that kills its worker
PATIENCE_S = 900.0
ENDS_WITHIN_S = 90.0  # after its last row: the longest lock, and the minute between two looks around


@dataclass
class Watch:
    """What was seen. `wrong` has a sentence for everything that must not be."""

    looks: int = 0
    pages: Counter = field(default_factory=Counter)
    kills: Counter = field(default_factory=Counter)
    locks: int = 0
    most_waiting: Counter = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def expect(self, holds: bool, sentence: str) -> None:
        if not holds and len(self.wrong) < 50:
            self.wrong.append(sentence)


class Served:
    """`serve` in a process of its own, started again whenever it has been killed as a whole."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._log = Path(os.environ["EVALSTUDIO_DATA"], "serve.log").open("ab")  # noqa: SIM115 - closed at the end
        self._start()

    def _start(self) -> None:
        command = [sys.executable, "manage.py", "serve", "--port", str(self.port)]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=self._log, stderr=self._log, start_new_session=True)

    def kill_some(self, dice: random.Random) -> str:
        """SIGKILL for one of its processes, or one time in ten for all of them; what was killed, "" where nothing."""
        everyone = list(processes.family(self._process.pid))
        if dice.random() < 0.1 or len(everyone) < 2:
            for pid in everyone:
                _kill(pid)
            self._process.wait()
            self._start()
            return "everything"
        web, *workers = everyone[1:]
        victim = web if not workers or dice.random() < 0.2 else dice.choice(workers)
        _kill(victim)
        return "web" if victim == web else "a worker"

    def end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            for pid in list(processes.family(self._process.pid)):
                _kill(pid)
        self._log.close()


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


@contextmanager
def locked_now_and_then(watch: Watch, dice: random.Random) -> Iterator[None]:
    """Nobody can write for up to two seconds every few, and once for longer than anybody waits for it."""
    over = threading.Event()

    def hold() -> None:
        from django.db import OperationalError, connections

        while not over.wait(dice.uniform(3, 9)):
            held_s = 22.0 if watch.locks == 4 else dice.uniform(0.2, 2.0)
            try:
                with _lock(dice.choice(LOCKED)):
                    watch.locks += 1
                    over.wait(held_s)
            except OperationalError:
                continue
        connections.close_all()

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def _lock(table: str) -> Iterator[None]:
    """Everything on SQLite, elsewhere one table: whoever holds a single lock can be part of no deadlock."""
    from django.db import connection, transaction

    with transaction.atomic():
        if connection.vendor != "sqlite":
            with connection.cursor() as cursor:
                cursor.execute(f"LOCK TABLE {table} IN EXCLUSIVE MODE")
        yield


# --- Looking ----------------------------------------------------------------------------------------------------------
def look(run_id: int, rows: int, watch: Watch) -> int:
    """Every row is there once, and each unsettled one says why, all at one moment; how many are settled."""
    from django.db import connection

    from evaluators.core import Status
    from experiments.ledger.blocked import why_not_yet, why_row_waits
    from experiments.models import Evaluation, Run

    with connection.cursor() as cursor:
        # A reader's view of one moment, which keeps nobody from writing.
        cursor.execute("BEGIN" if connection.vendor == "sqlite" else "BEGIN ISOLATION LEVEL REPEATABLE READ")
        try:
            run = Run.objects.select_related("connection").get(pk=run_id)
            every = Evaluation.objects.filter(run=run)
            unsettled = every.filter(state__lte=Status.AWAITING)
            total, outputs, waiting = every.count(), every.values("output").distinct().count(), unsettled.count()
            groups = why_not_yet(run)
            some = list(unsettled.order_by("?").select_related("run__connection")[:3])
            said = [why_row_waits(row) for row in some]
        finally:
            cursor.execute("COMMIT")
    watch.looks += 1
    watch.expect(total == outputs == rows, f"{total} rows for {outputs} outputs instead of {rows}")
    explained = sum(group.rows for group in groups)
    watch.expect(explained == waiting, f"{waiting} rows wait and {explained} of them say why")
    watch.expect(all(group.why for group in groups), "a group of rows says nothing")
    watch.expect(all(each and each.why for each in said), "a row that waits says nothing")
    for group in groups:
        why = re.sub(r"\d+(?= s\b)", "some", group.why)
        watch.most_waiting[why] = max(watch.most_waiting[why], group.rows)
    return total - waiting


def look_over_the_web(port: int, slug: str, run_id: int, secret: str, watch: Watch) -> None:
    """The same question over the API: an answer, or nobody there because it was just killed, but never an error."""
    address = f"http://127.0.0.1:{port}/api/projects/{slug}/runs/{run_id}/waiting/"
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {secret}"})
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            groups = json.load(reply)
        watch.pages["answered"] += 1
        watch.expect(all(group["why"] for group in groups), "the API says nothing about a group of rows")
    except urllib.error.HTTPError as error:
        watch.pages[f"status {error.code}"] += 1
        # Whoever is killed takes along the requests of the minute that it had been allotted.
        watch.expect(error.code in (429, 503), f"the API answered {error.code}")
    except OSError:
        watch.pages["nobody there"] += 1


# --- One time ---------------------------------------------------------------------------------------------------------
def chaos(url: str, rows: int, kills: int, seed: int, port: int) -> Watch:
    """In a process of its own with an empty database."""
    from django.core.management import call_command

    from benchmarks.judge import set_up
    from experiments.ledger.start import start

    call_command("migrate", verbosity=0)
    version, experiment = set_up(url, rows, SLOTS, seed)
    secret = _prepare(experiment)
    watch, dice = Watch(), random.Random(seed)
    served = Served(port)
    try:
        began = time.monotonic()
        run = start(version, experiment)
        with locked_now_and_then(watch, random.Random(seed + 1)):
            _kill_until_settled(served, run.pk, rows, kills, experiment.project.slug, secret, watch, dice)
        _check(run.pk, rows, url, watch)
        print(f"  {time.monotonic() - began:.0f} s", end=", ")
    finally:
        served.end()
    return watch


def _prepare(experiment: Any) -> str:
    """Mark the deadly row, and make a token that may read."""
    from evalstudio.projects.models import ApiToken, Membership, Role, Scope, User
    from experiments.models import OutputBody

    body = OutputBody.objects.get(output__experiment=experiment, output__case__key=f"case-{DEADLY}")
    OutputBody.objects.filter(pk=body.pk).update(outputs={"value": f"DEADLY answer {DEADLY}"})
    user = User.objects.create_user("watcher")
    Membership.objects.create(project=experiment.project, user=user, role=Role.OWNER)
    return ApiToken.issue(experiment.project, user, "watching", Scope.READ)[1]


def _kill_until_settled(
    served: Served, run_id: int, rows: int, kills: int, slug: str, secret: str, watch: Watch, dice: random.Random
) -> None:
    give_up_at = time.monotonic() + PATIENCE_S
    next_kill = time.monotonic() + 3
    while (settled := look(run_id, rows, watch)) < rows:
        if time.monotonic() > give_up_at:
            watch.wrong.append(f"{rows - settled} rows had not been settled after {PATIENCE_S:.0f} s")
            return
        look_over_the_web(served.port, slug, run_id, secret, watch)
        if sum(watch.kills.values()) < kills and time.monotonic() > next_kill:
            watch.kills[served.kill_some(dice)] += 1
            next_kill = time.monotonic() + dice.uniform(0.3, 2.5)
        time.sleep(0.3)


def _ended(run_id: int) -> Any:
    """The run, once it says itself that it is over: a lock may keep that back, and the next look around mends it."""
    from experiments.models import Run, RunState

    give_up_at = time.monotonic() + ENDS_WITHIN_S
    while (run := Run.objects.get(pk=run_id)).state != RunState.FINISHED and time.monotonic() < give_up_at:
        time.sleep(0.3)
    return run


def _check(run_id: int, rows: int, url: str, watch: Watch) -> None:
    from evaluators.core import Status, Why
    from experiments.models import Evaluation, RunState

    stats = json.load(urllib.request.urlopen(url.removesuffix("/v1") + "/stats"))
    run = _ended(run_id)
    every = Evaluation.objects.filter(run=run)
    states = Counter(every.values_list("state", flat=True))
    watch.expect(run.state == RunState.FINISHED, f"the run is {run.state}")
    watch.expect(sum(states.values()) == rows, f"{sum(states.values())} rows instead of {rows}")
    without = every.filter(state__in=(Status.UNSCORED, Status.FAILED))
    mute = without.exclude(body__reason__gt="", why__gt="").count()
    watch.expect(mute == 0, f"{mute} rows have neither a score nor a reason")
    ended = list(every.filter(why=Why.ENDED_WORKER).values_list("output__case__key", flat=True))
    watch.expect(ended == [f"case-{DEADLY}"], f"rows that ended their worker: {ended}")
    faults = Counter(stats["faults"])
    forced = sum(faults[name] for name in ("429", "500", "cut", "malformed", "hang"))
    killed = sum(watch.kills.values()) + faults["killed"]
    bound = rows + forced + killed * (SLOTS + UNFLUSHED)
    watch.expect(stats["requests"] <= bound, f"{stats['requests']} calls, more than {bound}")
    watch.expect(stats["max_in_flight"] <= SLOTS, f"{stats['max_in_flight']} calls at once instead of {SLOTS}")
    named = {Status(state).name.lower(): n for state, n in sorted(states.items())}
    print(f"  {named}, {stats['requests']:,} calls of at most {bound:,}, {stats['max_in_flight']} at once at most")
    print(f"  killed {dict(watch.kills)} and {faults['killed']} by the deadly row; faults {dict(faults)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--db", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port", type=int, default=28471)
    parser.add_argument("--url")
    asked = parser.parse_args()
    if asked.url is None:
        passed = sum(_apart(asked, asked.seed + number) for number in range(asked.times))
        print(f"{passed} of {asked.times} passed", flush=True)
        sys.exit(0 if passed == asked.times else 1)
    import django

    django.setup()
    watch = chaos(asked.url, asked.rows, asked.kills, asked.seed, asked.port)
    print(f"{watch.looks} looks, {dict(watch.pages)}, {watch.locks} locks", flush=True)
    for why, most in watch.most_waiting.most_common():
        print(f"    up to {most:5} rows: {why}")
    for sentence in watch.wrong:
        print(f"  WRONG: {sentence}")
    sys.exit(1 if watch.wrong else 0)


def _apart(asked: argparse.Namespace, seed: int) -> bool:
    """One time with its own endpoint, folder, database and process; whether all held."""
    load = os.getloadavg()[0]
    print(f"{asked.db}, {asked.rows:,} rows, {asked.kills} kills, seed {seed}, load {load:.1f}", flush=True)
    with running(latency_ms=1000, **FAULTS, **HANGING) as url, tempfile.TemporaryDirectory(prefix="chaos-") as folder:
        words = ["--url", url, "--rows", asked.rows, "--kills", asked.kills, "--seed", seed, "--port", asked.port]
        env = {"EVALSTUDIO_DATA": folder, "DJANGO_SETTINGS_MODULE": "evalstudio.settings"}
        env |= {"EVALSTUDIO_CALL_TIMEOUT": "20"}
        beside = ["-m", "tests.with_postgres", sys.executable] if asked.db == "postgres" else []
        command = [sys.executable, *beside, "-m", "benchmarks.chaos", *map(str, words)]
        return subprocess.run(command, cwd=ROOT, env={**os.environ, **env}, check=False).returncode == 0


if __name__ == "__main__":
    main()
