"""Images for a judge: where they are found, how they are sent, and what a case without one gets."""

import pytest

from evaluators.core import Comparand, Sample, Status, Why
from evaluators.images import images_of
from evaluators.kinds import get_kind
from evaluators.paths import MissingPath
from evaluators.tools import Tools
from tests.calls.talking import store_for, with_client

JUDGE = get_kind("judge")
CAT, DOG = "https://pictures.example/cat.png", "https://pictures.example/dog.png"
DOT = "data:image/gif;base64,R0lGODlhAQABAAAAACw="
GOOD = '{"reason": "r", "score": 0.5}'


def config(*images, **more):
    stored = {
        "prompt": "Does {{ outputs.value }} say what is seen?",
        "connection_id": 1,
        "model": "sees",
        "scoring": {"type": "percentage"},
        "images": list(images),
    }
    return JUDGE.load(JUDGE.blank() | stored | more, JUDGE.schema)


def judged(server, settings, sample):
    server.reply = GOOD

    async def act(chat):
        return await JUDGE.one(settings, sample, Tools(chat=chat))

    return with_client(store_for(server), act)


def test_they_follow_the_text_each_under_its_path(chat_server):
    sample = Sample(inputs={"pictures": [CAT, {"url": DOG}]}, outputs={"value": "a cat", "shot": DOT})
    assert judged(chat_server, config("inputs.pictures", "outputs.shot"), sample).value == 0.5
    system, user = chat_server.bodies[0]["messages"]
    assert isinstance(system["content"], str)
    text, *rest = user["content"]
    assert text["text"].startswith("Does <data")
    assert rest == [
        {"type": "text", "text": "The image at inputs.pictures:"},
        {"type": "image_url", "image_url": {"url": CAT}},
        {"type": "text", "text": "The image at inputs.pictures:"},
        {"type": "image_url", "image_url": {"url": DOG}},
        {"type": "text", "text": "The image at outputs.shot:"},
        {"type": "image_url", "image_url": {"url": DOT}},
    ]


def test_without_paths_the_message_is_plain_text(chat_server):
    judged(chat_server, config(), Sample(outputs={"value": CAT}))
    assert isinstance(chat_server.bodies[0]["messages"][1]["content"], str)


@pytest.mark.parametrize(
    ("picture", "sentence"),
    [
        (None, "outputs.shot, which this case does not have"),
        ("", "outputs.shot, which this case does not have"),
        ([], "outputs.shot, which this case does not have"),
        ([CAT, None], "outputs.shot[1], which this case does not have"),
        ("a drawing of a cat", "outputs.shot: “a drawing of a cat” is no address"),
        (7, "outputs.shot: “7” is no address"),
    ],
)
def test_a_case_without_the_image_is_unscored_and_nothing_is_asked(chat_server, picture, sentence):
    score = judged(chat_server, config("outputs.shot"), Sample(outputs={"value": "x", "shot": picture}))
    assert (score.status, score.why) == (Status.UNSCORED, Why.MISSING)
    assert sentence in score.reason
    assert chat_server.calls == 0


def test_a_path_that_is_not_there_is_named(chat_server):
    score = judged(chat_server, config("metadata.shot"), Sample(outputs={"value": "x"}))
    assert (score.why, "metadata.shot" in score.reason) == (Why.MISSING, True)


def test_in_a_comparison_they_change_places_with_their_outputs(chat_server):
    settings = config("outputs.shot", "comparison.outputs.shot", prompt="Which picture?", runs_on="comparison")
    pair = Sample(outputs={"shot": CAT}, comparison=Comparand({"shot": DOG}))
    assert judged(chat_server, settings, pair).status is Status.SCORED
    sent = [
        [part["image_url"]["url"] for part in body["messages"][1]["content"] if part["type"] == "image_url"]
        for body in chat_server.bodies
    ]
    assert sent == [[CAT, DOG], [DOG, CAT]]


def test_people_see_them_in_the_message_with_long_ones_cut():
    long = f"data:image/png;base64,{'A' * 5_000}"
    question = JUDGE.message(
        config("inputs.picture", "outputs.shot"), Sample(inputs={"picture": CAT}, outputs={"value": "x", "shot": long})
    )
    *_, first, second = question.parts
    assert (first.text, first.origin, first.path, first.is_image) == (CAT, "case", "inputs.picture", True)
    assert (second.origin, second.is_image, len(second.text)) == ("output", True, 201)


def test_the_judge_is_known_to_read_them():
    assert JUDGE.paths(config("inputs.picture")) == ("outputs.value", "inputs.picture")


def test_paths_that_map_over_a_list_find_all_of_them():
    sample = Sample(steps=[{"shots": [CAT]}, {"shots": [DOG, CAT]}])
    assert [image.value for image in images_of(sample, ["steps[*].shots"])] == [CAT, DOG, CAT]
    with pytest.raises(MissingPath):
        images_of(Sample(steps=[]), ["steps[*].shots"])
