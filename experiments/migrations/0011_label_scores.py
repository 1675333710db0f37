from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("experiments", "0010_compared_pairs")]

    operations = [
        migrations.AddField(model_name="evaluationbody", name="label_scores", field=models.JSONField(null=True))
    ]
