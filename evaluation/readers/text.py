"""What all readers of free text do first: bound it, and drop thoughts, invisible characters and marks of form."""

import re
import unicodedata

from evaluation.readers.choice import BROKEN, THOUGHT, THOUGHT_END

MOST_CHARACTERS = 8_000
MOST_WITH_THOUGHTS = 200_000
FENCE = re.compile(r"```[a-z]{0,12}\s*\n?(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
QUOTES = str.maketrans(
    {"‘": "'", "’": "'", "ʼ": "'", "`": "'", "´": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'}
)
MARKS = re.compile(r"[*#]+|(?<!\w)_+|_+(?!\w)")
# What somebody writes who has no answer; whole words, folded.
NOTHING_KNOWN = re.compile(
    r"\b(?:sorry|apologi[sz]e|unknown|unable|don'?t know|do not know|not (?:sure|aware|known|familiar|a known|a real"
    r"|possible|applicable)|no (?:idea|information|data|specific|known|such)|cannot|can'?t|couldn'?t|could not"
    r"|n/a|none|does not exist|doesn'?t exist|fictional|fictitious|made[- ]up)\b",
    re.IGNORECASE,
)


def extract_answer_text(raw: str) -> str:
    """The answer alone: at most 8,000 characters, NFKC, one kind of quotes, without marks of form."""
    text = str(raw)[:MOST_WITH_THOUGHTS]
    text = THOUGHT.sub(" ", text)
    text = text[text.rfind(THOUGHT_END) + len(THOUGHT_END) :] if THOUGHT_END in text else text
    if fenced := FENCE.search(text[:MOST_CHARACTERS]):
        text = fenced.group(1)
    text = unicodedata.normalize("NFKC", text[:MOST_CHARACTERS])[:MOST_CHARACTERS].translate(QUOTES)
    kept = (" " if unicodedata.category(char) in ("Cc", "Zl", "Zp") and char != "\n" else char for char in text)
    text = "".join(char for char in kept if unicodedata.category(char) not in ("Cf", "Cs", "Co", "Cn"))
    return MARKS.sub("", text).strip()


def is_server_error(text: str) -> bool:
    """Whether this is no answer at all but what a server says when something went wrong."""
    return bool(BROKEN.match(text))


def fold_words(text: str) -> str:
    """Words alone, without case and accents, to be compared: `Côte d'Ivoire` → `cote d ivoire`."""
    plain = unicodedata.normalize("NFKD", text.replace("ı", "i")).casefold()
    plain = "".join(char for char in plain if not unicodedata.combining(char) or ord(char) > 0x36F)
    return " ".join(re.findall(r"[^\W_]+(?:[^\W_]|[\u064b-\u0670\u0900-\u0dff])*", plain))
