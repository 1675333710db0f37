from django.db import migrations


def publish(apps, schema_editor):
    """Until now every version was published as it was saved."""
    Version = apps.get_model("evaluators", "EvaluatorVersion")
    Publication = apps.get_model("evaluators", "Publication")
    versions = Version.objects.filter(publication=None).values_list("pk", "author", "created_at")
    rows = (Publication(version_id=pk, by_id=author, at=at) for pk, author, at in versions.iterator())
    Publication.objects.bulk_create(rows, batch_size=500)


class Migration(migrations.Migration):
    dependencies = [("evaluators", "0003_scales_golden_cases_and_publishing")]

    operations = [migrations.RunPython(publish, migrations.RunPython.noop)]
