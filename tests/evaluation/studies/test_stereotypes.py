"""The stereotypes study: its plan, its answers by whichever reading, and the tables worked out by hand."""

from collections.abc import Sequence
from io import StringIO
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from hypothesis import given
from hypothesis import strategies as st

from evaluation import content_store, runner
from evaluation.contracts.backend import Answer, Asked, Reading
from evaluation.contracts.study import ConfigError, ModelData, OutcomeData, Work
from evaluation.metrics.concentration import entropy_and_largest
from evaluation.metrics.inference.intervals import SHARE, one_way
from evaluation.metrics.tidy import Estimate, TidyTable
from evaluation.models import Outcome, QuestionSet, Run
from evaluation.studies.stereotypes.observe import observe_reading_agreement
from evaluation.studies.stereotypes.study import Stereotypes
from evaluation.tables import outcomes
from tests.evaluation.make import make_country, make_image, make_model, make_subject, subject_data
from tests.evaluation.tiny_models import make_image_bytes, save_llava

pytestmark = pytest.mark.embedded

STUDY = Stereotypes()
ANSWERER = ModelData(1, "answerer", "vqa", "standin", "answerer", "1", {})
YES_NO = ["Yes", "No"]
PLATES = ["Ceramic", "Glass", "Metal"]


def outcome(
    image: int,
    text: str = "",
    *,
    options: Sequence[str] = YES_NO,
    shift: int = 0,
    question: str = "table",
    cluster: str = "",
    place: Sequence[str] = ("Africa",),
    chances: Sequence[float] = (),
    **values: Any,
) -> OutcomeData:
    reading = "logits" if chances else "generated"
    return OutcomeData(
        key=f"{image}:{question}:{shift}:{reading}",
        state=values.pop("state", "done"),
        model="answerer",
        subject="",
        cluster=cluster or f"dish:{image}",
        labels={"continent": tuple(place), "country": ("Ghana",)},
        payload={"question": question, "options": list(options), "shift": shift, "reading": reading},
        text=text,
        numbers={str(number): chance for number, chance in enumerate(chances)},
        image_model=values.pop("image_model", "painter"),
        image_id=image,
    )


def found(table: TidyTable, metric: str, **groups: str) -> Estimate:
    [estimate] = [
        row.estimate for row in table.rows if row.metric == metric and groups.items() <= dict(row.groups).items()
    ]
    return estimate


def share(table: TidyTable, option: str, **groups: str) -> float | None:
    value = found(table, "share", option=option, **groups).value
    return None if value is None else round(value, 6)


def test_shares_by_hand() -> None:
    # Three images: A, A, B. One answer of four cannot be read: the image counts in "unread" only.
    rows = [outcome(1, "A"), outcome(2, "(A)"), outcome(3, "B. No"), outcome(4, "I'm sorry, I can't tell.")]
    table = STUDY.summarise("answers", rows, None)
    assert share(table, "Yes") == round(2 / 3, 6)
    assert share(table, "No") == round(1 / 3, 6)
    assert found(table, "share", option="Yes").n == 3
    assert found(table, "unread", option="Yes").value == 0.25
    assert found(table, "order_changes", option="Yes").value is None
    assert "Answers asked for: 4; not read: 1 (no answer 1)." in table.notes


def test_orders_are_averaged_and_their_effect_is_told() -> None:
    # Image 1 always says glass, wherever it stands. Image 2 always says the first letter, whatever it names.
    rows = [outcome(1, letter, options=PLATES, shift=shift) for shift, letter in enumerate("BAC")]
    rows += [outcome(2, "A", options=PLATES, shift=shift) for shift in range(3)]
    table = STUDY.summarise("answers", rows, None)
    assert [share(table, option) for option in PLATES] == [
        round(1 / 6, 6),
        round((1 + 1 / 3) / 2, 6),
        round(1 / 6, 6),
    ]
    assert found(table, "order_changes", option="Glass").value == 0.5


def test_probabilities_count_as_they_are() -> None:
    rows = [outcome(1, chances=(0.75, 0.25)), outcome(2, chances=(0.25, 0.75)), outcome(3, chances=(1.0, 0.0))]
    table = STUDY.summarise("answers", rows, None)
    assert share(table, "Yes") == round(2 / 3, 6)
    assert "not measured, 0 pairs were answered in both ways and 500 are needed" in table.notes[-1]


def test_the_agreement_of_the_readings_stands_beside_probabilities() -> None:
    # 600 pairs: the words agree with the likeliest option in 450, disagree in 90, cannot be read in 60.
    rows = []
    for image in range(600):
        words = "A" if image < 450 else "B" if image < 540 else "Perhaps"
        rows += [outcome(image, chances=(0.9, 0.1), cluster=f"dish:{image // 20}"), outcome(image, words)]
    table = STUDY.summarise("answers", rows, None)
    assert share(table, "Yes") == 0.9
    assert table.notes[-1].startswith("Agreement of the likeliest option with the answer in words: 0.750 [")
    assert table.notes[-1].endswith("of 600 pairs.")
    readings = STUDY.summarise("readings", rows, None)
    assert found(readings, "agreement", question="all").value == 0.75
    assert found(readings, "agreement_read", question="table").value == pytest.approx(450 / 540)
    assert found(readings, "agreement", question="all").clusters == 30


def test_an_image_of_two_places_counts_in_each_and_models_stand_apart() -> None:
    rows = [
        outcome(1, "A", place=("Africa", "Asia")),
        outcome(2, "B", place=("Asia",)),
        outcome(3, "B", place=("Asia",), image_model="real"),
    ]
    table = STUDY.summarise("answers", rows, None)
    assert share(table, "Yes", continent="Africa", model="painter") == 1
    assert share(table, "Yes", continent="Asia", model="painter") == 0.5
    assert share(table, "Yes", continent="Asia", model="real") == 0
    by_country = STUDY.summarise("answers_country", rows, None)
    assert share(by_country, "Yes", country="Ghana", model="painter") == 0.5


def test_intervals_are_over_dishes() -> None:
    rows = [outcome(number, "A" if number % 12 < 3 else "B", cluster=f"dish:{number % 12}") for number in range(60)]
    estimate = found(STUDY.summarise("answers", rows, None), "share", option="Yes")
    assert (estimate.value, estimate.n, estimate.clusters) == (0.25, 60, 12)
    # Twelve dishes of which three say yes: as uncertain as twelve answers, not as sixty.
    [twelve] = one_way(np.array([[1.0]] * 3 + [[0.0]] * 9), np.arange(12), bounds=SHARE)
    assert (estimate.low, estimate.high) == (pytest.approx(twelve.low, abs=0.03), pytest.approx(twelve.high, abs=0.03))


def test_flattening_by_hand() -> None:
    # Shares 3/4 and 1/4: entropy (0.75 ln 4/3 + 0.25 ln 4) / ln 2.
    rows = [outcome(number, "A" if number < 9 else "B") for number in range(12)]
    table = STUDY.summarise("flattening", rows, None)
    wanted = (0.75 * log(4 / 3) + 0.25 * log(4)) / log(2)
    assert found(table, "entropy").value == pytest.approx(wanted)
    assert found(table, "largest_share").value == 0.75
    assert found(table, "unread").value == 0
    assert {found(table, name).low for name in ("entropy", "largest_share")} == {None}
    assert "by chance" in found(table, "entropy").reason


def test_images_that_are_all_alike_have_no_entropy() -> None:
    rows = [outcome(number, "B", options=PLATES) for number in range(12)]
    table = STUDY.summarise("flattening_country", rows, None)
    assert found(table, "entropy").value == 0
    assert found(table, "largest_share").value == 1


def test_nothing_read_is_not_measured() -> None:
    rows = [outcome(1, "Who knows"), outcome(2, state="failed")]
    flat = STUDY.summarise("flattening", rows, None)
    assert found(flat, "entropy").value is None
    assert (found(flat, "unread").value, found(flat, "unread").n) == (1, 2)
    table = STUDY.summarise("answers", rows, None)
    assert found(table, "share", option="Yes").reason
    assert found(table, "unread", option="Yes").value == 1


def test_only_the_order_as_asked_is_compared_with_words() -> None:
    # As asked "yes" is likelier, turned "no": only the first counts as (dis)agreement, both count in the share.
    rows = [outcome(1, chances=(0.6, 0.4)), outcome(1, chances=(0.1, 0.9), shift=1), outcome(1, "A")]
    for given_rows in (rows, rows[::-1]):
        assert found(STUDY.summarise("readings", given_rows, None), "agreement", question="all").value == 1
    table = STUDY.summarise("answers", rows, None)
    assert share(table, "Yes") == 0.35
    assert found(table, "order_changes", option="Yes").value == 1


@given(st.permutations(PLATES), st.lists(st.sampled_from(["A", "B", "C", "?"]), min_size=3, max_size=12))
def test_tables_know_no_order_of_options_and_of_answers(order: list[str], letters: list[str]) -> None:
    said = [PLATES["ABC".index(letter)] if letter in "ABC" else "Who knows" for letter in letters]
    rows = [outcome(number, words, options=PLATES) for number, words in enumerate(said)]
    other = [outcome(number, words, options=order) for number, words in enumerate(said)]
    first, second = (STUDY.summarise("flattening", given, None) for given in (rows, other[::-1]))
    for metric in ("entropy", "largest_share", "unread"):
        one, two = found(first, metric).value, found(second, metric).value
        assert one == (None if two is None else pytest.approx(two))
    tables = [STUDY.summarise("answers", given, None) for given in (rows, other)]
    assert [share(tables[0], option) for option in PLATES] == [share(tables[1], option) for option in PLATES]


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=9).filter(lambda row: sum(row) > 1e-3))
def test_entropy_lies_between_nothing_and_one_and_knows_no_order(row: list[float]) -> None:
    [[entropy, largest]] = entropy_and_largest(np.array([row]))
    assert 0 <= entropy <= 1
    assert 1 / len(row) <= largest + 1e-9
    assert largest <= 1
    assert entropy_and_largest(np.array([row[::-1]]))[0] == pytest.approx([entropy, largest])
    assert entropy_and_largest(np.ones((1, len(row))))[0] == pytest.approx([1, 1 / len(row)])


class Recorder:
    """Answers with the first letter and keeps what it was asked."""

    readings: tuple[Reading, ...] = ("generated", "logits")

    def __init__(self) -> None:
        self.asked: list[tuple[str, Asked]] = []

    def answer(self, asked: Sequence[Asked], reading: Reading) -> Any:
        for each in asked:
            self.asked.append((reading, each))
            yield [
                Answer(probabilities=(0.7, *[0.3 / (len(question.letters) - 1)] * (len(question.letters) - 1)))
                if reading == "logits"
                else Answer(text="A")
                for question in each.questions
            ]


def work(image: int, content: bytes | None = b"x", **payload: Any) -> Work:
    values = {"image": image, "question": "plate", "ask": "Of what?", "options": PLATES, "shift": 0, **payload}
    key = f"{image}:{values['shift']}:{values.setdefault('reading', 'generated')}"
    return Work(key, None, ANSWERER, values, image_bytes=content)


def test_an_image_is_given_once_with_all_its_questions() -> None:
    backend = Recorder()
    units = [work(1), work(1, shift=2), work(2), work(1, reading="logits", shift=1)]
    results = {result.key: result for result in STUDY.execute(units, backend)}
    assert [(how, len(each.questions)) for how, each in backend.asked] == [
        ("generated", 2),
        ("generated", 1),
        ("logits", 1),
    ]
    assert backend.asked[0][1].questions[1].text == (
        "Question: Of what?. Choices: A: Metal B: Ceramic C: Glass. "
        "Please respond with the letter corresponding to your choice. Answer:"
    )
    # Turned by one: the first letter named glass, option 1 of the set.
    assert results["1:1:logits"].numbers == {"1": 0.7, "2": 0.15, "0": 0.15}
    assert results["1:0:generated"].text == "A"


def test_an_image_that_is_not_held_fails_and_stops_nothing() -> None:
    states = {result.key: result.state for result in STUDY.execute([work(1, None), work(2)], Recorder())}
    assert states == {"1:0:generated": "failed", "2:0:generated": "done"}


@pytest.fixture
def images(db: None) -> Run:
    run = Run.objects.create(study="generation", slug="pictures", state=Run.State.DONE)
    painter = make_model("painter")
    for number in range(3):
        subject = make_subject(f"Dish {number}", country=make_country())
        make_image(
            subject, painter, run=run, seed=number, sha256=content_store.store_content(make_image_bytes(seed=number))
        )
    return run


def test_units_of_a_run(images: Run) -> None:
    run = runner.create_run("stereotypes", {"images": "pictures", "reading": "logits", "check": 4})
    [questions] = QuestionSet.objects.filter(slug="vqa-probes").values_list("questions", flat=True)
    orders = sum(len(question["choices"]) or 1 for question in questions)
    assert run.units.count() == 3 * orders + 4
    assert run.units.filter(payload__reading="generated").count() == 3 + 4
    assert run.units.values("affinity").distinct().count() == 3
    again = runner.create_run("stereotypes", {"images": "pictures", "reading": "logits", "check": 4}, slug="again")
    assert set(again.units.values_list("key", flat=True)) == set(run.units.values_list("key", flat=True))


def test_a_run_as_published_asks_each_question_once(images: Run) -> None:
    run = runner.create_run("stereotypes", {"images": "pictures", "orders": "as-asked"})
    assert run.units.count() == 3 * 16
    assert not run.units.exclude(payload__shift=0).exists()


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"images": "nothing"}, "no run"),
        ({"images": "pictures", "model": "sketch"}, "answers no questions"),
        ({"images": "pictures", "model": "far", "reading": "logits"}, "words only"),
        ({"images": "pictures", "model": "odd"}, "llava-next"),
        ({"images": "pictures", "model": "elsewhere"}, "can be imported"),
        ({"images": "pictures", "questions": "vqa-probe"}, "vqa-probes"),
        ({"images": "pictures", "questions_version": "9"}, "version"),
        ({"images": "pictures", "beside": "photographs"}, "no run"),
    ],
)
def test_what_cannot_be_planned_says_why(images: Run, config: dict[str, Any], sentence: str) -> None:
    make_model("far", role="vqa", backend="openai")
    make_model("odd", role="vqa", backend="llava")
    make_model("elsewhere", role="vqa", backend="import")
    with pytest.raises(ConfigError, match=sentence):
        runner.create_run("stereotypes", config)


ONE = {"question_id": "one", "text": "Food?", "choices": {"A": "Yes", "B": "No"}}


@pytest.mark.parametrize(
    ("questions", "sentence"),
    [
        ([], "holds no question"),
        ([{"code": "country"}], "question 1 of odd 1 lacks its question_id or its text"),
        (["Is it food?"], "lacks its question_id"),
        ([ONE, ONE], "question 2 .* each once"),
        ([{**ONE, "question_id": "x" * 41}], "at most 40"),
        ([{**ONE, "question_id": 7}], "question_id 7"),
        ([{"question_id": "one", "text": "Food?"}], "lacks its choices"),
        ([{**ONE, "choices": {"A": "Yes", "B": 4}}], "lacks its choices"),
        ([{**ONE, "choices": {"A": "Yes"}}], "1 different options"),
        ([{**ONE, "choices": {"A": "Yes", "B": "yes"}}], "1 different options"),
        ([{**ONE, "choices": {f"{number}": f"{number}" for number in range(27)}}], "2 to 26"),
    ],
)
def test_questions_that_cannot_be_asked_are_named(images: Run, questions: list[Any], sentence: str) -> None:
    QuestionSet.objects.create(slug="odd", version="1", questions=questions)
    with pytest.raises(ConfigError, match=sentence):
        runner.create_run("stereotypes", {"images": "pictures", "questions": "odd"})
    assert not Run.objects.filter(study="stereotypes").exists()


@pytest.mark.parametrize("reading", ["generated", "logits"])
def test_from_images_to_the_table_on_the_command_line(images: Run, reading: str) -> None:
    beside = Run.objects.create(study="generation", slug="photographs", state=Run.State.DONE)
    photograph = make_image(
        subject_data(subject_of(images)),
        make_model("real", role="camera"),
        run=beside,
        sha256=content_store.store_content(b"photo"),
    )
    run = runner.create_run("stereotypes", {"images": "pictures", "reading": reading, "beside": "photographs"})
    while runner.process_run(run.pk, "tests"):
        pass
    run.refresh_from_db()
    assert run.state == Run.State.DONE
    assert Outcome.objects.filter(unit__run=run).count() == run.units.filter(state="done").count() > 200
    assert Outcome.objects.filter(unit__run=run, unit__payload__image=photograph.pk).exists()
    printed = StringIO()
    call_command("tables", "stereotypes.answers", "--format", "csv", "--filter", "question=table", stdout=printed)
    lines = printed.getvalue().splitlines()
    assert any(line.startswith("table,Yes,Africa,painter,share,") for line in lines), lines[:5]
    assert any(line.startswith("table,Yes,Africa,real,share,") for line in lines), lines[:5]


@pytest.mark.torch
def test_a_model_on_the_own_card_is_asked_by_both_readings(images: Run, tmp_path: Path) -> None:
    folder = str(save_llava(tmp_path / "llava"))
    make_model("tiny", role="vqa", backend="llava-next", identifier=folder, parameters={"most_new_tokens": 3})
    config = {"images": "pictures", "model": "tiny", "questions": "vqa-demonstration", "reading": "logits"}
    run = runner.create_run("stereotypes", config)
    while runner.process_run(run.pk, "tests"):
        pass
    kept = Outcome.objects.filter(unit__run=run, unit__state="done").select_related("unit")
    # Three images, questions of 2, 2 and 3 options in all orders, and all nine pairs in words.
    assert kept.count() == run.units.count() == 3 * 7 + 9
    for row in kept:
        if row.unit.payload["reading"] == "logits":
            assert set(row.numbers) == {str(place) for place in range(len(row.unit.payload["options"]))}
            assert sum(row.numbers.values()) == pytest.approx(1, abs=1e-5)
            assert row.circumstances["precision"] == "fp32"
    table = STUDY.summarise("answers", outcomes.iterate_outcomes(run), None)
    shares = [share(table, option, question="garnish") or 0 for option in ("Yes, richly", "Yes, simply", "No")]
    assert sum(shares) == pytest.approx(1, abs=1e-5)
    assert "9 pairs were answered in both ways" in table.notes[-1]


def subject_of(run: Run) -> Any:
    image = run.generatedimage_set.earliest("pk")
    return image.subject


def test_a_free_question_is_kept_in_words(images: Run) -> None:
    run = runner.create_run("stereotypes", {"images": "pictures", "reading": "logits", "check": 0})
    while runner.process_run(run.pk, "tests"):
        pass
    kept = Outcome.objects.filter(unit__run=run, unit__payload__question="name")
    assert set(kept.values_list("text", flat=True)) == {"demonstration"}


def test_readings_of_nothing_are_no_observations() -> None:
    assert len(observe_reading_agreement([])) == 0
