from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluators", "0005_what_lists_of_evaluators_tell")]

    operations = [
        migrations.AddIndex(
            "evaluator",
            models.Index(fields=["project", "kind", "compares", "archived_at"], name="evaluator_by_kind"),
        ),
    ]
