from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("experiments", "0003_comparisons_and_samples")]

    operations = [
        migrations.AddIndex(
            model_name="evaluation",
            index=models.Index(
                fields=["run", "expected_id", "label_id"],
                condition=Q(expected_id__isnull=False),
                name="evaluation_by_labels",
            ),
        ),
    ]
