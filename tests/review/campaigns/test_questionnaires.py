"""The questionnaire as data: what is stored, what is refused with a sentence, which columns are filled."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.models import Questionnaire, Review, ReviewerConsent
from review.questionnaires import (
    NOTHING,
    DefinitionError,
    InvalidAnswersError,
    check_definition,
    choose_wording,
    derive_construct_columns,
    parse_questions,
    validate_answers,
)
from review.seed_data import PublishedDefinitionChangedError, add_wording, load_all, load_consent, load_questionnaire
from tests.review.make import FOOD, GOOD, NOT_FOOD

pytestmark = pytest.mark.embedded


def data(name: str = "e2-1") -> dict[str, Any]:
    import json

    from review.seed_data import HERE

    return dict(json.loads((HERE / "questionnaires" / f"{name}.json").read_text()))


E2 = data()
RELEASE = data("e2-release-2024")
CODES = [question.code for question in parse_questions(E2)]


@pytest.mark.parametrize("definition", [E2, RELEASE])
def test_data_files_are_complete_and_fit_together(definition: dict[str, Any]) -> None:
    check_definition(definition)


def test_every_construct_is_a_column_of_review_and_its_codes_are_choices() -> None:
    assert set(NOTHING) <= {field.name for field in Review._meta.get_fields()}
    for definition in (E2, RELEASE):
        rules = definition["constructs"]
        assert set(rules["match"]["values"].values()) <= set(Review.Match.values)
        assert set(rules["familiarity"]["values"].values()) <= set(Review.Familiarity.values)


def test_answers_of_the_food_branch_are_kept_with_an_empty_list_for_no_box_checked() -> None:
    assert validate_answers(E2, {**GOOD, "checks": []})["checks"] == []
    assert validate_answers(E2, {**FOOD, "correct_dish": "no", "match": "none"})["checks"] == []


def test_not_food_ends_with_what_was_seen_and_asks_no_more() -> None:
    assert validate_answers(E2, NOT_FOOD) == NOT_FOOD
    assert "checks" not in validate_answers(E2, NOT_FOOD)


def test_answers_to_both_branches_are_refused_with_a_sentence() -> None:
    with pytest.raises(InvalidAnswersError) as refused:
        validate_answers(E2, {**GOOD, "seen": "A wall"})
    assert refused.value.errors == {
        "seen": "This question does not follow from your first answers. Go back to change them."
    }


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ({**GOOD, "colour": "red"}, ""),
        ({**GOOD, "food": "maybe"}, "food"),
        ({**GOOD, "quality": "6"}, "quality"),
        ({**GOOD, "quality": 4}, "quality"),
        ({**GOOD, "checks": ["indoors", "upside_down"]}, "checks"),
        ({**GOOD, "checks": "indoors"}, "checks"),
        ({**GOOD, "match": ["exact"]}, "match"),
        ({**GOOD, "explanation": "x" * 2001}, "explanation"),
        ({**GOOD, "match": ""}, "match"),
        ({code: value for code, value in GOOD.items() if code != "associates"}, "associates"),
    ],
)
def test_unknown_missing_and_overlong_answers_are_refused_at_their_question(answers: Any, code: str) -> None:
    with pytest.raises(InvalidAnswersError) as refused:
        validate_answers(E2, answers)
    assert code in refused.value.errors
    assert refused.value.errors[code].endswith(".")


def test_first_page_asks_only_what_is_always_asked() -> None:
    assert validate_answers(E2, FOOD, page=1) == FOOD
    with pytest.raises(InvalidAnswersError):
        validate_answers(E2, FOOD)


def test_text_is_kept_in_nfc_without_control_characters() -> None:
    kept = validate_answers(E2, {**NOT_FOOD, "seen": " A\u0300ma\x00la\r\nሰላም "})
    assert kept["seen"] == "Àmala\nሰላም"


VALUES = st.one_of(
    st.none(),
    st.text(max_size=30),
    st.sampled_from(["yes", "no", "0", "5", "very", "exact", "indoors"]),
    st.lists(st.one_of(st.text(max_size=5), st.sampled_from(["indoors", "people", "disturbing"])), max_size=4),
    st.integers(),
    st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
)


@given(st.dictionaries(st.one_of(st.sampled_from(CODES), st.text(max_size=8)), VALUES, max_size=12))
def test_whatever_is_sent_is_refused_with_sentences_or_kept_in_a_shape_that_stays(answers: dict[str, Any]) -> None:
    try:
        kept = validate_answers(E2, answers)
    except InvalidAnswersError as refused:
        assert refused.errors
        assert all(sentence.endswith(".") for sentence in refused.errors.values())
        return
    assert validate_answers(E2, kept) == kept
    assert set(kept) <= set(answers) | {"checks"}
    assert all(question.applies(kept) for question in parse_questions(E2) if question.code in kept)


def options(code: str) -> list[str]:
    return next(list(question.options) for question in parse_questions(E2) if question.code == code)


FOOD_ANSWERS = st.fixed_dictionaries(
    {
        **{code: st.sampled_from(options(code)) for code in ("associates", "familiarity", "quality")},
        "food": st.just("yes"),
        "correct_dish": st.sampled_from(["yes", "no"]),
        "match": st.sampled_from(options("match")),
        "checks": st.lists(st.sampled_from(options("checks")), max_size=5),
        "explanation": st.text(st.characters(codec="utf-8"), max_size=50),
    }
)


@given(FOOD_ANSWERS)
def test_every_possible_answer_about_food_is_kept_and_fills_all_columns(answers: dict[str, Any]) -> None:
    columns = derive_construct_columns(E2, validate_answers(E2, answers))
    assert None not in columns.values()
    assert columns["quality"] == int(answers["quality"])
    assert columns["disturbing"] == ("disturbing" in answers["checks"])


def test_columns_of_an_answer_that_is_not_food_are_unanswered_where_nothing_was_asked() -> None:
    columns = derive_construct_columns(E2, validate_answers(E2, NOT_FOOD))
    assert columns == {
        "associates": True,
        "familiarity": "very",
        "quality": 4,
        "food": False,
        "correct_dish": None,
        "match": "",
        "disturbing": None,
    }


def test_release_keeps_answers_to_both_branches_and_its_own_match_groups() -> None:
    answers = {"food": "no", "correct_dish": "no", "match_group": "unexpected", "others": [], "quality": "5"}
    columns = derive_construct_columns(RELEASE, answers)
    assert (columns["food"], columns["correct_dish"]) == (False, False)
    assert (columns["match"], columns["quality"], columns["disturbing"]) == ("unexpected", 5, False)


def test_wording_falls_back_to_the_language_without_region_then_to_english() -> None:
    texts = {"en": "Food", "pt": "Comida"}
    assert [choose_wording(texts, tag) for tag in ("pt-br", "pt", "am")] == ["Comida", "Comida", "Food"]


@pytest.mark.parametrize(
    "change",
    [
        lambda e2: e2["questions"].append(e2["questions"][0]),
        lambda e2: e2["questions"][0].update(kind="slider"),
        lambda e2: e2["questions"][0].pop("options"),
        lambda e2: e2["questions"][4].update(only_if={"food": ["perhaps"]}),
        lambda e2: e2["questions"][4].update(only_if={"match": ["exact"]}),
        lambda e2: e2["constructs"].update(colour={"question": "food", "values": {"yes": True}}),
        lambda e2: e2["constructs"]["food"]["values"].update(perhaps=None),
        lambda e2: e2["constructs"]["disturbing"].update(includes="gone"),
    ],
)
def test_definition_whose_parts_do_not_fit_is_refused(change: Any) -> None:
    broken = copy.deepcopy(E2)
    change(broken)
    with pytest.raises(DefinitionError, match="Questionnaire e2 1"):
        check_definition(broken)


@pytest.mark.django_db
def test_loading_again_changes_nothing() -> None:
    before = list(Questionnaire.objects.values()) + list(ReviewerConsent.objects.values())
    load_all()
    assert list(Questionnaire.objects.values()) + list(ReviewerConsent.objects.values()) == before
    assert len(before) == 4


@pytest.mark.django_db
@pytest.mark.parametrize(
    "change",
    [
        lambda e2: e2["questions"][0]["text"].update(en="Other words"),
        lambda e2: e2["questions"].pop(),
        lambda e2: e2["questions"][1]["options"].reverse(),
        lambda e2: e2["questions"][0].update(required=False),
        lambda e2: e2["questions"][4].pop("only_if"),
    ],
)
def test_published_version_is_never_changed(change: Any) -> None:
    changed = copy.deepcopy(E2)
    change(changed)
    with pytest.raises(PublishedDefinitionChangedError, match="new version"):
        load_questionnaire(changed)
    assert Questionnaire.objects.get(slug="e2", version="1").definition["questions"] == E2["questions"]


@pytest.mark.django_db
def test_language_may_be_added_to_a_published_version_and_survives_loading_again() -> None:
    stored = Questionnaire.objects.get(slug="e2", version="1")
    add_wording(stored, "fr", {"food": "Voit-on à manger ?", "food.yes": "Oui"})
    load_questionnaire(E2)
    food = parse_questions(Questionnaire.objects.get(pk=stored.pk).definition)[3]
    assert choose_wording(food.text, "fr") == "Voit-on à manger ?"
    assert choose_wording(food.options["yes"], "fr") == "Oui"
    assert choose_wording(food.options["no"], "fr") == "No"
    with pytest.raises(PublishedDefinitionChangedError):
        add_wording(stored, "fr", {"food": "Autre chose"})


@pytest.mark.django_db
def test_consent_text_that_was_published_is_not_rewritten() -> None:
    stored = ReviewerConsent.objects.get(language="en")
    data = {"version": stored.version, "language": "en", "warning": stored.warning, "sentences": stored.sentences}
    assert load_consent(data) == stored
    with pytest.raises(PublishedDefinitionChangedError, match="new version"):
        load_consent({**data, "sentences": ["Other words."]})
    stored.refresh_from_db()
    assert stored.sentences == data["sentences"]
