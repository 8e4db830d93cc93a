"""Rules for what people type."""

import pytest
from django.core.exceptions import ValidationError
from hypothesis import given
from hypothesis import strategies as st

from collection.text import clean_line, clean_name, clean_text, fold_spelling, split_list


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("  jollof   rice ", "jollof rice"),
        ("Ba\u0301nh", "Bánh"),
        ("\ufefffoo", "foo"),
        ("\u2067ثريد\u2069", "ثريد"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("क्\u200dष", "क्\u200dष"),
        ("👩\u200d🍳 soup", "👩\u200d🍳 soup"),
        ("3aseed 7ar", "3aseed 7ar"),
        ("བསྒྲུབས", "བསྒྲུབས"),
        ("ကျွှို့", "ကျွှို့"),
        ("a\r\nb", "a b"),
        ("a\u2028b", "a b"),
    ],
)
def test_what_scripts_need_is_kept_and_what_hides_is_taken_out(typed: str, kept: str) -> None:
    assert clean_name(typed, 200) == kept


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("a\x00b", "cannot be shown"),
        ("a\x1bb", "cannot be shown"),
        ("a\ud800", "cannot be shown"),
        ("a\U000e0041b", "cannot be shown"),
        ("soup\U000e0001", "cannot be shown"),
        ("a\u2063b", "cannot be shown"),
        ("a\u206eb", "cannot be shown"),
        ("a\ufff9b", "cannot be shown"),
        ("a\u202eb", "direction of writing"),
        ("a\u202ab", "direction of writing"),
        ("a" + "\u0301\u0302" * 4, "too many marks"),
        ("!!!", "one letter or digit"),
        ("🍲", "one letter or digit"),
        ("\u3164", "one letter or digit"),
        ("\u200d\u200d", "one letter or digit"),
        ("a" * 201, "too long: 201 signs. Up to 200"),
    ],
)
def test_what_breaks_or_hides_is_refused_with_the_reason(typed: str, reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        clean_name(typed, 200)


def test_length_is_counted_after_composing() -> None:
    assert len(clean_line("a\u0301" * 200, 200)) == 200
    with pytest.raises(ValidationError, match="too long"):
        clean_line("\U0001d160" * 100, 200)


def test_several_lines_stay_lines() -> None:
    assert clean_text("rice \r\n  oil\x0bsalt\n", 100) == "rice\noil\nsalt"


@given(st.text(max_size=60))
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    try:
        once = clean_text(text, 1000)
    except ValidationError:
        return
    assert clean_text(once, 1000) == once


@pytest.mark.parametrize("text", ["a, b", "a،b", "a、b", "a;b", "a\nb", "a，b,", ",a,,b,a"])
def test_commas_of_any_script_separate(text: str) -> None:
    assert split_list(text) == ["a", "b"]


@pytest.mark.parametrize(("one", "other"), [("Côte d’Ivoire", "cote d'ivoire"), ("The Gambia", "gambia"), ("Ｂ", "b")])
def test_spellings_fold_together(one: str, other: str) -> None:
    assert fold_spelling(one) == fold_spelling(other)
