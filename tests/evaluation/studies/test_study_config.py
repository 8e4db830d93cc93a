"""Configurations of studies: what is stored, what is refused, and the sentences for it."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge, Le
from pydantic import Field, ValidationError

from evaluation import studies
from evaluation.contracts.config_check import check_fields, describe_bounds, list_types
from evaluation.contracts.study import ConfigError, StudyConfig
from evaluation.models import Run
from evaluation.runner import create_run
from evaluation.runner.planning import create_waiting
from evaluation.studies import presets
from evaluation.studies.config import as_json, parse_config
from tests.evaluation.failing_study import Fragile, FragileConfig
from tests.evaluation.make import make_dish


def stored(study: str, given: Mapping[str, Any]) -> str:
    return json.dumps(as_json(parse_config(studies.load_study(study), given)), ensure_ascii=False)


# What versions before pydantic stored, byte by byte: names of runs are hashes of it.
STORED = [
    (
        "generation",
        {"model": "sketch"},
        '{"model": "sketch", "subjects": {"kind": "dish"}, "prompt": "generation-specific", "prompt_version": "", '
        '"images_per_subject": 5, "seed": 0, "allow_long_prompts": false}',
    ),
    (
        "generation",
        {"seed": 4, "model": "m", "subjects": {"demonstration": True, "kind": "dish", "limit": 3, "countries": ["É"]}},
        '{"model": "m", "subjects": {"demonstration": true, "kind": "dish", "limit": 3, "countries": ["É"]}, '
        '"prompt": "generation-specific", "prompt_version": "", "images_per_subject": 5, "seed": 4, '
        '"allow_long_prompts": false}',
    ),
    (
        "generation",
        {"model": "m", "subjects": {"limit": None, "countries": None}, "allow_long_prompts": True},
        '{"model": "m", "subjects": {"limit": null, "countries": null}, "prompt": "generation-specific", '
        '"prompt_version": "", "images_per_subject": 5, "seed": 0, "allow_long_prompts": true}',
    ),
    (
        "generation",
        {"preset": "as-published-countries", "model": "m"},
        '{"model": "m", "subjects": {"kind": "place", "level": "country"}, "prompt": "generation-unspecific", '
        '"prompt_version": "as published", "images_per_subject": 50, "seed": 0, "allow_long_prompts": false}',
    ),
    (
        "association",
        {"images": "pictures"},
        '{"images": "pictures", "encoder": "standin-encoder", "descriptors": "association", "descriptors_version": ""}',
    ),
    (
        "stereotypes",
        {"preset": "as-published", "images": "i"},
        '{"images": "i", "model": "standin-vqa", "questions": "vqa-probes", "questions_version": "as published", '
        '"reading": "generated", "orders": "as-asked", "check": 600, "beside": ""}',
    ),
    ("colours", {"beside": "b", "images": "i"}, '{"images": "i", "model": "pixels", "beside": "b"}'),
    (
        "judging",
        {"answers": "known", "seed": -5},
        '{"answers": "known", "model": "standin-chat", "questions": "dish-judging", "questions_version": "", '
        '"seed": -5}',
    ),
    (
        "knowledge",
        {"models": ["b", "a"], "subjects": {}},
        '{"models": ["b", "a"], "subjects": {}, "questions": "dish-knowledge", "questions_version": "", '
        '"samples": 5, "seed": 0}',
    ),
]


@pytest.mark.parametrize(("study", "given", "text"), STORED)
def test_the_same_bytes_are_stored_as_before(study: str, given: dict[str, Any], text: str) -> None:
    assert stored(study, given) == text


@pytest.mark.parametrize(("study", "text"), [(study, text) for study, _, text in STORED])
def test_a_stored_configuration_loads_as_it_is(study: str, text: str) -> None:
    assert stored(study, json.loads(text)) == text


@pytest.mark.parametrize("row", presets.read_rows("presets.json"), ids=lambda row: row["slug"])
def test_a_preset_is_stored_with_its_own_words(row: dict[str, Any]) -> None:
    config = studies.load_study(row["study"]).Config
    missing = {name: "m" for name, field in config.model_fields.items() if field.is_required()}
    text = stored(row["study"], {"preset": row["slug"], **missing})
    assert {name: value for name, value in json.loads(text).items() if name in row["config"]} == row["config"]


def test_every_study_is_configured_by_a_frozen_model() -> None:
    for slug in studies.STUDIES:
        assert issubclass(studies.load_study(slug).Config, StudyConfig)
    config = FragileConfig(acts=("yes",))
    with pytest.raises(ValidationError, match="frozen"):
        config.together = 2


class Size(StudyConfig):
    width: int = Field(ge=16, le=64)
    unit: Literal["px", "cm"] = "px"


class Disc(StudyConfig):
    radius: int


class Everything(StudyConfig):
    """A field of every kind."""

    name: str
    number: int = Field(3, ge=0)
    share: float = Field(0.5, gt=0, lt=1)
    truth: bool = False
    order: Literal["forwards", "backwards"] = "forwards"
    rounds: Literal[1, 2] = 1
    turn: Literal["left", "right"] | None = None
    most: int | None = None
    either: int | str = 1
    words: tuple[str, ...] = ()
    numbers: list[int] = []
    pair: tuple[str, int] = ("a", 1)
    weights: Mapping[str, float] = {}
    size: Size | None = None
    sizes: tuple[Size, ...] = ()
    shape: Size | Disc | None = None
    short: str = Field("", max_length=3)


ALL = {
    "number": 4,
    "share": 0.25,
    "truth": True,
    "order": "backwards",
    "rounds": 2,
    "turn": "left",
    "most": 7,
    "either": "x",
    "words": ["a", "b"],
    "numbers": [1, 2],
    "pair": ["b", 2],
    "weights": {"a": 0.5},
    "size": {"width": 20, "unit": "cm"},
    "sizes": [{"width": 16, "unit": "px"}],
    "shape": {"radius": 2},
    "short": "abc",
}


def test_a_value_of_every_kind_is_stored_as_it_was_given() -> None:
    given = {"name": "n", **ALL}
    assert set(given) == set(Everything.model_fields)
    assert json.dumps(as_json(check_fields(Everything, given))) == json.dumps(given)


def test_null_is_accepted_where_a_value_is_optional() -> None:
    assert check_fields(Everything, {"name": "n", "turn": None, "most": None, "size": None}).most is None


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"number": "3"}, "number is '3'. Accepted: a whole number of at least 0."),
        ({"number": True}, "number is true. Accepted: a whole number of at least 0."),
        ({"number": 3.0}, "number is 3.0. Accepted: a whole number of at least 0."),
        ({"number": None}, "number is null. Accepted: a whole number of at least 0."),
        ({"number": -1}, "number is -1. Accepted: a whole number of at least 0."),
        ({"share": "0.5"}, "share is '0.5'. Accepted: a number above 0 below 1."),
        ({"share": True}, "share is true. Accepted: a number above 0 below 1."),
        ({"share": 1}, "share is 1. Accepted: a number above 0 below 1."),
        ({"truth": 1}, "truth is 1. Accepted: true or false."),
        ({"name": 4}, "name is 4. Accepted: a text."),
        ({"order": "back"}, "order is 'back'. Accepted: 'forwards' or 'backwards'. Did you mean backwards?"),
        ({"order": 1}, "order is 1. Accepted: 'forwards' or 'backwards'."),
        ({"rounds": 3}, "rounds is 3. Accepted: 1 or 2."),
        ({"rounds": "1"}, "rounds is '1'. Accepted: 1 or 2."),
        ({"turn": "lft"}, "turn is 'lft'. Accepted: 'left' or 'right' or null. Did you mean left?"),
        ({"most": "7"}, "most is '7'. Accepted: a whole number or null."),
        ({"either": 2.5}, "either is 2.5. Accepted: a whole number or a text."),
        ({"words": "a"}, "words is 'a'. Accepted: a list of texts."),
        ({"words": ["a", 3]}, "words[1] is 3. Accepted: a text."),
        ({"numbers": [1, True]}, "numbers[1] is true. Accepted: a whole number."),
        ({"pair": ["a", "b"]}, "pair[1] is 'b'. Accepted: a whole number."),
        ({"weights": {"a": "b"}}, "weights.a is 'b'. Accepted: a number."),
        ({"weights": []}, "weights is []. Accepted: an object with fields."),
        ({"size": 3}, "size is 3. Accepted: an object with fields or null."),
        ({"size": {}}, "size.width is missing. Accepted: a whole number from 16 to 64."),
        ({"size": {"width": 65}}, "size.width is 65. Accepted: a whole number from 16 to 64."),
        ({"size": {"width": 20, "unti": "px"}}, "There is no field of size named 'unti'. Did you mean unit?"),
        ({"sizes": [{"width": 20}, {"width": 1}]}, "sizes[1].width is 1. Accepted: a whole number from 16 to 64."),
        ({"shape": {"radius": "2"}}, "shape.radius is '2'. Accepted: a whole number."),
        ({"shape": {"width": 20, "unt": "px"}}, "There is no field of shape named 'unt'. Did you mean unit?"),
        ({"short": "abcd"}, "short is 'abcd'. Accepted: a text. String should have at most 3 characters."),
        ({"wieghts": {}}, "There is no field of thing named 'wieghts'. Did you mean weights?"),
        ({"share": float("nan")}, "The configuration cannot be written as JSON: "),
        ({"words": {"a"}}, "The configuration cannot be written as JSON: "),
        ({"name": "\ud800x"}, "The configuration cannot be read: "),
        ({"words": "a" * 1000}, f"words is '{'a' * 119}…. Accepted: a list of texts."),
    ],
)
def test_a_fault_says_the_field_what_was_given_and_what_is_accepted(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_fields(Everything, {"name": "n", **given}, owner="thing")
    assert sentence in str(caught.value).splitlines() or str(caught.value).startswith(sentence)
    assert "pydantic" not in str(caught.value)


KINDS = "Accepted: 'dish' or 'place' or 'object' or 'garment' or 'festival'."


def test_all_faults_are_listed_each_on_a_line() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(studies.load_study("generation"), {"sed": 1, "seed": "1", "subjects": {"kind": "dsh", "limit": 0}})
    assert str(caught.value).splitlines() == [
        "model is missing. The study 'generation' needs it.",
        f"subjects.kind is 'dsh'. {KINDS} Did you mean dish?",
        "subjects.limit is 0. Accepted: a whole number of at least 1 or null.",
        "seed is '1'. Accepted: a whole number from 0 to 2147483647.",
        "There is no field of study 'generation' named 'sed'. Did you mean seed?",
    ]


@pytest.mark.parametrize(
    ("study", "given", "sentence"),
    [
        ("stereotypes", {"images": "i", "reading": "logit"}, "'generated' or 'logits'. Did you mean logits?"),
        ("stereotypes", {"images": "i", "reading": 4}, "reading is 4. Accepted: 'generated' or 'logits'."),
        ("stereotypes", {"images": "i", "orders": "all"}, "orders is 'all'. Accepted: 'all-cyclic' or 'as-asked'."),
        ("stereotypes", {"images": "i", "check": -1}, "check is -1. Accepted: a whole number from 0 to 1000000."),
        ("knowledge", {"models": [1]}, "models[0] is 1. Accepted: a text."),
        (
            "knowledge",
            {"models": ["a", "a"]},
            'models is ["a", "a"]. Accepted: a list of at least one model, each once.',
        ),
        ("knowledge", {"preset": ["x"]}, "There is no preset of study 'knowledge' named \"['x']\"."),
        (
            "knowledge",
            {"subjects": {"kind": ["dish"]}},
            f'subjects.kind is ["dish"]. {KINDS}',
        ),
        ("knowledge", {"subjects": {"countries": ["Ghana", 3]}}, "subjects.countries[1] is 3. Accepted: a text."),
        (
            "knowledge",
            {"subjects": {"kind": "place", "limit": 3}},
            'subjects is {"kind": "place", "limit": 3}. Accepted: limit with the kind dish or object or garment or '
            "festival only.",
        ),
    ],
)
def test_a_study_refuses_what_it_cannot_use(study: str, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(studies.load_study(study), given)
    assert sentence in str(caught.value)


@pytest.mark.django_db
def test_the_subjects_of_a_run_that_waits_are_checked_when_it_is_made() -> None:
    make_dish()
    after = create_run("generation", {"model": "sketch"}, slug="first")
    with pytest.raises(ConfigError, match="Did you mean dish"):
        create_waiting("knowledge", {"subjects": {"kind": "dsh"}}, after=after)
    assert list(Run.objects.values_list("slug", flat=True)) == ["first"]


def test_lists_of_a_configuration_are_tuples() -> None:
    assert parse_config(Fragile(), {"acts": ["yes"]}) == FragileConfig(acts=("yes",))


def test_a_bound_above_alone_is_said_and_bounds_hide_no_type() -> None:
    assert describe_bounds([Le(5)]) == " of at most 5"
    assert describe_bounds([Ge(1), Le(5)]) == " from 1 to 5"
    assert list_types(Annotated[int, Le(5)] | None) == [int]
