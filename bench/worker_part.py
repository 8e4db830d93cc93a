"""The measurements of `bench.worker` in one checkout: a process of its own, told by `BENCH_WORKER`, prints JSON lines.

Every case makes its rows and files, works through a run as a worker does, and asks the backend alone for the same.
"""

import gc
import hashlib
import io
import json
import shutil
import struct
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from PIL import Image

from bench import worker_models, worker_storage
from bench.multi_gpu import over_cards
from bench.worker_meters import Meter
from bench.worker_models import find_first

DISTINCT = 64
PER_DISH = 5
PNG_HEADER = 33


def draw_png(number: int, side: int) -> bytes:
    """An image of soft colours with fine grain."""
    random = np.random.default_rng(number)
    rough = Image.fromarray(random.integers(0, 256, (24, 24, 3), dtype=np.uint8))
    soft = np.asarray(rough.resize((side, side), Image.Resampling.BICUBIC), dtype=np.int16)
    stream = io.BytesIO()
    Image.fromarray(np.clip(soft + random.normal(0, 3, soft.shape), 0, 255).astype(np.uint8)).save(stream, "PNG")
    return stream.getvalue()


def make_distinct(content: bytes, number: int) -> bytes:
    """The same image as another file: a note after the header, so that no hash comes twice."""
    note = b"tEXtnumber\0%d" % number
    chunk = struct.pack(">I", len(note) - 4) + note + struct.pack(">I", zlib.crc32(note))
    return content[:PNG_HEADER] + chunk + content[PNG_HEADER:]


def iterate_pngs(count: int, side: int) -> Iterator[bytes]:
    drawn = [draw_png(number, side) for number in range(min(DISTINCT, count))]
    return (make_distinct(drawn[number % len(drawn)], number) for number in range(count))


def write_files(contents: Iterator[bytes]) -> list[str]:
    """Puts files where the storage has them; returns their hashes."""
    from django.conf import settings

    hashes, path_of = [], find_first(worker_models.PATH_OF)
    for content in contents:
        sha256 = hashlib.sha256(content).hexdigest()
        target = Path(settings.MEDIA_ROOT) / path_of(sha256)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        hashes.append(sha256)
    return hashes


def read_files(hashes: Sequence[str]) -> list[bytes]:
    from django.conf import settings

    path_of = find_first(worker_models.PATH_OF)
    return [(Path(settings.MEDIA_ROOT) / path_of(sha256)).read_bytes() for sha256 in hashes]


def make_rows() -> None:
    """The database, with the models and dishes of all cases."""
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from evaluation.models import Model, PromptTemplate

    # Tokenizers of letters read short prompts only.
    PromptTemplate.objects.create(slug="bench", version="1", text="food {local_name}")
    given = worker_models.set_up_process()
    for slug, role, backend in (
        ("encoder", "encoder", "clip"),
        ("generator", "image_generator", "diffusers"),
        ("ready", "image_generator", "diffusers"),
        ("answerer", "vqa", "llava-next"),
    ):
        told = given["models"][slug]
        Model.objects.create(
            slug=f"bench-{slug}", title=slug, role=role, backend=backend, demonstration=True, revision="0" * 40, **told
        )


def make_dishes(count: int) -> None:
    """So many more demonstration dishes."""
    from tests.evaluation.make import make_demonstration_dishes

    make_demonstration_dishes(count)


def make_image_run(name: str, hashes: Sequence[str], side: int) -> str:
    """The slug of a finished run that holds these images."""
    from evaluation.models import GeneratedImage, Model, Run
    from tests.evaluation.make import make_place

    model = Model.objects.get(slug="bench-generator")
    subject = make_place("Africa")
    run = Run.objects.create(study="generation", study_version="1", slug=name, state=Run.State.DONE, demonstration=True)
    GeneratedImage.objects.bulk_create(
        [
            GeneratedImage(
                subject_id=subject.id,
                model=model,
                run=run,
                seed=number,
                sha256=sha256,
                media_type="image/png",
                width=side,
                height=side,
                source_key=f"{name}/{number}",
            )
            for number, sha256 in enumerate(hashes)
        ],
        batch_size=500,
    )
    return name


def forget_copies() -> None:
    """Every measurement begins with nothing fetched."""
    from django.conf import settings

    shutil.rmtree(getattr(settings, "FILE_CACHE", settings.VAR_DIR / "file_cache"), ignore_errors=True)


class Case:
    """One study: `items` are what its rate counts, `of_units` how many of them a unit is."""

    name: ClassVar[str]
    items: ClassVar[str]
    model: ClassVar[str]

    def __init__(self, given: dict[str, Any]) -> None:
        self.given, self.count = given, given["counts"][self.name]

    def prepare(self) -> None:
        """Files that all runs share."""

    def plan(self, name: str) -> Any:
        """A run that asks for everything anew."""
        raise NotImplementedError

    def alone(self, run: Any) -> tuple[int, float]:
        """Items and seconds of the backend alone, on what the run asked it."""
        raise NotImplementedError

    def warm_up(self) -> None:
        """Loads the model in this process and has it do a little of everything."""
        from evaluation.models import Model

        loader = {"encoder": worker_models.load_encoder, "answerer": worker_models.load_answerer}
        load = loader.get(self.model, worker_models.load_generator)
        load(find_first(worker_models.MODEL_DATA)(Model.objects.get(slug=f"bench-{self.model}")))
        self.warm_backend(worker_models.held[f"bench-{self.model}"])

    def warm_backend(self, backend: Any) -> None:
        raise NotImplementedError

    @property
    def backend(self) -> Any:
        return worker_models.held[f"bench-{self.model}"]


class Association(Case):
    """Vectors of PNG files of 512 × 512."""

    name, items, model = "association", "images", "encoder"

    def prepare(self) -> None:
        self.side = self.given["side"]
        self.hashes = write_files(iterate_pngs(self.count, self.side))

    def plan(self, name: str) -> Any:
        images = make_image_run(f"images-{name}", self.hashes, self.side)
        config = {"images": images, "encoder": "bench-encoder"}
        return find_first(worker_models.CREATE_RUN)("association", config, slug=name)

    def warm_backend(self, backend: Any) -> None:
        backend.encode_images([draw_png(number, self.given["side"]) for number in range(8)] * self.given["warm"])
        backend.encode_texts(["a photo of food."] * 8)

    def alone(self, run: Any) -> tuple[int, float]:
        contents = read_files(self.hashes)
        started = time.perf_counter()
        self.backend.encode_images(contents)
        return len(contents), time.perf_counter() - started


class Generation(Case):
    """Images by seed, five of a dish."""

    name, items, model = "generation", "images", "generator"
    seed = 0

    def prepare(self) -> None:
        make_dishes(self.count // PER_DISH)

    def config(self, model: str = "bench-generator") -> dict[str, Any]:
        Generation.seed += 1
        chosen = {"kind": "dish", "demonstration": True, "limit": self.count // PER_DISH}
        return {
            "model": model,
            "subjects": chosen,
            "images_per_subject": PER_DISH,
            "prompt": "bench",
            "seed": Generation.seed,
        }

    def plan(self, name: str) -> Any:
        return find_first(worker_models.CREATE_RUN)("generation", self.config(), slug=name)

    def warm_backend(self, backend: Any) -> None:
        list(backend.generate(self.requests([("warm", {"prompt": "food", "seed": 1})] * self.given["at_once"])))

    def requests(self, units: Sequence[tuple[str, dict[str, Any]]]) -> list[Any]:
        request = find_first(worker_models.IMAGE_REQUEST)
        return [
            request(f"{key} {number}", payload["prompt"], "", payload.get("prompt_id"), payload["seed"])
            for number, (key, payload) in enumerate(units)
        ]

    def alone(self, run: Any) -> tuple[int, float]:
        requests = self.requests(list(run.units.order_by("pk").values_list("key", "payload")))
        started = time.perf_counter()
        results = list(self.backend.generate(requests))
        return len(results), time.perf_counter() - started


class Stereotypes(Case):
    """The questions of the project about PNG files, in all orders of their options."""

    name, items, model = "stereotypes", "questions", "answerer"

    def prepare(self) -> None:
        self.side = 2 * self.given["side"]
        self.hashes = write_files(iterate_pngs(self.count, self.side))

    def plan(self, name: str) -> Any:
        images = make_image_run(f"images-{name}", self.hashes, self.side)
        config = {"images": images, "model": "bench-answerer", "reading": "logits", "check": 0}
        return find_first(worker_models.CREATE_RUN)("stereotypes", config, slug=name)

    def warm_backend(self, backend: Any) -> None:
        self.side = 2 * self.given["side"]
        question = {"ask": "What?", "options": ["a", "b"], "shift": 0}
        contents = [draw_png(number, self.side) for number in range(2)]
        for reading in ("generated", "logits"):
            self.ask(backend, [(content, [question] * 60) for content in contents], reading)

    def ask(self, backend: Any, about: Sequence[tuple[bytes, Sequence[Any]]], reading: str) -> int:
        asked, question_of = find_first(worker_models.ASKED), find_first(worker_models.QUESTION_OF)
        rows = [
            asked(content, tuple(question_of(SimpleNamespace(payload=payload)) for payload in payloads))
            for content, payloads in about
        ]
        return sum(len(list(answers)) for answers in backend.answer(rows, reading))

    def alone(self, run: Any) -> tuple[int, float]:
        contents = dict(zip(self.hashes, read_files(self.hashes), strict=True))
        from evaluation.models import GeneratedImage

        of_image = dict(GeneratedImage.objects.filter(run__slug=run.config["images"]).values_list("pk", "sha256"))
        payloads = list(run.units.order_by("pk").values_list("payload", flat=True))
        started, count = time.perf_counter(), 0
        for reading in ("generated", "logits"):
            chosen = [payload for payload in payloads if payload["reading"] == reading]
            groups = [(image, list(group)) for image, group in groupby(chosen, key=lambda payload: payload["image"])]
            about = [(contents[of_image[image]], group) for image, group in groups]
            count += self.ask(self.backend, about, reading) if about else 0
        return count, time.perf_counter() - started


CASES = {case.name: case for case in (Association, Generation, Stereotypes)}


def drive(ready: Callable[[], None], arguments: dict[str, Any]) -> tuple[int, float]:
    """Units and seconds of one process that works through a run beside others, each with its own card."""
    given = worker_models.set_up_process()
    worker_storage.SECONDS[0] = arguments["latency"] / 1000
    if arguments["case"]:
        CASES[arguments["case"]](given).warm_up()
    ready()
    started = time.perf_counter()
    ended = find_first(worker_models.PROCESS_RUN)(arguments["run"], f"bench {time.time_ns()}", seconds=1e9)
    return ended, time.perf_counter() - started


def print_line(**told: Any) -> None:
    print(json.dumps(told), flush=True)


def check_done(run: Any) -> int:
    """How many units are done. Random weights draw what is held back too: that is no failure."""
    states = dict.fromkeys(run.units.values_list("state", flat=True).distinct())
    if bad := set(states) - {"done", "empty"}:
        reasons = run.units.filter(state="failed").values_list("outcome__reason", flat=True)[:1]
        run.refresh_from_db()
        raise SystemExit(f"{run.slug}: units ended as {', '.join(sorted(bad))}: {run.problem} {' '.join(reasons)}")
    return int(run.units.count())


def measure_case(name: str, given: dict[str, Any]) -> None:
    """One line for the backend alone, and one for the runner at each latency and number of cards."""
    case = CASES[name](given)
    case.prepare()
    case.warm_up()
    last = None
    for latency in given["latencies"]:
        for cards in sorted({1, given["gpus"]}):
            forget_copies()
            last = case.plan(f"{name}-{latency}-{cards}")
            worker_storage.SECONDS[0] = latency / 1000
            arguments = {"latency": latency, "run": last.pk, "case": name if cards > 1 else ""}
            gc.collect()
            with Meter() as meter:
                rate = over_cards(cards, drive, arguments)
            units = check_done(last)
            items = case.count if name == "association" else units
            print_line(
                case=name,
                items=case.items,
                way="runner",
                latency=latency,
                cards=cards,
                rate=rate * items / units,
                most=meter.most,
                above=meter.above,
                card=meter.card,
            )
    worker_storage.SECONDS[0] = 0.0
    if not given["baseline"]:
        with Meter() as meter:
            count, seconds = case.alone(last)
        print_line(case=name, items=case.items, way="alone", rate=count / seconds, card=meter.card)


def main() -> None:
    given = worker_models.set_up_process()
    make_rows()
    make_dishes(1)
    for name in given["only"]:
        if name in CASES:
            measure_case(name, given)
    if "chain" in given["only"] and not given["baseline"]:
        from bench.worker_chain import measure_chain

        measure_chain(given)


if __name__ == "__main__":
    main()
