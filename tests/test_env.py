"""Settings come from the environment; nonsense is refused."""

import stat

import pytest

from evalstudio import env


def test_a_bool_is_read(monkeypatch):
    monkeypatch.setenv("ES_TEST", "Yes")
    assert env.read_bool("ES_TEST", False) is True
    monkeypatch.setenv("ES_TEST", "")
    assert env.read_bool("ES_TEST", True) is True


@pytest.mark.parametrize(
    ("reader", "text", "sentence"),
    [
        (lambda: env.read_bool("ES_TEST", False), "maybe", "ES_TEST must be true or false, not 'maybe'."),
        (lambda: env.read_int("ES_TEST", 1), "ten", "ES_TEST must be a whole number, not 'ten'."),
        (lambda: env.read_int("ES_TEST", 1, least=1), "0", "ES_TEST must be at least 1, not 0."),
    ],
)
def test_nonsense_is_refused(monkeypatch, reader, text, sentence):
    monkeypatch.setenv("ES_TEST", text)
    with pytest.raises(env.BadSetting, match=sentence):
        reader()


def test_a_secret_is_made_once_and_only_its_owner_can_read_it(tmp_path):
    kept = tmp_path / "var" / "key"
    first = env.read_secret("ES_NO_SUCH", kept)
    assert env.read_secret("ES_NO_SUCH", kept) == first
    assert len(first) >= 48
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
