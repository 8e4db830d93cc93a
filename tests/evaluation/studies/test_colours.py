"""The colours study, the example of docs/adding-a-study.md: hand-worked values, a property, a run to its table."""

import io
from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from evaluation import content_store, runner
from evaluation.backends.pixels import Pixels
from evaluation.contracts.study import ConfigError, FinalState, ModelData, OutcomeData, Work
from evaluation.metrics.colours import colour_histogram, colourfulness, jensen_shannon_divergence
from evaluation.metrics.entropy import entropy
from evaluation.models import Run
from evaluation.studies.colours import Colours, ColoursConfig
from tests.evaluation.make import make_country, make_image, make_model, make_subject


def plain(colour: tuple[int, int, int], size: tuple[int, int] = (8, 4)) -> np.ndarray:
    return np.full((*size, 3), colour, dtype=np.uint8)


def png(colour: tuple[int, int, int]) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(plain(colour)).save(stream, "PNG")
    return stream.getvalue()


def summed(*shares: np.ndarray) -> np.ndarray:
    rows = np.array(shares)
    return np.column_stack([rows, entropy(rows), np.ones(len(rows))]).sum(axis=0, keepdims=True)


def test_colourfulness_by_hand() -> None:
    assert colourfulness(plain((90, 90, 90))) == 0
    # One colour: rg = 200 − 100, yb = 150 − 0; no spread, so 0.3 · √(100² + 150²).
    assert colourfulness(plain((200, 100, 0))) == pytest.approx(0.3 * np.hypot(100, 150))
    # Half red, half green: rg = ±255, yb = 127.5; spread 255, mean (0, 127.5).
    halves = np.concatenate([plain((255, 0, 0)), plain((0, 255, 0))])
    assert colourfulness(halves) == pytest.approx(255 + 0.3 * 127.5)


def test_divergence_by_hand() -> None:
    red, blue = (colour_histogram(plain(colour)) for colour in ((255, 0, 0), (0, 0, 255)))
    assert red.sum() == 1
    assert jensen_shannon_divergence(summed(red, red, red))[0, 0] == 0
    assert jensen_shannon_divergence(summed(red, blue))[0, 0] == pytest.approx(1)
    # Three red and one blue: entropy of (3/4, 1/4).
    assert jensen_shannon_divergence(summed(red, red, red, blue))[0, 0] == pytest.approx(
        0.75 * np.log2(4 / 3) + 0.25 * 2
    )
    assert np.isnan(jensen_shannon_divergence(np.zeros((1, 29)))[0, 0])


@given(st.lists(st.lists(st.integers(0, 50), min_size=27, max_size=27).filter(any), min_size=1, max_size=6))
def test_divergence_lies_between_nothing_and_the_logarithm_of_their_number(rows: list[list[int]]) -> None:
    shares = [np.array(row) / sum(row) for row in rows]
    [[found]] = jensen_shannon_divergence(summed(*shares))
    assert -1e-9 <= found <= np.log2(len(rows)) + 1e-9
    assert jensen_shannon_divergence(summed(*shares[::-1]))[0, 0] == pytest.approx(found)


@pytest.mark.django_db
def test_from_images_to_the_table() -> None:
    images = Run.objects.create(study="generation", slug="pictures", state=Run.State.DONE)
    painter = make_model("painter")
    for number in range(12):
        subject = make_subject(f"Dish {number}", country=make_country())
        colour = (255, 0, 0) if number < 9 else (0, 0, 255)
        make_image(subject, painter, run=images, sha256=content_store.store_content(png(colour)))
    broken = make_image(make_subject("Broken"), painter, run=images, sha256=content_store.store_content(b"no picture"))
    run = runner.create_run("colours", {"images": "pictures"})
    while runner.process_run(run.pk, "tests"):
        pass
    states = dict(run.units.values_list("payload__image", "state"))
    assert states.pop(broken.pk) == "failed"
    assert set(states.values()) == {"done"}
    printed = StringIO()
    call_command("tables", "colours.diversity", "--format", "csv", stdout=printed)
    [line] = [line for line in printed.getvalue().splitlines() if line.startswith("Ghana,painter,divergence")]
    value, n, clusters = line.split(",")[3:6]
    assert float(value) == pytest.approx(0.75 * np.log2(4 / 3) + 0.25 * 2)
    assert (n, clusters) == ("12", "12")


def outcome(image: int, value: float, model: str = "painter", state: FinalState = "done") -> OutcomeData:
    numbers = {"colourfulness": value} if state == "done" else {}
    return OutcomeData(
        f"image:{image}", state, "pixels", "", "", {}, {}, numbers=numbers, image_model=model, image_id=image
    )


def test_the_extremes_of_each_model_are_named_outermost_first() -> None:
    """Twelve images: five at either end; three: one at either end; one that failed stands nowhere."""
    outcomes = [*(outcome(n, n / 2) for n in range(1, 13)), *(outcome(n, -n, "sculptor") for n in (21, 22, 23))]
    table = Colours().summarise("top", [*outcomes, outcome(99, 0, state="failed")], None)
    found = {(row.groups["model"], row.groups["end"], row.groups["place"]): row for row in table.rows}
    assert len(found) == 12
    assert found["painter", "top", "1"].groups["picture"] == "12"
    assert found["painter", "bottom", "5"].estimate.value == 2.5
    assert found["sculptor", "top", "1"].groups["picture"] == "21"
    assert Colours().observe("top", outcomes, None) is None


@pytest.mark.django_db
def test_a_model_that_gives_no_features_is_refused() -> None:
    with pytest.raises(ConfigError, match="image_generator"):
        runner.create_run("colours", {"images": "pictures", "model": "sketch"})
    with pytest.raises(ValueError, match="no table"):
        Colours().summarise("scores", [], ColoursConfig(images="pictures"))


def test_an_image_that_is_not_held_fails_and_stops_no_other() -> None:
    model = ModelData(1, "pixels", "features", "pixels", "pixels", "", {})
    contents = {"a": None, "b": png((1, 2, 3))}
    units = [Work(key, None, model, {}, image_bytes=content) for key, content in contents.items()]
    found = {result.key: (result.state, result.reason) for result in Colours().execute(units, Pixels(model))}
    assert found == {"a": ("failed", "The image is not held."), "b": ("done", "")}
