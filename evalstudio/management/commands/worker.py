"""`manage.py worker`: a background worker alone, for hosts that serve no pages."""

from __future__ import annotations

import os
from typing import Any

from django.core.management.base import BaseCommand

from evalstudio.serving import children


class Command(BaseCommand):
    help = "Starts a background worker without the web server; Ctrl-C or SIGTERM ends it once its calls have landed."

    def handle(self, *args: Any, **options: Any) -> None:
        if os.getpgrp() != os.getpid():
            os.setpgrp()  # it signals its whole group when it is told to end
        children.load_everything()
        children.run_worker()
