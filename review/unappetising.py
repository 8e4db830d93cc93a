"""Words in a review by which the paper calls an image unappetising (World Wide recipe, Table 3), and a better way."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from review.questionnaires import parse_questions

PUBLISHED_WORDS = (
    "gross",
    "vomit",
    "disgusting",
    "rotten",
    "ugly",
    "burnt",
    "burned",
    "unappealing",
    "poop",
    "dung",
    "stale",
    "trash",
    "dirt",
    "horrible",
    "hideous",
    "unappetising",
)
# Whole words that count as the published one: American spelling, and forms that the substring used to catch.
FORMS: Mapping[str, tuple[str, ...]] = {
    "vomit": ("vomits", "vomited", "vomiting"),
    "dirt": ("dirty",),
    "trash": ("trashy",),
    "unappetising": ("unappetizing",),
}
_DENYING = "not no never neither nor without isn aren wasn weren doesn don didn hardly cannot nothing"
NEGATIONS = frozenset(_DENYING.split())
NEGATION_REACH = 3
_ENGLISH = (
    "the a an is are was were it its this that these those of in on with and or but not no to for from as at by be "
    "i you they there looks look like too very more have has my which what than some"
)
# Words that English lacks, of the languages in which reviewers of the first countries may write.
_OTHERS = (
    "le la les des du est une un et il elle pas dans pour avec qui que ce cette sur mais très trop plus el los las es "
    "una y en por para muy más pero os uma não é muito ya na ni wa kwa hii hiyo sana si lakini die der das und ist "
    "van een het nie"
)
ENGLISH = frozenset(_ENGLISH.split())
NOT_ENGLISH = frozenset(_OTHERS.split())
SHORT = 5
WORD = re.compile(r"[^\W\d_]+")
SENTENCE = re.compile(r"[.;:!?\n]+|\bbut\b")


def text_codes(definition: Mapping[str, Any]) -> tuple[str, ...]:
    """Codes of the questions that are answered in one's own words."""
    return tuple(question.code for question in parse_questions(definition) if question.kind == "text")


def as_published(texts: Iterable[str]) -> bool:
    """Whether a word of the published list is part of a text, upper or lower case: `dirt` is found in *dirty*.

    British spelling only, no negation, English only: as the paper did it, no better.
    """
    return any(published_word(word, text) for text in texts for word in PUBLISHED_WORDS)


def published_word(word: str, text: str) -> bool:
    """Whether `word` is part of `text`, upper or lower case: the published rule for one word."""
    return word in text.casefold()


def better_words(text: str) -> frozenset[str] | None:
    """The published words that `text` says of the image; None where it is not in English.

    Whole words with their other forms, not where one of the three words before them, in the same part of the
    sentence, denies them: *not burnt*, *isn't dirty*.
    """
    if not reads_as_english(text):
        return None
    return frozenset(
        word
        for part in SENTENCE.split(text.casefold())
        for word, forms in ((word, (word, *FORMS.get(word, ()))) for word in PUBLISHED_WORDS)
        if _affirmed(WORD.findall(part), forms)
    )


def reads_as_english(text: str) -> bool:
    """A guess by function words: more of English than of other languages.

    Without any, up to five plain Latin words count as English (*Burnt rice*), more words do not.
    """
    words = WORD.findall(text.casefold())
    english = sum(word in ENGLISH for word in words)
    foreign = sum(word in NOT_ENGLISH for word in words)
    if english or foreign:
        return english > foreign
    return 0 < len(words) <= SHORT and all(word.isascii() for word in words)


def _affirmed(words: list[str], forms: tuple[str, ...]) -> bool:
    """Whether one of `forms` is in `words` without a denial shortly before it."""
    return any(
        word in forms and not NEGATIONS & set(words[max(0, at - NEGATION_REACH) : at]) for at, word in enumerate(words)
    )
