from django.apps import AppConfig


class CallsConfig(AppConfig):
    name = "evalstudio.calls"
    label = "calls"
