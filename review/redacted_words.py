"""Own words that nobody of the staff has read yet, made so that they tell of nobody and count the same in tables.

Only words of fixed lists stay: function words, denials, the published words and their forms. Every other word
becomes a sign, every number and mark a blank, so that no name, place or telephone number is left.
"""

import re

from review.unappetising import ENGLISH, FORMS, NEGATIONS, NOT_ENGLISH, PUBLISHED_WORDS, WORD

STAYING = frozenset(
    {*ENGLISH, *NOT_ENGLISH, *NEGATIONS, *PUBLISHED_WORDS, "but", *(form for forms in FORMS.values() for form in forms)}
)
LATIN, OTHER = "x", "ñ"
# What ends a part of a sentence stays; digits and low lines belong to words, so that a word's edges do not move.
_REST = re.compile(r"[\d_]+|[^\w.;:!?\n]+")


def redact_text(text: str) -> str:
    """`text` without anything of its own. `published_word`, `better_words`, `reads_as_english` say the same of it."""
    words = WORD.sub(lambda found: _hidden_word(found[0]), text.casefold())
    return _REST.sub(lambda found: "_" if found[0][0] == "_" or found[0][0].isdigit() else " ", words)


def _hidden_word(word: str) -> str:
    if word in STAYING:
        return word
    sign = LATIN if word.isascii() else OTHER
    return sign.join(["", *(published for published in PUBLISHED_WORDS if published in word), ""]) or sign
