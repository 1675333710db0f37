"""People's markdown in templates: {% load markdown %}{{ text|markdown }}."""

from django import template
from django.utils.safestring import SafeString

from evaluators.markdown import rendered

register = template.Library()


@register.filter
def markdown(text: str) -> SafeString:
    """The text as HTML that is safe to show."""
    return rendered(text)
