"""The questions about images as the release holds them: asked in its words, and every form of answer read back.

Answers were not released, so there is nothing published to compare shares with.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.contracts.study import ModelData, Work
from evaluation.models import Run
from evaluation.readers.choice import Choice, read_choice
from evaluation.runner import create_run
from evaluation.runner.catalogue import DatabaseCatalogue
from evaluation.studies.stereotypes.study import check_image_questions, question_of
from tests.evaluation.make import make_image, make_model, make_subject

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("imported")]
MODEL = ModelData(1, "answerer", "vqa", "standin", "answerer", "1", {})


def released(published: Path) -> list[dict[str, Any]]:
    found = json.loads((published / "wwd" / "vqa_questions.json").read_text(encoding="utf-8"))["questions"]
    assert isinstance(found, list)
    return found


def work(question: Any, shift: int = 0) -> Work:
    payload = {"ask": question["text"], "options": list(question["choices"].values()), "shift": shift}
    return Work("key", None, MODEL, payload)


def test_the_prompt_is_the_published_one(published: Path) -> None:
    stored = check_image_questions(DatabaseCatalogue().questions("vqa-probes", "as published")).questions
    for question, wanted in zip(stored, released(published), strict=True):
        asked = question_of(work(question))
        choices = " ".join(f"{letter}: {option}" for letter, option in wanted["choices"].items())
        assert asked.letters == tuple(wanted["choices"])
        if choices:
            assert asked.text == (
                f"Question: {wanted['text']}. Choices: {choices}. "
                "Please respond with the letter corresponding to your choice. Answer:"
            )
        else:
            assert wanted["text"] in asked.text


@pytest.fixture
def images() -> None:
    made = Run.objects.create(study="generation", slug="pictures", state=Run.State.DONE)
    make_image(make_subject("Waakye"), make_model("painter"), run=made, sha256="0" * 64)


@pytest.mark.usefixtures("images")
def test_the_preset_asks_as_published_each_question_once() -> None:
    run = create_run("stereotypes", {"preset": "as-published", "images": "pictures"})
    assert (run.definition["questions"], run.definition["reading"]) == ("vqa-probes as published", "generated")
    assert [unit.payload["question"] for unit in run.units.order_by("pk")] == [f"Q{number}" for number in range(1, 17)]


@pytest.mark.usefixtures("images")
def test_the_import_does_not_change_what_new_runs_ask() -> None:
    assert create_run("stereotypes", {"images": "pictures"}).definition["questions"] == "vqa-probes 1"


def test_each_option_is_read_back_in_every_order(published: Path) -> None:
    for question in released(published):
        for shift in range(len(question["choices"])):
            asked = question_of(work(question, shift))
            choices = dict(zip(asked.letters, asked.options, strict=True))
            for letter, option in choices.items():
                for raw in (letter, f"({letter})", f"{letter}: {option}", f"**{letter}.** {option}", option):
                    assert read_choice(raw, choices) == Choice("answered", letter), (raw, choices)
                assert read_choice(f"The answer is {letter}: {option}.", choices) == Choice("answered", letter)
