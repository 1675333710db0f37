"""Makes an installation ready to serve: its database and its static files. Each step says its size; none runs twice."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

Say = Callable[[str], None]


def migrate(say: Say) -> None:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if not plan:
        return
    started = time.monotonic()
    call_command("migrate", verbosity=0, interactive=False)
    say(f"database: {len(plan)} migrations in {time.monotonic() - started:.1f} s, {connection.vendor}")


def collect_static(say: Say) -> None:
    """Collect again only when a file of the project's own, or a package, has changed since the last time."""
    stamp = Path(settings.STATIC_ROOT) / ".collected"
    now = _static_state()
    if stamp.exists() and stamp.read_text() == now:
        return
    started = time.monotonic()
    call_command("collectstatic", verbosity=0, interactive=False)
    stamp.write_text(now)
    files = [path for path in Path(settings.STATIC_ROOT).rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    say(f"static files: {len(files)} files, {size / 1e6:.1f} MB in {time.monotonic() - started:.1f} s")


def _static_state() -> str:
    digest = hashlib.sha256((settings.BASE_DIR / "requirements.txt").read_bytes())
    for folder in settings.STATICFILES_DIRS:
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                seen = path.stat()
                digest.update(f"{path}:{seen.st_size}:{seen.st_mtime_ns}".encode())
    return digest.hexdigest()
