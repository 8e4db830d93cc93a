"""What is said about a prompt: whether the text encoder reads all of it, and what a provider's rewriting left of it."""

import unicodedata
from collections.abc import Mapping
from typing import Any, NamedTuple

from evaluation.contracts.study import SubjectData, Work

# In the payload of a unit whose configuration allows prompts that are cut.
LONG = "long"
NOT_CHECKED: Mapping[str, Any] = {"prompt_length": "not checked"}


class Length(NamedTuple):
    """`reason`: why the prompt is not sent, empty where it is."""

    reason: str
    circumstances: Mapping[str, Any]


def measure_prompt_length(unit: Work, backend: Any) -> Length:
    """Counts with the model's own tokenizer where the backend has one, else the characters that a provider states."""
    prompt, parameters, allowed = unit.payload["prompt"], unit.model.parameters, unit.payload.get(LONG) is True
    if hasattr(backend, "excess"):
        return judge_prompt_length(backend.excess(prompt), "tokens", "text encoder", allowed)
    if "max_characters" in parameters:
        return judge_prompt_length(len(prompt) - int(parameters["max_characters"]), "characters", "provider", allowed)
    return Length("", NOT_CHECKED)


def judge_prompt_length(excess: int, what: str, reader: str, allowed: bool) -> Length:
    if excess <= 0:
        return Length("", {})
    cut = {"prompt_cut": excess}
    if allowed:
        return Length("", cut)
    return Length(f"The prompt is {excess} {what} longer than the {reader} reads. It was not sent.", cut)


def check_preserved_terms(revised: str, subject: SubjectData) -> dict[str, float]:
    """Whether the name of a subject, and all its countries as written, are in a rewritten prompt: 1 or 0."""
    countries = subject.labels.get("written_country") or subject.labels.get("country", ())
    found = {"name_kept": float(contains_words(revised, subject.name))}
    if countries:
        found["countries_kept"] = float(all(contains_words(revised, country) for country in countries))
    return found


def contains_words(text: str, words: str) -> bool:
    """True where `words` are in `text`, whatever their case and their way of composing letters."""
    return normalise_for_matching(words) in normalise_for_matching(text)


def normalise_for_matching(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())
