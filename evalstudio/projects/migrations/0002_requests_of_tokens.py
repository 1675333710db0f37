import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("projects", "0001_start")]

    operations = [
        migrations.CreateModel(
            name="TokenMinute",
            fields=[
                (
                    "token",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="projects.apitoken",
                    ),
                ),
                ("minute", models.BigIntegerField()),
                ("taken", models.PositiveIntegerField()),
            ],
        ),
    ]
