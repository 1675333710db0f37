from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0005_editing_datasets"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="ends_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="run",
            name="keeps_details",
            field=models.BooleanField(default=True),
        ),
        migrations.AddField(
            model_name="run",
            name="limit_s",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="run",
            name="limit_usd",
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name="run",
            name="priority",
            field=models.SmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="run",
            name="selection",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="run",
            name="stop_reason",
            field=models.CharField(blank=True, max_length=8),
        ),
    ]
