"""Consent texts: which one counts in which language, what is beside it, and what is recorded."""

import html
import string
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from collection.access.form_tokens import Proof
from collection.consent.record import ConsentWording, consent_for, language_info, licence_name, shown_consent
from collection.models import ConsentText, Contributor, Dish, Opening
from collection.models.consent import PLACEHOLDERS, find_placeholders
from collection.seed_data import CONSENTS
from tests.collection.make import ANSWERS, CONSENT, confirm, open_collection, page, stranger, tokens, unopened

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

LANGUAGES = sorted({path.name.partition(".")[0] for path in CONSENTS.glob("*.json")})
RIGHT = {"question_0": "True", "question_1": "False", "question_2": "True"}


def consent_page(language: str = "", **headers: str) -> str:
    query = {"language": language} if language else {}
    page = stranger().get("/describe/", query, headers=headers or None).content.decode()
    # Cards for those to whom the link is sent are in the head, in the language of the page.
    return page.partition("<body>")[2] or page


def agree(shown: str, **answers: str) -> str:
    return page(stranger(), "/describe/", {**CONSENT, **answers, "proof": tokens(shown)["/describe/"]})


@pytest.mark.parametrize("language", LANGUAGES)
def test_shipped_text_is_whole_and_asks_what_it_says(language: str) -> None:
    text = ConsentText.objects.get(language=language)
    text.full_clean()
    said = [*text.sentences, *text.aloud, text.unpaid, text.paid]
    assert text.sentences.count("{payment}") == 1
    assert {name for sentence in said for name in find_placeholders(sentence)} == PLACEHOLDERS
    mother = ConsentText.objects.get(language="en")
    assert len(text.sentences) == len(mother.sentences) and len(text.aloud) == len(mother.aloud)
    assert [find_placeholders(sentence) for sentence in text.sentences] == [
        find_placeholders(s) for s in mother.sentences
    ]
    answers = [(question["answer"], question["sentence"]) for question in text.questions]
    assert answers == [(question["answer"], question["sentence"]) for question in mother.questions]


def test_no_text_is_shipped_as_confirmed() -> None:
    unopened()
    assert not ConsentText.objects.exclude(confirmed_by="", confirmed_on=None).exists()


@pytest.mark.parametrize(
    ("confirmed", "wanted", "expected"),
    [
        (["en"], [], ("en", None)),
        (["en"], ["en-GB"], ("en", None)),
        (["en"], ["fr-CA", "en"], ("en", "fr")),
        (["en", "fr"], ["fr-CA", "en"], ("fr", None)),
        (["en", "sw"], ["fr", "sw"], ("sw", "fr")),
        (["en"], ["de", "xx", "*"], ("en", None)),
        (["en", "ar"], ["AR-eg"], ("ar", None)),
        (["fr"], ["en"], ("fr", "en")),
        (["fr"], ["de"], ("fr", None)),
        ([], ["hi"], ("en", "hi")),
        ([], [], ("en", None)),
    ],
)
def test_confirmed_text_counts_and_the_draft_stands_beside_it(
    confirmed: list[str], wanted: list[str], expected: tuple[str, str | None]
) -> None:
    unopened()
    for language in confirmed:
        confirm(language)
    shown = consent_for(wanted)
    assert (shown.text.language, shown.draft and shown.draft.language) == expected


def test_newer_version_counts_once_somebody_confirmed_it() -> None:
    values = {"sentences": ["Newer."], "questions": [], "aloud": []}
    newer = ConsentText.objects.create(version=2, language="fr", **values)
    assert consent_for(["fr"]).text.version == 1
    newer.confirmed_by, newer.confirmed_on = "Awa", timezone.localdate()
    newer.save()
    assert consent_for(["en"]).text == newer


def test_page_follows_the_browser_and_the_switch_goes_before_it() -> None:
    assert 'lang="fr" dir="ltr"' in consent_page(**{"Accept-Language": "fr-FR, fr;q=0.8"})
    assert "rassemble des plats" in consent_page(**{"Accept-Language": "de, fr;q=0.8"})
    switched = consent_page("sw", **{"Accept-Language": "fr-FR"})
    assert "inakusanya" in switched and "rassemble" not in switched


@pytest.mark.parametrize("language", ["<script>", "x" * 5000, "en\x00", "../../etc", "٣", "en;q=9,,,"])
def test_odd_languages_get_the_confirmed_text(language: str) -> None:
    for text in (consent_page(language), consent_page(**{"Accept-Language": language.replace("\x00", "")})):
        assert "collects dishes from all over the world" in text and "<script>" not in text


def test_arabic_draft_runs_from_right_to_left_and_says_that_it_is_a_draft() -> None:
    text = consent_page("ar")
    assert '<div lang="ar" dir="rtl">' in text and "A draft of a translation" in text
    assert text.index("collects dishes from all over the world") < text.index("يجمع")


def test_confirmed_translation_stands_alone() -> None:
    confirm("ar")
    text = consent_page("ar")
    assert "يجمع" in text and "collects dishes" not in text and "draft" not in text.lower()
    assert "هل يمكنك أن تتوقف" in text


def test_every_other_language_is_one_tap_away() -> None:
    text = consent_page()
    assert all(f'href="?language={language}" lang="{language}"' in text for language in LANGUAGES if language != "en")
    assert 'lang="ar" dir="rtl">العربيّة' in text


def test_record_says_which_text_counted_and_which_draft_stood_beside_it() -> None:
    agree(consent_page("fr"))
    contributor = Contributor.objects.get()
    assert (str(contributor.consent), str(contributor.consent_draft)) == ("1 (en)", "1 (fr)")
    assert contributor.consent_opening == Opening.objects.get() and contributor.consent_way == "read"


def test_what_staff_filled_in_stands_in_the_text_and_stays_recorded() -> None:
    shown = consent_page()
    later = open_collection(controller="Another Trust")
    agree(shown)
    contributor = Contributor.objects.get()
    assert contributor.consent is not None
    said = ConsentWording(contributor.consent, contributor.consent_opening).sentences
    assert "Kitchen Table Trust" in said[0] and said[0] in html.unescape(shown)
    assert later.controller in html.unescape(consent_page())


@pytest.mark.parametrize(
    ("thanks", "sentence"),
    [("", "You are not paid for this."), ("20 GHS airtime", "For this you get: ⁨20 GHS airtime⁩.")],
)
def test_text_says_what_people_get(thanks: str, sentence: str) -> None:
    open_collection(thanks=thanks)
    assert sentence in consent_page()


def test_filled_in_braces_and_tags_are_only_text() -> None:
    open_collection(controller="{contact} <b>& Sons</b>")
    text = consent_page()
    assert "{contact} &lt;b&gt;&amp; Sons&lt;/b&gt;" in text


def test_text_names_its_licences() -> None:
    assert licence_name("CC-BY-NC-4.0") == "CC BY-NC 4.0" and licence_name("CC0-1.0") == "CC0 1.0"
    text = consent_page()
    assert "CC BY 4.0" in text and "CC BY-NC 4.0" in text


@pytest.mark.parametrize(
    ("answers", "recorded"),
    [
        (RIGHT, [True, False, True]),
        ({}, [None, None, None]),
        ({"question_0": "True"}, [True, None, None]),
        ({**RIGHT, "question_2": "perhaps"}, [True, False, None]),
    ],
)
def test_right_missing_and_odd_answers_let_one_go_on_at_once(
    answers: dict[str, str], recorded: list[bool | None]
) -> None:
    assert "2 of 4" in agree(consent_page(), **answers)
    assert Contributor.objects.get().understood == recorded


def hidden_fields(text: str) -> dict[str, str]:
    """Everything that the form on the page sends by itself."""
    form = text[text.index('action="/describe/"') :]
    form = form[: form.index("</form>")]
    parts = form.split('type="hidden" name="')[1:]
    return {part.split('"')[0]: part.split('value="')[1].split('"')[0] for part in parts}


def test_wrong_answer_shows_the_sentence_again_and_lets_one_go_on() -> None:
    again = agree(consent_page(), **{**RIGHT, "question_1": "True"})
    text = html.unescape(again)
    assert "Look at this once more" in text and "cannot be undone" in text and "stop at any time" not in text
    assert Contributor.objects.count() == 0
    assert "2 of 4" in page(stranger(), "/describe/", hidden_fields(again))
    assert Contributor.objects.get().understood == [True, True, True]


def test_sentence_is_shown_again_in_the_draft_too() -> None:
    again = agree(consent_page("es"), question_2="False")
    assert "parar en cualquier momento" in again and "stop at any time" in again


def test_questions_do_not_replace_the_ticks() -> None:
    shown = consent_page()
    text = page(stranger(), "/describe/", {**RIGHT, "adult": "on", "proof": tokens(shown)["/describe/"]})
    assert "Tick this if you agree" in text and Contributor.objects.count() == 0
    assert text.count("checked") == 4


def test_page_shown_again_keeps_its_texts() -> None:
    shown = consent_page("fr")
    text = page(stranger(), "/describe/", {"proof": tokens(shown)["/describe/"]})
    assert "rassemble des plats" in text
    agree(text)
    assert str(Contributor.objects.get().consent_draft) == "1 (fr)"


@pytest.mark.parametrize(
    "about", ["", "consent:", "consent:1", "consent:a.b.c", "consent:999999.0.0", "consent:1.2.3.4"]
)
def test_form_without_a_text_is_no_consent(about: str) -> None:
    proof = Proof.new("consent", target=about)
    assert shown_consent(proof) is None
    text = page(stranger(), "/describe/", {**CONSENT, "proof": proof.token})
    assert "nothing was saved" in text and Contributor.objects.count() == 0


def test_text_that_nobody_confirmed_is_not_agreed_to_once_the_collection_is_open() -> None:
    unopened()
    shown = consent_page()
    open_collection()
    assert "nothing was saved" in agree(shown)
    assert Contributor.objects.count() == 0


def test_question_about_a_sentence_that_is_not_there_is_refused() -> None:
    text = ConsentText.objects.get(language="en")
    text.sentences = text.sentences[:3]
    with pytest.raises(ValidationError, match="sentence that is not there"):
        text.full_clean()


def test_dish_form_without_proof_asks_for_the_consent_in_ones_language(client: Client) -> None:
    text = client.post("/dish/", ANSWERS, headers={"Accept-Language": "pt-BR"}).content.decode()
    assert "reúne pratos" in text and "collects dishes" in text
    page(stranger(), "/dish/", {**ANSWERS, **CONSENT, "proof": tokens(text)["/dish/"]})
    contributor = Dish.objects.get().contributor
    assert contributor is not None and str(contributor.consent_draft) == "1 (pt)"


BAD_VALUES: list[tuple[str, Any, str]] = [
    ("sentences", [], "cannot be blank"),
    ("sentences", ["x."] * 9, "one to eight"),
    ("sentences", "x", "list of sentences"),
    ("sentences", [1], "list of sentences"),
    ("sentences", [" "], "list of sentences"),
    ("sentences", ["Ask {whom}."], "Nothing fills in whom"),
    ("sentences", ["{controller.__class__}"], "Nothing fills in"),
    ("sentences", ["Ask {contact."], "brace is missing"),
    ("aloud", ["{}"], "Nothing fills in"),
    ("paid", "{money}", "Nothing fills in money"),
    ("questions", [{"text": "?", "answer": True, "sentence": 0}], "three questions"),
    ("questions", [{"text": "?", "answer": "yes", "sentence": 0}] * 3, "three questions"),
    ("questions", [{"text": "?", "answer": True, "sentence": 8}] * 3, "three questions"),
    ("questions", ["?"] * 3, "three questions"),
]


@pytest.mark.parametrize(("field", "value", "sentence"), BAD_VALUES)
def test_text_that_could_not_be_shown_is_refused(field: str, value: Any, sentence: str) -> None:
    text = ConsentText.objects.get(language="en")
    setattr(text, field, value)
    with pytest.raises(ValidationError) as refused:
        text.full_clean()
    assert sentence in str(refused.value.message_dict[field])


def test_every_placeholder_is_filled_in_every_language() -> None:
    for text in ConsentText.objects.all():
        for opening in (None, Opening.objects.get(), Opening(thanks="rice")):
            said = ConsentWording(text, opening)
            for sentence in [*said.sentences, *said.aloud]:
                assert "{" not in sentence and list(string.Formatter().parse(sentence))


def test_language_that_django_does_not_know_is_named_by_its_tag() -> None:
    assert language_info("twi") == {"bidi": False, "name_local": "twi"}
    assert language_info("ar")["bidi"]
