"""Chained in memory: what a worker has drawn is encoded before any file is read, with the rows of the long way."""

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from evaluation import backends, content_store, studies
from evaluation.backends.standin.encoder import StandinEncoder
from evaluation.contracts.backend import ImageRequest
from evaluation.contracts.study import ImageResult, Result
from evaluation.models import Embedding, GeneratedImage, Model, Run
from evaluation.registry import backend_table
from evaluation.runner import create_chain, create_run, execution, process_run
from evaluation.runner.handover import find_equal
from evaluation.runner.planning import create_waiting
from evaluation.runner.stages import batch_size
from evaluation.tables.outcomes import iterate_outcomes, vector_of
from tests.evaluation.make import make_dish, make_model
from tests.evaluation.tiny_models import make_image_bytes, save_clip, save_stable_diffusion

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
DISHES = ("Waakye", "Fufu", "Jollof")
PER_DISH = 3


@pytest.fixture(autouse=True)
def nothing_loaded() -> Iterator[None]:
    """A process that has loaded nothing, and in which nothing failed."""
    kept = (execution.loaded, execution.beside, execution.failed_beside, batch_size.known)
    for each in kept:
        each.clear()
    yield
    for each in kept:
        each.clear()


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hashes of files that were read from the storage."""
    found: list[str] = []
    read = content_store.read_content

    def note(sha256: str) -> bytes:
        found.append(sha256)
        return read(sha256)

    monkeypatch.setattr(content_store, "read_content", note)
    return found


def generation(model: str = "sketch", **more: Any) -> dict[str, Any]:
    dishes = {"kind": "dish", "limit": len(DISHES)}
    return {"model": model, "subjects": dishes, "images_per_subject": PER_DISH, "allow_long_prompts": True, **more}


def run_chain(config: dict[str, Any], encoder: str = "standin-encoder") -> tuple[Run, Run]:
    """Generation and association, worked through by this worker."""
    first, second = create_chain(
        [("generation", config), ("association", {"images": "@generation", "encoder": encoder})]
    )
    for run in (first, second):
        process_run(run.pk, "worker")
        run.refresh_from_db()
        assert run.state == Run.State.DONE, run.problem
    return first, second


def run_long_way(config: dict[str, Any], encoder: str = "standin-encoder") -> tuple[Run, Run]:
    """The same, the second run asked for only when the first is done."""
    first = create_run("generation", config)
    process_run(first.pk, "worker")
    second = create_run("association", {"images": first.slug, "encoder": encoder})
    process_run(second.pk, "worker")
    return first, second


def describe_images(run: Run) -> dict[str, tuple[str, str]]:
    """Key of the unit → state and hash of its image."""
    rows = GeneratedImage.objects.filter(run=run)
    return {row.source_key.partition("/")[2]: (row.state, row.sha256) for row in rows}


def describe_vectors(run: Run) -> dict[str, tuple[str, tuple[float, ...] | None]]:
    """What was asked about → state and vector; images by the unit that drew them."""
    names = dict(GeneratedImage.objects.values_list("pk", "source_key"))
    found = {}
    for row in iterate_outcomes(run):
        name = names[row.image_id].partition("/")[2] if row.image_id else row.key
        found[name] = (row.state, None if row.vector is None else tuple(map(float, row.vector)))
    return found


def make_dishes() -> None:
    for name in DISHES:
        make_dish(name)


def tables_of(run: Run) -> list[str]:
    """All tables of the study as they are shown, over this run."""
    study = studies.load_study(run.study)
    rows = list(iterate_outcomes(run))
    names = {str(row.pk): row.source_key for row in GeneratedImage.objects.all()}
    found = []
    for table in study.tables:
        for row in study.summarise(table, rows, run.config).rows:
            groups = {name: names[value] if name == "picture" else value for name, value in row.groups.items()}
            found.append(f"{table} {groups} {row.metric} {row.estimate.value or 0:.4g} {row.estimate.n}")
    return found


def forget_all() -> None:
    """As if neither run had been."""
    batch_size.known.clear()
    Run.objects.all().delete()
    Embedding.objects.all().delete()
    GeneratedImage.objects.all().delete()


def test_the_worker_that_drew_the_images_reads_none_of_them_back(reads: list[str]) -> None:
    make_dishes()
    _, second = run_chain(generation())
    assert reads == []
    images = [row for row in iterate_outcomes(second) if row.image_id]
    assert len(images) == len(DISHES) * PER_DISH
    assert {row.state for row in iterate_outcomes(second)} == {"done"}
    assert {row.circumstances.get("stored") for row in images} == {True}


def test_the_rows_are_those_of_the_long_way(reads: list[str]) -> None:
    make_dishes()
    found = [(describe_images(first), describe_vectors(second)) for first, second in [run_chain(generation())]]
    assert reads == []
    forget_all()
    first, second = run_long_way(generation())
    assert len(reads) == len(DISHES) * PER_DISH
    assert found == [(describe_images(first), describe_vectors(second))]


class Choosy:
    """Draws an image, a black one, or none, in turn; every fifth equals the first."""

    contents = (make_image_bytes(64, 64, seed=1), make_image_bytes(64, 64, seed=2), make_image_bytes(48, 64, seed=3))

    def __init__(self, model: Any) -> None:
        self.drawn = 0

    def generate(self, requests: Sequence[ImageRequest]) -> Iterator[Result]:
        black = io.BytesIO()
        Image.new("RGB", (64, 64)).save(black, "PNG")
        for request in requests:
            place, self.drawn = self.drawn % 5, self.drawn + 1
            state, content = ("filtered", b"") if place == 3 else ("done", black.getvalue())
            content = self.contents[place if place < 3 else 0] if place not in (2, 3) else content
            image = ImageResult(content, "image/png", 64, 64, request.prompt, seed=request.seed)
            yield Result(request.key, state, image=image)  # type: ignore[arg-type]


@pytest.fixture
def choosy(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = {**backend_table.BACKENDS["image_generator"], "sketch": f"{__name__}:Choosy"}
    monkeypatch.setitem(backend_table.BACKENDS, "image_generator", drawn)  # type: ignore[arg-type]


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The images that the stand-in encoder was given."""
    given: list[bytes] = []
    encode = StandinEncoder.encode_images

    def note(self: StandinEncoder, contents: Sequence[bytes]) -> Any:
        given.extend(contents)
        return encode(self, contents)

    monkeypatch.setattr(StandinEncoder, "encode_images", note)
    return given


@pytest.mark.usefixtures("choosy")
def test_images_that_are_not_held_are_left_out_as_by_the_long_way(encoded: list[bytes]) -> None:
    make_dishes()
    first, second = run_chain(generation())
    images = describe_images(first)
    assert {state for state, _ in images.values()} == {"held", "filtered", "held_back"}
    held = {key for key, (state, _) in images.items() if state == "held"}
    assert {row.pk for row in GeneratedImage.objects.filter(embeddings__isnull=False)} == {
        row.pk for row in GeneratedImage.objects.filter(state="held")
    }
    assert held < set(images)
    vectors = describe_vectors(second)
    assert {name for name in vectors if not name.startswith("text:")} == held
    # Five at a time, the fifth of which is as the first: nothing is encoded twice.
    assert len(encoded) == len(set(encoded)) == 2


@pytest.mark.usefixtures("choosy")
def test_equal_images_are_encoded_once_by_the_long_way_too(encoded: list[bytes]) -> None:
    make_dishes()
    run_long_way(generation())
    assert len(encoded) == len(set(encoded)) == 2


def test_a_file_that_was_encoded_for_another_image_is_not_encoded_again(encoded: list[bytes], reads: list[str]) -> None:
    make_dishes()
    _, second = run_long_way(generation())
    before = len(encoded)
    Run.objects.filter(study="association").delete()
    for row in GeneratedImage.objects.filter(state="held"):
        row.pk, row.source_key = None, f"again {row.source_key}"
        row.save()
    reads.clear()
    again = create_run(
        "association", {"images": "", "encoder": "standin-encoder"} | {"images": second.config["images"]}
    )
    process_run(again.pk, "worker")
    assert (len(encoded), reads) == (before, [])
    assert {row.state for row in iterate_outcomes(again)} == {"done"}
    assert Embedding.objects.exclude(image=None).count() == 2 * len(DISHES) * PER_DISH


@pytest.mark.parametrize("fault", ["loading", "encoding", "vectors"])
def test_where_encoding_beside_fails_everything_goes_the_long_way(
    fault: str, monkeypatch: pytest.MonkeyPatch, reads: list[str]
) -> None:
    make_dishes()
    encode, load, count = StandinEncoder.encode_images, backends.load_backend, {"tries": 0}

    def fail_first(self: StandinEncoder, contents: Sequence[bytes]) -> Any:
        count["tries"] += 1
        if count["tries"] == 1 and fault == "encoding":
            raise RuntimeError("the card fell out")
        vectors = encode(self, contents)
        return vectors * np.float32("nan") if count["tries"] == 1 and fault == "vectors" else vectors

    def load_later(model: Any) -> Any:
        if fault == "loading" and model.role == "encoder" and "loaded" not in count:
            count["loaded"] = 1
            raise MemoryError("The card is full.")
        return load(model)

    monkeypatch.setattr(StandinEncoder, "encode_images", fail_first)
    monkeypatch.setattr(backends, "load_backend", load_later)
    first, second = run_chain(generation())
    assert {state for state, _ in describe_images(first).values()} == {"held"}
    assert {state for state, _ in describe_vectors(second).values()} == {"done"}
    assert len(reads) == len(DISHES) * PER_DISH


def test_an_encoder_of_another_queue_is_left_to_its_workers(reads: list[str]) -> None:
    make_dishes()
    make_model("far", role="encoder", backend="standin", parameters={"queue": "gpu"})
    run_chain(generation(), "far")
    assert len(reads) == len(DISHES) * PER_DISH


def test_two_encoders_stay_loaded_beside_the_generator(monkeypatch: pytest.MonkeyPatch, reads: list[str]) -> None:
    make_dishes()
    make_model("second", role="encoder", backend="standin")
    load, loads = backends.load_backend, []

    def note(model: Any) -> Any:
        loads.append(model.slug)
        return load(model)

    monkeypatch.setattr(backends, "load_backend", note)
    steps = [("association", {"images": "@generation", "encoder": "standin-encoder"})]
    runs = create_chain([("generation", generation()), *steps])
    runs.append(create_waiting("association", {"images": runs[0].slug, "encoder": "second"}, after=runs[0]))
    for run in runs:
        process_run(run.pk, "worker")
        run.refresh_from_db()
        assert run.state == Run.State.DONE
    assert sorted(loads) == ["second", "sketch", "standin-encoder"]
    assert reads == []


def test_the_vectors_of_an_encoder_that_is_deleted_meanwhile_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    make_dishes()
    make_model("far", role="encoder", backend="standin")
    first, _ = create_chain(
        [("generation", generation()), ("association", {"images": "@generation", "encoder": "far"})]
    )
    encode = StandinEncoder.encode_images

    def delete_model(self: StandinEncoder, contents: Sequence[bytes]) -> Any:
        Model.objects.filter(slug="far").delete()
        return encode(self, contents)

    monkeypatch.setattr(StandinEncoder, "encode_images", delete_model)
    process_run(first.pk, "worker")
    assert {state for state, _ in describe_images(first).values()} == {"held"}
    assert not Embedding.objects.exists()


def test_equal_contents_are_found_by_their_bytes() -> None:
    same, other = bytes(100), bytes(99) + b"\1"
    alike = b"\1" + bytes(99)
    assert find_equal([same, other, bytes(100), alike, other]) == [0, 1, 0, 3, 1]
    assert find_equal([]) == []


@pytest.fixture
def tiny(tmp_path: Path) -> dict[str, Any]:
    """A diffusion model and an encoder of a few thousand weights; returns what a generation asks of them."""
    drawn = {"steps": 2, "guidance": 3.0, "size": 32, "at_once": 16}
    (tmp_path / "drawing").mkdir()
    (tmp_path / "encoding").mkdir()
    painter = save_stable_diffusion(tmp_path / "drawing")
    make_model("tiny-painter", backend="diffusers", identifier=str(painter), parameters=drawn, revision="0" * 40)
    encoder = save_clip(tmp_path / "encoding")
    make_model("tiny-clip", role="encoder", backend="clip", identifier=str(encoder), revision="0" * 40)
    make_dishes()
    return generation("tiny-painter")


@pytest.mark.torch
def test_pixels_in_memory_give_the_very_vectors_of_the_files(tiny: dict[str, Any], reads: list[str]) -> None:
    """All images in one lease and one pass, both ways: batches are composed alike, so vectors agree in every bit."""
    first, second = run_chain(tiny, "tiny-clip")
    assert reads == []
    found = describe_images(first), describe_vectors(second), tables_of(second)
    forget_all()
    first, second = run_long_way(tiny, "tiny-clip")
    assert len(reads) == len(DISHES) * PER_DISH
    assert (describe_images(first), describe_vectors(second)) == found[:2]
    assert tables_of(second) == found[2]
    assert {state for state, _ in found[0].values()} == {"held"}


@pytest.mark.torch
def test_batches_of_other_sizes_give_the_same_numbers_but_for_the_last_digits(
    tiny: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.studies.generation.Generation.batch_size", 3)
    _, second = run_chain(tiny, "tiny-clip")
    found, shown = describe_vectors(second), tables_of(second)
    forget_all()
    _, second = run_long_way(tiny, "tiny-clip")
    wanted = describe_vectors(second)
    assert {name: state for name, (state, _) in found.items()} == {name: state for name, (state, _) in wanted.items()}
    for name, (_, vector) in wanted.items():
        assert np.allclose(found[name][1], vector, rtol=0, atol=1e-6)  # type: ignore[arg-type]
    assert tables_of(second) == shown


@pytest.mark.torch
def test_what_is_stored_is_what_the_encoder_gives_of_the_file(tiny: dict[str, Any]) -> None:
    run_chain(tiny, "tiny-clip")
    [backend] = [found.backend for found in execution.loaded.values() if hasattr(found.backend, "encode_pixels")]
    for row in Embedding.objects.exclude(image=None).select_related("image"):
        assert row.image and row.preprocessing == backend.preprocessing
        alone = backend.encode_images([content_store.read_content(row.image.sha256)])[0]
        assert np.allclose(vector_of(row), alone, rtol=0, atol=1e-6)
