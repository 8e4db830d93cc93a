"""Rules for what people type, in any script: one spelling of the same text, nothing that hides or breaks it.

Refused with a reason: NUL and other control signs, direction overrides, floods of marks. Taken out silently: pasted
isolates and byte order marks. Kept: joiners (Indic, Persian, emoji), direction marks, every letter of every script.
"""

import re
import unicodedata

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

OVERRIDES = frozenset(map(chr, range(0x202A, 0x202F)))
STRIPPED = dict.fromkeys((*range(0x2066, 0x206A), 0xFEFF))
LINE_BREAKS = re.compile("\r\n|[\r\n\x0b\x0c\x85\u2028\u2029]")
COMMAS = re.compile("[,;\n،؛、，；፣၊]")
# Signs that no font shows: tags, invisible operators, deprecated format controls, annotations of interlinear text.
INVISIBLE = frozenset(
    map(chr, (*range(0xE0000, 0xE0080), *range(0x2061, 0x2065), *range(0x206A, 0x2070), *range(0xFFF9, 0xFFFC), 0x180E))
)
FILLERS = frozenset("\u115f\u1160\u3164\uffa0")
MOST_MARKS = 6
# Classes of marks that are part of a word: vowel signs, and the sign that takes a vowel away (virama).
STAYING = frozenset({0, 9})


def clean_text(value: str, longest: int) -> str:
    """Several lines, NFC, without blank edges; raises ValidationError with a sentence for the person who typed."""
    lines = LINE_BREAKS.split(value.translate(STRIPPED))
    text = "\n".join(" ".join(line.split()) for line in lines).strip()
    return validate_text(unicodedata.normalize("NFC", text), longest)


def clean_line(value: str, longest: int) -> str:
    """One line, NFC, blanks collapsed; raises ValidationError with a sentence for the person who typed."""
    return " ".join(clean_text(value, longest).split())


def clean_name(value: str, longest: int) -> str:
    """A line that holds at least one letter or digit that can be seen."""
    name = clean_line(value, longest)
    if name and not has_letter(name):
        raise ValidationError(_("Write at least one letter or digit here. Signs and emoji may stand beside it."))
    return name


def has_letter(text: str) -> bool:
    return any(unicodedata.category(sign)[0] in "LN" and sign not in FILLERS for sign in text)


def validate_text(text: str, longest: int) -> str:
    categories = [unicodedata.category(sign) for sign in text]
    hidden = any(category in ("Cc", "Cs") and sign != "\n" for sign, category in zip(text, categories, strict=True))
    if hidden or not INVISIBLE.isdisjoint(text):
        raise ValidationError(_("This holds a sign that cannot be shown. Type it again instead of pasting it."))
    if not OVERRIDES.isdisjoint(text):
        raise ValidationError(
            _("This holds a hidden sign that turns the direction of writing. Type it again instead of pasting it.")
        )
    if has_too_many_marks(categories):
        raise ValidationError(_("There are too many marks on one letter. Write it with fewer marks."))
    if len(text) > longest:
        raise ValidationError(
            ngettext(
                "This is too long: %(length)d signs. Up to %(longest)d sign fits here.",
                "This is too long: %(length)d signs. Up to %(longest)d signs fit here.",
                longest,
            ),
            params={"length": len(text), "longest": longest},
        )
    return text


def has_too_many_marks(categories: list[str]) -> bool:
    """More marks in a row than any script stacks on one letter."""
    run = 0
    for category in categories:
        run = run + 1 if category in ("Mn", "Me") else 0
        if run > MOST_MARKS:
            return True
    return False


def split_list(text: str) -> list[str]:
    """The entries of a list as people write it: commas of any script, semicolons, lines; repetitions dropped."""
    entries = (" ".join(part.split()) for part in COMMAS.split(text))
    return list(dict.fromkeys(entry for entry in entries if entry))


def fold_spelling(text: str) -> str:
    """One form for all spellings that only differ in case, accents, punctuation or a leading article."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    letters = "".join(sign for sign in plain if unicodedata.combining(sign) in STAYING)
    words = "".join(sign if in_word(sign) else " " for sign in letters.replace("&", " and ")).split()
    return " ".join(words[1:] if words[:1] == ["the"] and len(words) > 1 else words)


def in_word(sign: str) -> bool:
    """Letters and digits, and the vowel signs of Indic scripts, which are no letters by their category."""
    return sign.isalnum() or sign == "_" or unicodedata.category(sign) in ("Mc", "Mn")
