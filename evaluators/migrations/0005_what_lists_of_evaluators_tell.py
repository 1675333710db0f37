from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """No version before this one compares or has a scale of its project, so nothing has to be filled in."""

    dependencies = [
        ("evaluators", "0004_versions_so_far_are_published"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField("evaluator", "compares", models.BooleanField(default=False)),
        migrations.AddField(
            "evaluatorversion",
            "scale",
            models.ForeignKey("evaluators.scale", models.SET_NULL, null=True, related_name="versions"),
        ),
        migrations.AddIndex(
            "evaluator", models.Index(fields=["project", "updated_at", "id"], name="evaluator_by_update")
        ),
    ]
