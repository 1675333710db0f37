"""How the rehearsal orders the options of a scale, above all of those that people meet first."""

import pytest

from evalstudio.calls.rehearsed_scale import best_first
from evaluators.catalogue.enumerated import ENUMERATED
from evaluators.framing import option_lines


@pytest.mark.parametrize(
    ("options", "ordered"),
    [
        (["LOW: does not resemble it", "MEDIUM: partly", "HIGH: resembles it"], "HIGH MEDIUM LOW"),
        (["Wrong", "Right"], "Right Wrong"),
        (["Accurate", "Partly", "Wrong"], "Accurate Partly Wrong"),
        (["Red", "Green", "Blue"], "Red Green Blue"),
        (["Contradicts it", "Nothing in it contradicts it"], "Nothing Contradicts"),
    ],
)
def test_words_say_which_is_better(options, ordered):
    assert [options[place].split()[0].rstrip(":") for place in best_first(options)] == ordered.split()


@pytest.mark.parametrize("entry", [entry for entry in ENUMERATED if not entry.compares], ids=lambda entry: entry.key)
def test_the_judges_of_the_catalogue_are_read_from_their_best_option_to_their_worst(entry):
    listed = option_lines(entry.prompt_and_guide[0])
    texts = list(listed.values()) or [f"{option.label}: {option.description}" for option in entry.options]
    scores = [entry.options[place].percentage for place in best_first(texts)]
    assert scores == sorted(scores, reverse=True)
