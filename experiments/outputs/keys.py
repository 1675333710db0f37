"""Keys by which clients know their own requests again: one stands for the same thing for ever."""

from __future__ import annotations

from experiments.models import Experiment


class KeyInUse(Exception):
    """The key stands for something else than what it is used for now. The message is a sentence for who sent it."""

    def __init__(self, experiment: Experiment) -> None:
        over = experiment.dataset_version
        super().__init__(f"This key stands for an experiment of {experiment} over {over} already. Use another one.")
