"""`make test`: the whole suite, with the browser tests where a Chromium is found; the last line says what was left out."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.browser_fixtures import chromium_path


def main() -> int:
    wanted = sys.argv[1:] or ["-n", str(min(4, os.cpu_count() or 1)), "--dist", "loadfile", "-q"]
    has_browser = chromium_path() is not None
    if not has_browser and os.environ.get("BROWSER") == "required":
        print("BROWSER=required, and no Chromium was found. Install one, or point CHROMIUM at it.", file=sys.stderr)
        return 1
    without = [] if has_browser else ["-m", "not browser"]
    code = subprocess.run([sys.executable, "-m", "pytest", *wanted, *without], check=False).returncode
    if not has_browser:
        print("Left out: every test that drives a browser, because no Chromium was found (CHROMIUM names one).")
    return code


if __name__ == "__main__":
    sys.exit(main())
