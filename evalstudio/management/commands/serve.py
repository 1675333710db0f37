"""`manage.py serve`: web and background worker together in one terminal."""

from __future__ import annotations

import errno
import socket
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections
from django.urls import reverse

from evalstudio.management.commands import demo
from evalstudio.projects import entry
from evalstudio.projects.models import Membership, Role
from evalstudio.serving import children, preparing
from evalstudio.serving.supervisor import Child, Supervisor


class Command(BaseCommand):
    help = "Starts web and background worker together; Ctrl-C ends both."
    requires_system_checks: list[str] = []  # they cost a third of the start and run in the tests

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--demo", action="store_true", help="fill an empty installation with the demo project")

    def handle(self, *args: Any, **options: Any) -> None:
        port = _free_port(options["host"], options["port"])
        preparing.migrate(self._say)
        preparing.collect_static(self._say)
        if options["demo"] and demo.is_wanted():
            call_command("demo", stdout=self.stdout)
        self._say_where(f"http://{options['host']}:{port}")
        children.load_everything()
        connections.close_all()
        Supervisor(
            [
                Child("web", lambda: children.run_web(options["host"], port)),
                Child("worker", children.run_worker),
            ],
            self._say,
        ).run()

    def _say(self, sentence: str) -> None:
        self.stdout.write(f"  {sentence}")
        self.stdout.flush()

    def _say_where(self, address: str) -> None:
        self.stdout.write(f"\nEvalStudio is at {address}/")
        owner = Membership.objects.filter(role=Role.OWNER).order_by("user_id").select_related("user").first()
        if owner is None:
            self.stdout.write("The first page there makes the first account.")
        elif not settings.PRODUCTION:
            link = address + reverse("enter", args=[entry.one_time_token(owner.user)])
            self.stdout.write(f"Sign in once as {owner.user.username} with {link}")
        self.stdout.write("Ctrl-C stops it.\n")
        self.stdout.flush()


def _free_port(host: str, port: int) -> int:
    """The port, or the next free one of the ten after it."""
    for candidate in range(port, port + 10):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, candidate))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise CommandError(f"Cannot listen on {host}:{candidate}: {error.strerror}.") from error
                continue
            return candidate
    raise CommandError(f"The ports {port} to {port + 9} of {host} are all in use. Choose another with --port.")
