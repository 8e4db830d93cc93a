"""Words that mix letters of several scripts which look the same: a steward should look at them, nothing is refused.

The table was written for this project: letters that most fonts draw alike in Latin, Cyrillic, Greek, Armenian and
Cherokee. Scripts that share no letter shapes (Arabic beside Latin digits, Devanagari beside Latin) are never flagged.
"""

import re
import unicodedata

# Script, as it begins the Unicode name of its letters → its letters that look like one of another script.
CONFUSABLES = {
    "LATIN": "ABCEHIJKMNOPSTXYZabcdehijklopqsuvwxyıɑɡɩ",
    "CYRILLIC": "АВЕЅІЈКМНОРСТУХҮаеѕіјорсухһԁԛԝӏѵ",
    "GREEK": "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορυωϲϳ",
    "ARMENIAN": "ՏՍՕհոսօցգզ",
    "CHEROKEE": "ᎪᎳᎬᎻᎫᏦᏞᎷᏢᏒᏚᎢᏙᏔᏃᎡᏴ",
}
WORDS = re.compile(r"\w+")


def mixes_confusable_letters(text: str) -> bool:
    """True where one word holds letters of two or more of these scripts and one of them could be mistaken."""
    return any(is_confusable_word(word) for word in WORDS.findall(text))


def is_confusable_word(word: str) -> bool:
    found = {script for sign in word if (script := script_of(sign))}
    if len(found) < 2:
        return False
    return any(sign in CONFUSABLES[script] for script in found for sign in word)


def script_of(sign: str) -> str | None:
    """The script of a letter, where that script is one of the table."""
    script = unicodedata.name(sign, "").split(" ", 1)[0]
    return script if script in CONFUSABLES else None
