"""`manage.py import`: cases and outputs from a file, as the page takes them."""

from __future__ import annotations

import time
from typing import Any

from django.core.files import File
from django.core.management.base import BaseCommand, CommandError, CommandParser

from evalstudio.projects.models import Project
from experiments.datasets.importing import running, tasks
from experiments.datasets.importing.effects import Effect, reported
from experiments.datasets.importing.formats import Shape
from experiments.datasets.importing.starting import ImportRefused, prepare_import
from experiments.models import Import, ImportState

SHOWN_BAD_ROWS = 20


class Command(BaseCommand):
    help = "Imports cases and outputs from a CSV, JSONL or JSON file into a dataset."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file")
        parser.add_argument("--project", required=True, help="the project's short name, as in its address")
        parser.add_argument("--dataset", required=True, help="an existing dataset, or the name of a new one")
        parser.add_argument("--system", default="", help="what made the outputs, where the file has some")
        parser.add_argument(
            "--map",
            action="append",
            default=[],
            metavar="COLUMN=TARGET",
            help="what a column becomes, such as outputs.value=expectedOutputs.value, id=key or note=ignore",
        )
        parser.add_argument(
            "--type",
            action="append",
            default=[],
            metavar="COLUMN=TYPE",
            help="what a column is read as: as is, text, number, boolean or json",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        job = self._prepare(options)
        while not running.run(job.pk, watch=self._say_progress):
            job.refresh_from_db()
            if not job.is_under_way:
                break
            self.stdout.write("  waits for another import into this dataset")
            tasks.resume_orphans(dataset_id=job.dataset_id)
            time.sleep(2)
        job.refresh_from_db()
        self._report(job)

    def _prepare(self, options: dict[str, Any]) -> Import:
        try:
            project = Project.objects.get(slug=options["project"])
            wanted = {
                "dataset": options["dataset"],
                "system": options["system"],
                "targets": _pairs(options["map"], "--map"),
                "types": _pairs(options["type"], "--type"),
            }
            with open(options["file"], "rb") as opened:
                return prepare_import(project, None, File(opened), wanted)
        except Project.DoesNotExist:
            slugs = ", ".join(Project.objects.order_by("slug").values_list("slug", flat=True))
            raise CommandError(
                f"There is no project “{options['project']}”. There are: {slugs or 'none yet'}."
            ) from None
        except OSError as error:
            raise CommandError(f"{options['file']}: {error.strerror}.") from error
        except ImportRefused as refused:
            lines = [
                f"{field}: {said}" if field else said for field, all_said in refused.errors.items() for said in all_said
            ]
            raise CommandError("\n".join(lines)) from refused

    def _say_progress(self, job: Import) -> None:
        share = 100 * job.bytes_read / max(1, job.size)
        self.stdout.write(f"  {job.read_to:,} rows, {share:.0f} %")

    def _report(self, job: Import) -> None:
        unit = Shape(job.format).unit
        for row in job.row_errors[:SHOWN_BAD_ROWS]:
            field = f" {row['field']}:" if row["field"] else ""
            self.stderr.write(f"  {unit} {row['line']}:{field} {row['reason']}")
        if (more := job.counts.get("bad", 0) - SHOWN_BAD_ROWS) > 0:
            self.stderr.write(f"  and {more:,} more")
        if job.state == ImportState.FAILED:
            raise CommandError(f"Nothing was imported. {job.failure}")
        for name, rows in job.counts.get("unmapped", {}).items():
            self.stderr.write(f"  {name} appears in {rows:,} later rows and was left out; name it with --map")
        effect = Effect.of(job)
        self.stdout.write(" ".join(reported(effect)))
        if effect.bad and effect.accepted_nothing:
            raise CommandError("No row could go in.")


def _pairs(texts: list[str], option: str) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, sign, value = text.rpartition("=")
        if not sign or not name or not value:
            raise CommandError(f"{option} takes COLUMN=VALUE, not “{text}”.")
        pairs[name.strip()] = value.strip()
    return pairs
