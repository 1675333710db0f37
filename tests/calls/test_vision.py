"""Models that are known to look at pictures, by their names."""

import pytest

from evalstudio.calls.vision import sees_images


@pytest.mark.parametrize(
    "model",
    [
        "gpt-4o-mini",
        "gpt-4.1-nano",
        "openai/gpt-5-mini",
        "o3",
        "o4-mini",
        "anthropic/claude-3-haiku",
        "claude-sonnet-4-5",
        "gemini-2.5-flash",
        "google/gemma-3-27b-it",
        "llava:13b",
        "Qwen/Qwen2.5-VL-7B-Instruct",
        "llama-3.2-11b-vision",
        "pixtral-12b",
    ],
)
def test_these_see(model):
    assert sees_images(model)


@pytest.mark.parametrize(
    "model",
    [
        "gpt-3.5-turbo",
        "gpt-4",
        "o1-mini",
        "o3-mini",
        "claude-2",
        "llama-3-70b",
        "qwen2.5-7b",
        "rehearsal",
        "devlin-large",
    ],
)
def test_these_are_not_known_to(model):
    assert not sees_images(model)
