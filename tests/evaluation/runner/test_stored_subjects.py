"""Subjects that are no dish and no place: stored once, selected by their labels, named in prompts."""

import pytest

from evaluation.contracts.study import ConfigError
from evaluation.models import PromptTemplate, RunLabel, Subject
from evaluation.runner import create_run
from evaluation.subjects import select_subjects, store_subject

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def make_shelf() -> None:
    for name, country, region in (("pot", "Ghana", "Africa"), ("lamp", "Ghana", "Africa"), ("pot", "Peru", "Americas")):
        labels = {"object": [name], "country": [country], "region": [region]}
        store_subject("object", f"test/{name}/{country}", name, labels)
    store_subject("garment", "test/kente", "kente", {"region": ["Africa"], "culture": ["Ashanti"]})


def test_a_subject_is_stored_once_and_brought_up_to_date() -> None:
    first = store_subject("object", "test/pot", "pot", {"region": ["Africa", "Africa"]})
    again = store_subject("object", "test/pot", "pot", {"region": ["Asia"]})
    assert (first.pk, Subject.objects.count()) == (again.pk, 1)
    assert (first.labels, again.labels) == ({"region": ["Africa"]}, {"region": ["Asia"]})


@pytest.mark.parametrize(
    ("kind", "key", "name", "labels", "sentence"),
    [
        ("objekt", "k", "pot", {}, "Did you mean object"),
        ("object", "k", "pot", {"regoin": ["Africa"]}, "Did you mean region"),
        ("object", "k", "pot", {"region": ["x" * 121]}, "longer than 120 characters"),
        ("object", "k", "pot", {"region": [""]}, "is empty"),
        ("object", "k", "", {}, "is empty or longer than 200"),
        ("object", "k" * 200, "pot", {}, "is empty or longer than 200"),
    ],
)
def test_what_cannot_be_stored_is_named(
    kind: str, key: str, name: str, labels: dict[str, list[str]], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        store_subject(kind, key, name, labels)
    assert not Subject.objects.exists()


def test_stored_subjects_are_selected_by_their_labels() -> None:
    make_shelf()

    def selected(**selection: object) -> list[str]:
        return [row.source_key for row in select_subjects(selection)]

    assert selected(kind="garment") == ["garment:test/kente"]
    assert selected(kind="object", labels={"region": ["Africa"]}) == [
        "object:test/lamp/Ghana",
        "object:test/pot/Ghana",
    ]
    assert selected(kind="object", labels={"object": ["pot"]}, countries=["Peru"]) == ["object:test/pot/Peru"]
    assert selected(kind="object", limit=1) == ["object:test/lamp/Ghana"]


@pytest.mark.parametrize(
    ("selection", "sentence"),
    [
        ({"kind": "object", "labels": {"regoin": ["Africa"]}}, "labels of the dimensions country, continent"),
        ({"kind": "dish", "labels": {"region": ["Africa"]}}, "labels with the kind object or garment or festival only"),
        ({"kind": "object", "labels": {"region": ["Afrika"]}}, "Did you mean Africa"),
        ({"kind": "object", "level": "world"}, "level with the kind place only"),
    ],
)
def test_a_selection_that_means_nothing_is_refused(selection: dict[str, object], sentence: str) -> None:
    make_shelf()
    with pytest.raises(ConfigError, match=sentence):
        select_subjects(selection)


def test_prompts_name_an_object_its_region_and_its_country() -> None:
    make_shelf()
    PromptTemplate.objects.create(slug="of-region", version="1", text="{object} in {region}, {country}")
    subjects = {"kind": "object", "labels": {"object": ["pot"]}}
    run = create_run("generation", {"model": "sketch", "prompt": "of-region", "subjects": subjects})
    assert {unit.payload["prompt"] for unit in run.units.all()} == {"pot in Africa, Ghana", "pot in Americas, Peru"}
    assert set(RunLabel.objects.filter(run=run, dimension="region").values_list("value", flat=True)) == {
        "Africa",
        "Americas",
    }
    PromptTemplate.objects.create(slug="of-culture", version="1", text="{object} of {cultur}")
    with pytest.raises(ConfigError, match="placeholder"):
        create_run("generation", {"model": "sketch", "prompt": "of-culture", "subjects": subjects})
