"""Environment variables: typed, few, and a wrong value says what would be right."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wwd.processes import environment, manage
from wwd.base.env import Env, EnvError

pytestmark = pytest.mark.own_processes


@pytest.mark.parametrize("value", ["1", "true", "YES", " on "])
def test_flags_accept_the_usual_words_for_yes(value: str) -> None:
    assert Env({"A": value}).flag("A") is True


@pytest.mark.parametrize("value", ["0", "False", "no", "OFF"])
def test_flags_accept_the_usual_words_for_no(value: str) -> None:
    assert Env({"A": value}).flag("A", default=True) is False


def test_an_empty_variable_counts_as_not_set() -> None:
    env = Env({"A": "  "})
    assert env.flag("A", default=True) is True
    assert env.text("A", "kept") == "kept"
    assert env.whole("A", 7) == 7
    assert env.items("A", ("x",)) == ["x"]
    assert env.path("A", Path("here")) == Path("here")


def test_a_wrong_flag_names_what_is_accepted() -> None:
    with pytest.raises(EnvError, match=r"A is 'maybe'\. Accepted: 1, true, yes, on or 0, false, no, off\."):
        Env({"A": "maybe"}).flag("A")


@pytest.mark.parametrize("value", ["many", "1.5", "-1", "1e3"])
def test_a_wrong_number_names_what_is_accepted(value: str) -> None:
    with pytest.raises(EnvError, match="a whole number of at least 0"):
        Env({"A": value}).whole("A", 1)


@given(st.integers(min_value=0, max_value=10**12))
def test_whole_numbers_come_back_as_written(number: int) -> None:
    assert Env({"A": str(number)}).whole("A", 1) == number


def test_a_choice_outside_the_list_is_refused() -> None:
    assert Env({"A": "JSON"}).choice("A", ("console", "json"), "console") == "json"
    with pytest.raises(EnvError, match="Accepted: console, json"):
        Env({"A": "xml"}).choice("A", ("console", "json"), "console")


def test_lists_drop_blanks() -> None:
    assert Env({"A": "a, b,, "}).items("A") == ["a", "b"]


def test_a_secret_comes_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("abc\n")
    assert Env({"A_FILE": str(tmp_path / "key")}).text("A") == "abc"


def test_a_secret_given_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("abc")
    with pytest.raises(EnvError, match="A and A_FILE are both set"):
        Env({"A": "x", "A_FILE": str(tmp_path / "key")}).text("A")


def test_a_secret_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(EnvError, match="gone, which cannot be read: No such file"):
        Env({"A_FILE": str(tmp_path / "gone")}).text("A")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(EnvError, match="holds no text"):
        Env({"A_FILE": str(tmp_path / "binary")}).text("A")


def test_the_names_that_were_asked_for_are_known() -> None:
    env = Env({})
    env.flag("A")
    env.path("B", Path())
    assert env.known == {"A", "B"}


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("WWD_DEBUG", "perhaps", "WWD_DEBUG is 'perhaps'"),
        ("DATABASE_URL", "mysql://u@h/n", "Accepted: postgres:// and sqlite:///"),
        ("DATABASE_URL", "nonsense", "DATABASE_URL cannot be read"),
        ("SECRET_KEY_FILE", "/nowhere/key", "cannot be read"),
    ],
)
def test_a_wrong_value_stops_the_start_with_a_sentence(tmp_path: Path, name: str, value: str, sentence: str) -> None:
    done = manage(environment(tmp_path, **{name: value}), "check")
    assert done.returncode != 0
    assert sentence in done.stderr
