"""Loads questionnaires and consent texts from their data files. What was published once is never changed."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from django.db import connections, transaction

from review.models import Questionnaire, ReviewerConsent
from review.questionnaires import DefinitionError, check_definition

HERE = Path(__file__).resolve().parent
WORDING = ("text", "help")


class PublishedDefinitionChangedError(DefinitionError):
    """A data file differs from what was stored under the same version: give it a new version."""


def load_all(using: str = "default", **signal: Any) -> None:
    """Stores every data file that is not stored yet. Receives `post_migrate`; loading twice changes nothing.

    Does nothing where only other apps are migrated so far.
    """
    if Questionnaire._meta.db_table not in connections[using].introspection.table_names():
        return
    for data in _files("questionnaires"):
        load_questionnaire(data)
    for data in _files("consents"):
        load_consent(data)


def _files(folder: str) -> Iterator[dict[str, Any]]:
    for path in sorted((HERE / folder).glob("*.json")):
        yield json.loads(path.read_text(encoding="utf-8"))


@cache
def asked_in() -> frozenset[str]:
    """Languages in which some questionnaire among the data files asks every question."""
    found: set[str] = set()
    for data in _files("questionnaires"):
        found |= set.intersection(*(set(question["text"]) for question in data["questions"]))
    return frozenset(found)


@cache
def drafts_of(slug: str, version: str) -> tuple[str, ...]:
    """Languages in which nobody has confirmed the wording yet. Who confirms one takes it out of the data file."""
    found = (data for data in _files("questionnaires") if (data["slug"], data["version"]) == (slug, version))
    return tuple(next(found, {}).get("drafts", ()))


@transaction.atomic
def load_questionnaire(data: Mapping[str, Any]) -> Questionnaire:
    """The stored questionnaire of `data`; languages may be added to it, everything else must be equal."""
    check_definition(data)
    definition = {"questions": data["questions"], "constructs": data["constructs"]}
    head = {"title": data["title"], "source": data["source"]}
    definition |= {"slug": data["slug"], "version": data["version"]}
    stored, created = Questionnaire.objects.select_for_update().get_or_create(
        slug=data["slug"], version=data["version"], defaults={**head, "definition": definition}
    )
    if not created:
        _save_languages(stored, definition)
    return stored


def add_wording(questionnaire: Questionnaire, language: str, texts: Mapping[str, str]) -> None:
    """Adds the wording in one more language; `texts`: "question" or "question.option" → text.

    The wording as published enters under the language tag `en-x-published`.
    """
    offered = json.loads(json.dumps(questionnaire.definition))
    for question in offered["questions"]:
        if question["code"] in texts:
            question["text"][language] = texts[question["code"]]
        for option in question.get("options", ()):
            if f"{question['code']}.{option['code']}" in texts:
                option["text"][language] = texts[f"{question['code']}.{option['code']}"]
    _save_languages(questionnaire, offered)


def _save_languages(stored: Questionnaire, offered: Mapping[str, Any]) -> None:
    whole = _joined(stored.definition, offered, str(stored))
    if whole != stored.definition:
        stored.definition = whole
        stored.save(update_fields=["definition"])


def _joined(stored: Any, offered: Any, where: str, wording: bool = False) -> Any:
    """`stored` with the languages that only `offered` has. Raises PublishedDefinitionChangedError for other
    differences.
    """
    if isinstance(stored, dict) and isinstance(offered, dict):
        if not wording and stored.keys() != offered.keys():
            raise PublishedDefinitionChangedError(f"{where} was published with other parts. Give it a new version.")
        return {
            key: _joined(stored.get(key, offered.get(key)), offered.get(key, stored.get(key)), where, key in WORDING)
            for key in {**stored, **offered}
        }
    if isinstance(stored, list) and isinstance(offered, list) and len(stored) == len(offered):
        return [_joined(old, new, where) for old, new in zip(stored, offered, strict=True)]
    if stored != offered:
        raise PublishedDefinitionChangedError(f"{where} was published as {stored!r}. Give {offered!r} a new version.")
    return stored


def load_consent(data: Mapping[str, Any]) -> ReviewerConsent:
    """The stored consent text of `data`, which must equal it where it was stored before."""
    words = {"warning": data["warning"], "sentences": data["sentences"]}
    stored, _ = ReviewerConsent.objects.get_or_create(
        version=data["version"], language=data["language"], defaults=words
    )
    if {"warning": stored.warning, "sentences": stored.sentences} != words:
        raise PublishedDefinitionChangedError(
            f"Consent text {stored} was published with other words. Give it a new version."
        )
    return stored
