"""CLIP vectors and machine questions as imported, against the released files."""

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from evaluation.models import DescriptorSet, Embedding, GeneratedImage, Outcome, QuestionSet, Run, Unit
from evaluation.tables.outcomes import vector_of
from wwd.exchange.published import embeddings

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("imported"), pytest.mark.embedded]
Vectors = npt.NDArray[np.float32]


def vectors_in(path: Path) -> dict[str, Vectors]:
    with path.open(encoding="utf-8", newline="") as file:
        _header, *lines = csv.reader(file)
    return {name: np.array([float(value) for value in values], dtype=np.float32) for name, *values in lines}


def image_vectors(model: str = "") -> dict[tuple[str, str, str], Vectors]:
    """(continent, model, name) → vector."""
    rows = Embedding.objects.exclude(image=None).select_related("image__model", "image__subject")
    found = {}
    for row in rows:
        assert row.image is not None
        assert row.image.model is not None
        key = (row.image.subject.name, row.image.model.slug, row.image.source_key.rpartition("/")[2])
        found[key] = vector_of(row)
    return {key: vector for key, vector in found.items() if key[1] == model or not model}


def text_vectors() -> dict[str, Vectors]:
    return {row.text: vector_of(row) for row in Embedding.objects.filter(image=None)}


def test_there_are_fifty_images_for_each_continent_and_model() -> None:
    cells = Counter(key[:2] for key in image_vectors())
    assert len(cells) == 6 * 3
    assert set(cells.values()) == {50}


def test_every_vector_of_an_image_equals_the_released_one(published: Path) -> None:
    stored = image_vectors()
    released = {
        (path.parts[-3], path.parts[-2], name): vector
        for path in (published / "wwd" / "clip" / "continents").glob("*/*/*.csv")
        for name, vector in vectors_in(path).items()
    }
    assert len(stored) == len(released) == 900
    assert all(np.array_equal(stored[key], vector) for key, vector in released.items())


def test_names_of_images_repeat_over_models() -> None:
    names = Counter(key[2] for key in image_vectors())
    assert max(names.values()) == 3
    assert len(names) < 900


def test_every_vector_of_a_word_equals_the_released_one(published: Path) -> None:
    clip = published / "wwd" / "clip"
    words, compared = (
        vectors_in(clip / "descriptors_embeddings.csv"),
        vectors_in(clip / "descriptors_embeddings_16.csv"),
    )
    assert (len(words), len(compared)) == (95, 16)
    stored = text_vectors()
    assert set(stored) == {*words, *compared}
    assert all(np.array_equal(stored[text], vector) for text, vector in {**words, **compared}.items())


def test_vectors_are_stored_as_given_and_not_normalised() -> None:
    lengths = [float(np.linalg.norm(vector)) for vector in image_vectors().values()]
    assert set(Embedding.objects.values_list("dimensions", flat=True)) == {512}
    assert min(lengths) > 5


def test_images_are_of_continents_and_not_of_dishes() -> None:
    images = GeneratedImage.objects.exclude(embeddings=None)
    assert set(images.values_list("subject__kind", "subject__dish", "state")) == {("place", None, "not_held")}


def test_vectors_form_a_finished_run_that_was_made_elsewhere() -> None:
    run = Run.objects.get(slug=embeddings.RUN)
    assert (run.study, run.state, run.imported, run.demonstration) == ("association", "done", True, False)
    assert set(Unit.objects.filter(run=run).values_list("state", flat=True)) == {"done"}
    assert Outcome.objects.filter(unit__run=run).exclude(embedding=None).count() == 900 + 95 + 16
    assert set(run.labels.values_list("dimension", flat=True)) == {"continent"}


def test_descriptor_words_have_their_groups_and_signs(published: Path) -> None:
    words = DescriptorSet.objects.get(slug="app-g", version="as published")
    sizes = {
        group: tuple(len(signs[sign]) for sign in ("positive", "negative")) for group, signs in words.groups.items()
    }
    assert sizes == {"presentation": (20, 20), "taste": (19, 17), "style": (7, 12)}
    assert words.prompt == "A photo of {descriptor} food."
    compared = DescriptorSet.objects.get(slug="comparison-16", version="as published")
    assert len(compared.groups["comparison"]["none"]) == 16


def test_the_prompt_ends_with_a_full_stop_in_one_set_and_not_in_the_other() -> None:
    stops = Counter(text.endswith("food.") for text in text_vectors())
    assert stops == {True: 95, False: 16}


def test_the_comparison_of_the_release_follows_from_the_stored_vectors(published: Path) -> None:
    """`comparison_results.csv`: of the 300 images of a model the 50 nearest to a word by cosine, the share of each
    continent among them in per cent. Shares of zero are left out there."""
    with (published / "wwd" / "clip" / "comparison_results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    wanted = {(row["Descriptor"], row["Model"], row["Name"]): float(row["Percentage"]) for row in rows}
    texts = text_vectors()
    found: dict[tuple[str, str, str], float] = defaultdict(float)
    for model in ("dalle2", "dalle3", "sd21"):
        keys, matrix = zip(*image_vectors(model).items(), strict=True)
        images = np.stack(matrix).astype(np.float64)
        images /= np.linalg.norm(images, axis=1, keepdims=True)
        for text in {row["Descriptor"] for row in rows}:
            nearest = np.argsort(-(images @ texts[text].astype(np.float64)))[:50]
            for index in nearest:
                found[text, model, keys[index][0]] += 2.0
    assert found == pytest.approx(wanted)


def test_the_questions_are_those_that_were_asked(published: Path) -> None:
    asked = json.loads((published / "wwd" / "vqa_questions.json").read_text(encoding="utf-8"))["questions"]
    stored = QuestionSet.objects.get(slug="vqa-probes", version="as published")
    assert stored.questions == asked
    assert len(asked) == 16
    assert [question["question_id"] for question in asked if not question["choices"]] == ["Q9"]
