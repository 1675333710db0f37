"""Sets this copy up on a bare machine: a virtual environment with the pinned packages. Standard library only.

Run by `make` with the system's Python: `python3 -m evalstudio.bootstrap [requirements file]`. Does nothing, in a few
milliseconds, when the packages are there already. pip reads the caller's own configuration.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
PIP = "pip==26.3"  # resumes a broken download
TRIES = 4


def main() -> int:
    wanted = ROOT / (sys.argv[1] if len(sys.argv) > 1 else "requirements.txt")
    if sys.version_info < (3, 11):  # noqa: UP036  an older Python gets as far as here
        return _give_up(f"EvalStudio needs Python 3.11 or later; this is {sys.version.split()[0]}.")
    stamp = VENV / f"installed-{_digest(wanted)}"
    if stamp.exists() and PYTHON.exists():
        return 0
    if not PYTHON.exists() and not _make_environment():
        return 1
    if not _install(wanted):
        return 1
    stamp.touch()
    return 0


def _make_environment() -> bool:
    started = time.monotonic()
    made = subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=False, capture_output=True, text=True)
    if made.returncode:
        shutil.rmtree(VENV, ignore_errors=True)
        print(made.stdout + made.stderr, file=sys.stderr)
        _give_up("The virtual environment could not be made. On Debian and Ubuntu: apt install python3-venv.")
        return False
    _say("virtual environment", started)
    return True


def _install(wanted: Path) -> bool:
    """pip keeps every finished download, so a later try, or a later run, goes on with what is missing."""
    _pip("--quiet", PIP)  # an older pip also installs, it only cannot resume within a file
    print(f"  installing the packages of {wanted.name}; the first time they have to be downloaded", flush=True)
    started = time.monotonic()
    for attempt in range(1, TRIES + 1):
        resume = ["--resume-retries", "20"] if attempt < TRIES else []
        if _pip("--progress-bar", "on" if sys.stdout.isatty() else "off", "--quiet", *resume, "-r", str(wanted)):
            _say(f"packages of {wanted.name}", started)
            return True
        print(f"  attempt {attempt} of {TRIES} broke off; going on with what is missing", flush=True)
        time.sleep(2 * attempt)
    _give_up("The packages could not be installed; run the same command again to go on.")
    return False


def _pip(*words: str) -> bool:
    command = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", *words]
    environment = {**os.environ, "PIP_ROOT_USER_ACTION": "ignore"}
    return subprocess.run(command, check=False, cwd=ROOT, env=environment).returncode == 0


def _digest(wanted: Path) -> str:
    text = "".join(path.read_text() for path in sorted(ROOT.glob("requirements*.txt")))
    return hashlib.sha256((wanted.name + text).encode()).hexdigest()[:12]


def _size(folder: Path) -> str:
    total = sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())
    return f"{total / 1e9:.2f} GB" if total > 1e9 else f"{total / 1e6:.0f} MB"


def _say(step: str, started: float) -> None:
    print(f"  {step}: {time.monotonic() - started:.0f} s, .venv now holds {_size(VENV)}", flush=True)


def _give_up(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
