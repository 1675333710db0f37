from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    name = "evalstudio.projects"
    label = "projects"
