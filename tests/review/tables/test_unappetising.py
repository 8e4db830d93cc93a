"""The better rule for words that call an image unappetising."""

import pytest

from review.unappetising import better_words, reads_as_english


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It looks burnt", {"burnt"}),
        ("BURNT!", {"burnt"}),
        ("The rice is burnt and the plate is dirty", {"burnt", "dirt"}),
        ("unappetizing", {"unappetising"}),
        ("This makes me want to vomit", {"vomit"}),
        ("The sauce is too thick", set()),
        # Parts of other words.
        ("The dungeon is behind the grocery, a stalemate", set()),
        ("Grossly oversized for a plate", set()),
        # Denials reach three words, and end with their part of the sentence.
        ("It is not burnt", set()),
        ("It isn't dirty at all", set()),
        ("This does not look very ugly", set()),
        ("It never ever in my life looked ugly", {"ugly"}),
        ("This is not my dish; it looks gross", {"gross"}),
        ("It is not the dish but horrible", {"horrible"}),
        ("There is no rice. Burnt, in fact, is all of it", {"burnt"}),
    ],
)
def test_whole_words_that_are_not_denied_are_found(text: str, words: set[str]) -> None:
    assert better_words(text) == words


@pytest.mark.parametrize(
    "text",
    [
        "Le riz est brûlé et la sauce est horrible",
        "Das ist ein gross Topf und die Sosse",
        "Hii si ugali ya nyumbani",
        "هذا الطعام محترق",
        "Đây là cơm cháy",
        "jollof ofada amala ewedu gbegiri fufu",
        "",
        "123 !!",
    ],
)
def test_other_languages_are_not_measured(text: str) -> None:
    assert better_words(text) is None


@pytest.mark.parametrize(
    "text", ["Burnt rice", "rotten", "clay bowl, ugly background", "A plate of rice, très burnt, is on the table"]
)
def test_short_or_mostly_english_texts_are_measured(text: str) -> None:
    assert reads_as_english(text)
