"""Worker processes that a test may kill: forked from a process that has loaded everything, so that they start at once.

with Nursery() as nursery:
    worker = nursery.spawn("net")       # runs work("net") on the test's database; its process id
    os.kill(worker, signal.SIGKILL)
    nursery.wait(worker)
"""

from __future__ import annotations

import os
import subprocess
import sys
from urllib.parse import quote

from django.conf import settings
from django.db import connection


class Nursery:
    def __enter__(self) -> Nursery:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.experiments.nursery"],
            cwd=settings.BASE_DIR,
            env={
                **os.environ,
                "DJANGO_SETTINGS_MODULE": "tests.settings",
                "DATABASE_URL": url_of_test_database(),
                "EVALSTUDIO_DATA": str(settings.DATA_DIR),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait(30)

    def spawn(self, lane: str) -> int:
        return int(self._ask(f"work {lane}"))

    def wait(self, pid: int) -> int:
        """Until the worker has ended; the exit status as os.waitpid gives it."""
        return int(self._ask(f"wait {pid}"))

    def _ask(self, line: str) -> str:
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()


def url_of_test_database() -> str:
    there = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{there['NAME']}"
    host = quote(there["HOST"], safe="")  # a folder, where the server speaks over a socket
    where = f"{host}:{there['PORT']}" if there["PORT"] else host
    return f"postgres://{there['USER']}:{there['PASSWORD']}@{where}/{there['NAME']}"


def main() -> None:
    import django

    django.setup()
    import evalstudio.calls.chat  # noqa: F401
    from evaluators import kinds
    from experiments.ledger.turn import work
    from tests.experiments.small_kinds import SMALL_KINDS

    kinds.KINDS.update({kind.key: kind for kind in SMALL_KINDS})
    for line in sys.stdin:
        word, what = line.split()
        if word == "wait":
            print(os.waitpid(int(what), 0)[1], flush=True)
        elif pid := os.fork():
            print(pid, flush=True)
        else:
            work(what)
            os._exit(0)


if __name__ == "__main__":
    main()
