"""Which consent text is on a page, in which language, and what is recorded when somebody agrees to it."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import get_language_info
from django.utils.translation import gettext as _

from collection.access.form_tokens import Proof
from collection.consent.readiness import Accepting, current_opening, get_collection_status, list_missing_steps
from collection.models import ConsentText, Contributor, Opening, Source
from wwd.base.languages import expand_tags, list_asked_languages

MARK = "consent:"
MOTHER = "en"
ISOLATE, END = "\u2068", "\u2069"


@dataclass(frozen=True)
class ConsentWording:
    """One text as it is on the page, the open places filled in."""

    text: ConsentText
    opening: Opening | None

    @property
    def language(self) -> str:
        return self.text.language

    @property
    def direction(self) -> str:
        return "rtl" if language_info(self.language)["bidi"] else "ltr"

    @property
    def name(self) -> str:
        """Of the language, as those who speak it write it."""
        return str(language_info(self.language)["name_local"])

    @property
    def sentences(self) -> list[str]:
        return [self.filled(sentence) for sentence in self.text.sentences]

    @property
    def aloud(self) -> list[str]:
        return [self.filled(sentence) for sentence in self.text.aloud]

    @property
    def values(self) -> dict[str, str]:
        """Isolated, so that a name in another direction does not turn the sentence round."""
        opening = self.opening or Opening()
        unknown = _("[not filled in yet]")
        stated = {
            "controller": opening.controller or unknown,
            "contact": opening.contact or unknown,
            "ethics": opening.ethics_reference or unknown,
            "thanks": opening.thanks,
            "kilobytes": str(opening.kilobytes),
            "megabytes": str(opening.megabytes),
            "words": licence_name(self.text.licence_words),
            "photos": licence_name(self.text.licence_photos),
        }
        values = {name: f"{ISOLATE}{value}{END}" for name, value in stated.items()}
        payment = self.text.paid if opening.thanks else self.text.unpaid
        return {**values, "payment": payment.format_map(values)}

    def filled(self, sentence: str) -> str:
        return sentence.format_map(self.values)

    def corrections(self, answers: Sequence[bool | None]) -> list[dict[str, str]]:
        """For every answer that was not right: the question, and the sentence that answers it."""
        pairs = zip(self.text.questions, answers, strict=False)
        wrong = [asked for asked, answer in pairs if answer is not None and answer != asked["answer"]]
        return [{"question": asked["text"], "sentence": self.sentences[asked["sentence"]]} for asked in wrong]


@dataclass(frozen=True)
class Shown:
    """What a page shows: the text that counts, and beside it an unconfirmed translation where there is one."""

    text: ConsentText
    draft: ConsentText | None
    opening: Opening | None

    @property
    def said(self) -> ConsentWording:
        return ConsentWording(self.text, self.opening)

    @property
    def beside(self) -> ConsentWording | None:
        return ConsentWording(self.draft, self.opening) if self.draft else None

    @property
    def texts(self) -> list[ConsentWording]:
        return [said for said in (self.said, self.beside) if said]

    @property
    def mark(self) -> str:
        """What a form's token carries to say which texts are on the page."""
        rows = (self.text, self.draft, self.opening)
        return MARK + ".".join(str(row.pk if row else 0) for row in rows)


def licence_name(identifier: str) -> str:
    """CC-BY-NC-4.0 → CC BY-NC 4.0, as people write it."""
    family, _dash, rest = identifier.partition("-")
    terms, _dash, version = rest.rpartition("-")
    return " ".join(part for part in (family, terms, version) if part)


def language_info(tag: str) -> dict[str, Any]:
    """What Django knows about a language; for one that it does not know, its tag and left to right."""
    try:
        return get_language_info(tag)
    except KeyError:
        return {"bidi": False, "name_local": tag}


def texts_in_force() -> list[ConsentText]:
    """Every language of the version that counts: the newest that somebody confirmed, else the newest."""
    texts = list(ConsentText.objects.order_by("-version", "language"))
    confirmed = [text.version for text in texts if text.confirmed]
    versions = confirmed or [text.version for text in texts]
    return [text for text in texts if text.version == versions[0]]


def consent_for(wanted: Iterable[str] = ()) -> Shown:
    """The text for somebody who reads these languages, best first: a confirmed one, with a draft beside it where only
    a draft is in the language asked for."""
    texts = texts_in_force()
    by_language = {text.language: text for text in texts}
    mother = by_language.get(MOTHER, texts[0])
    standing = [text for text in texts if text.confirmed] or [mother]
    asked = [by_language[tag] for tag in expand_tags(wanted) if tag in by_language]
    binding = next((text for text in asked if text in standing), mother if mother in standing else standing[0])
    draft = asked[0] if asked and asked[0] != binding and not asked[0].confirmed else None
    return Shown(binding, draft, current_opening())


def wanted_languages(request: HttpRequest) -> list[str]:
    """The languages that this person reads: chosen on the page or in its address, else as their browser says."""
    chosen = request.POST.getlist("language")[:1] or request.GET.getlist("language")[:1]
    return [*chosen, *list_asked_languages(request)]


def is_mark(about: str) -> bool:
    return about.startswith(MARK)


def shown_consent(proof: Proof) -> Shown | None:
    """What was on the page of this form. None where nothing did, or where it cannot be agreed to any more: a text
    that nobody confirmed or that names nobody responsible, once the collection is open."""
    if not is_mark(proof.target):
        return None
    try:
        text, draft, opening = (int(part) for part in proof.target.removeprefix(MARK).split("."))
    except ValueError:
        return None
    texts = ConsentText.objects.in_bulk({text, draft} - {0})
    shown = Shown(texts[text], texts.get(draft), opening_of(opening)) if text in texts else None
    if (
        shown
        and get_collection_status() is Accepting.OPEN
        and (list_missing_steps(shown.opening) or not shown.text.confirmed)
    ):
        return None
    return shown


def opening_of(pk: int) -> Opening | None:
    """The opening that was on a page: mostly the current one, which was asked for already."""
    current = current_opening()
    return current if current and current.pk == pk else Opening.objects.filter(pk=pk).first()


def register_contributor(
    shown: Shown,
    person: uuid.UUID | None,
    *,
    way: str = Contributor.Way.READ,
    entered_by: Contributor | None = None,
    understood: Sequence[bool | None] = (),
    crowd: bool = False,
) -> Contributor:
    """A contributor who has just agreed to `shown`, with which texts was there and what was answered.

    `person`: the id that their form names, None for a new one. `crowd`: many others of the same network agreed within
    the same minute (`circumstances.in_a_crowd`).
    """
    demonstration = get_collection_status() is not Accepting.OPEN
    said: dict[str, Any] = {
        "consent": shown.text,
        "consent_draft": shown.draft,
        "consent_opening": shown.opening,
        "consent_way": way,
        "consent_at": timezone.now(),
        "understood": list(understood),
        "entered_by": entered_by,
        "crowd": crowd,
        "source": Source.DEMONSTRATION if demonstration else Source.FORM,
    }
    if person is None:
        return Contributor.objects.create(**said)
    contributor, _created = Contributor.objects.get_or_create(pk=person, defaults=said)
    return contributor
