"""The rehearsal answers prompts from what stands in them, so that running one can be tried without a key."""

import json

from evalstudio.calls.rehearsed_answers import NOTHING, SLIP_SHARE, answer, is_asked_to_judge

ARTICLE = (
    "Classic bike: €1 to unlock, then €0.15 a minute. E-bike: €1 to unlock, then €0.25 a minute. "
    "During the pause the bike is kept for you. Prices include VAT."
)


def asked(question: str, article: str = ARTICLE) -> list[dict]:
    return [
        {"role": "system", "content": "You answer riders. Use the article alone."},
        {"role": "user", "content": f"# Article\n{article}\n\n# Question\n{question}"},
    ]


def test_it_answers_with_the_sentences_that_fit_the_question():
    found = {answer(asked("Is my bike kept during a pause?"), f"model {n}") for n in range(40)}
    assert any("During the pause the bike is kept for you." in text for text in found)
    assert all("Prices include VAT" not in text for text in found)


def test_the_same_messages_to_the_same_model_get_the_same_answer():
    assert len({answer(asked("What does a minute of an E-bike cost?"), "m") for _ in range(5)}) == 1


def test_models_differ_about_as_often_as_it_says():
    question = "What does the classic bike cost to unlock?"
    usual = max(said := [answer(asked(question), f"m{n}") for n in range(400)], key=said.count)
    assert 0.05 < sum(text != usual for text in said) / 400 < SLIP_SHARE * 2


def test_where_nothing_fits_it_says_so():
    assert answer(asked("Who wrote Hamlet?"), "m") == NOTHING
    assert answer([{"role": "user", "content": "?"}], "m") == NOTHING


def test_it_answers_in_json_with_the_names_that_are_asked_for():
    messages = asked('Is my bike kept during a pause? Answer as JSON with "reply" and "desk".')
    assert set(json.loads(answer(messages, "m"))) == {"reply", "desk"}


def test_values_that_were_written_out_as_json_read_as_sentences():
    article = json.dumps({"title": "Pausing", "text": ARTICLE}, ensure_ascii=False)
    said = answer(asked("Is my bike kept during a pause?", article), "m")
    assert "{" not in said
    assert '"' not in said


def test_judges_are_told_from_systems():
    data = '<data path="outputs.value">\nno\n</data>'
    assert is_asked_to_judge([{"role": "user", "content": data}], None)
    assert is_asked_to_judge([{"role": "system", "content": "You judge one case."}], None)
    assert is_asked_to_judge([{"role": "user", "content": "?"}], {"type": "object"})
    assert not is_asked_to_judge(asked("Why?"), None)
