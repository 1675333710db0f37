from django.apps import AppConfig


class WebConfig(AppConfig):
    name = "evalstudio.web"
    label = "web"
