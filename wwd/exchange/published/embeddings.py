"""CLIP vectors of images and descriptor words, made elsewhere: a run of the study *association* that is done.

The vectors are of images of continents, 50 for each continent and model, not of dishes. Names of images repeat
over models.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from collection.models import Continent
from evaluation import subjects
from evaluation.contracts.study import Result, UnitPlan, Vector, VectorResult
from evaluation.models import Embedding, GeneratedImage, Model, Subject
from evaluation.runner import import_run
from evaluation.runner.catalogue import AS_PUBLISHED, model_data, subject_data
from evaluation.studies.association.study import Sign, image_key, image_payload, text_key, text_payload
from wwd.exchange.published.models import ENCODER, GENERATORS, PREPROCESSING
from wwd.exchange.published.source import InvalidRowError, Report, Row, parse_rows, read_wellformed_rows
from wwd.exchange.published.wordings import COMPARISON_PROMPT, DESCRIPTOR_PROMPT, descriptor_groups, import_descriptors
from wwd.exchange.published.writing import by_key, insert_new

KEY = "world-wide-dishes-2024"
RUN = f"{KEY}-clip"
IMAGE_FOLDER = "clip/continents"
IMAGE_VECTOR_FILE = "image_embeddings.csv"
WORDS_FILE = "clip/descriptors_embeddings.csv"
COMPARISON_FILE = "clip/descriptors_embeddings_16.csv"
CONFIG: Mapping[str, str] = {
    "images": KEY,
    "encoder": ENCODER,
    "descriptors": "app-g",
    "descriptors_version": AS_PUBLISHED,
}
DEFINITION: Mapping[str, str] = {
    "encoder": f"openai/{ENCODER}",
    "descriptors": f"app-g {AS_PUBLISHED}",
    "prompt": DESCRIPTOR_PROMPT,
}
Given = list[tuple[UnitPlan, Result]]


@dataclass(frozen=True)
class EmbeddedImage:
    """The vector of one image; `key` is unique over continents and models."""

    continent: str
    model: str
    name: str
    vector: Vector

    @property
    def key(self) -> str:
        return f"{KEY}/{self.continent}/{self.model}/{self.name}"


class VectorParser:
    """Makes a name and a vector of each row of one file; all vectors of an import have the same length."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str]] = set()
        self._dimensions: int | None = None

    def __call__(self, row: Row) -> tuple[str, Vector]:
        name, *cells = row.cells.values()
        if not 0 < len(name) <= 120:
            raise InvalidRowError("the name is empty or longer than 120 characters")
        if (row.file, name) in self._seen:
            raise InvalidRowError(f"{name} is twice in the file")
        vector = self._vector(cells)
        self._seen.add((row.file, name))
        return name, vector

    def _vector(self, cells: Sequence[str]) -> Vector:
        try:
            with np.errstate(over="ignore"):
                vector = np.array([float(cell) for cell in cells], dtype=np.float32)
        except ValueError as error:
            raise InvalidRowError(f"not a number: {error}") from error
        if not np.isfinite(vector).all():
            raise InvalidRowError("a value is not finite")
        self._dimensions = self._dimensions or len(vector)
        if len(vector) != self._dimensions:
            raise InvalidRowError(f"has {len(vector)} values, the other vectors have {self._dimensions}")
        return vector


def list_vector_files(folder: Path) -> list[str]:
    """The files of the images' vectors, `clip/continents/<continent>/<model>/image_embeddings.csv`."""
    found = sorted((folder / IMAGE_FOLDER).glob(f"*/*/{IMAGE_VECTOR_FILE}"))
    return [path.relative_to(folder).as_posix() for path in found]


def read_embedded_images(folder: Path, parse: VectorParser, report: Report) -> Iterator[EmbeddedImage]:
    for file in list_vector_files(folder):
        continent, model = file.split("/")[-3:-1]
        if continent not in Continent.values or model not in GENERATORS.values():
            report.problem(file, 1, f"{continent} is no continent or {model} no model that is known")
            continue
        for name, vector in parse_rows(
            read_wellformed_rows(folder, file, ("", "0"), report), parse, report, f"{continent} {model}"
        ):
            yield EmbeddedImage(continent, model, name, vector)


def read_words(folder: Path, parse: VectorParser, report: Report) -> dict[str, Vector]:
    """Descriptor text → vector. Texts that are not in descriptors.json are noted."""
    known = {payload["text"] for payload in word_payloads(folder)}

    def known_word(row: Row) -> tuple[str, Vector]:
        name, vector = parse(row)
        if name not in known:
            raise InvalidRowError(f"{name} is no descriptor of descriptors.json")
        return name, vector

    return dict(
        parse_rows(read_wellformed_rows(folder, WORDS_FILE, ("", "0"), report), known_word, report, "descriptors")
    )


def read_compared(folder: Path, parse: VectorParser, report: Report) -> dict[str, Vector]:
    """Descriptor → vector for the words that are only ranked."""
    before, after = COMPARISON_PROMPT.split("{descriptor}")

    def compared_word(row: Row) -> tuple[str, Vector]:
        name, vector = parse(row)
        if not (name.startswith(before) and name.endswith(after)):
            raise InvalidRowError(f"{name} is not of the form {COMPARISON_PROMPT}")
        return name.removeprefix(before).removesuffix(after), vector

    return dict(
        parse_rows(
            read_wellformed_rows(folder, COMPARISON_FILE, ("", "0"), report), compared_word, report, "comparison"
        )
    )


def word_payloads(folder: Path) -> Iterator[dict[str, str]]:
    """Payloads of the units of all words of App. G."""
    signs: tuple[Sign, ...] = ("positive", "negative")
    for group, by_sign in descriptor_groups(folder).items():
        for sign in signs:
            for word in by_sign[sign]:
                yield text_payload(DESCRIPTOR_PROMPT.replace("{descriptor}", word), word, group, sign)


def store_embedded_images(embedded_images: Sequence[EmbeddedImage], report: Report) -> dict[str, GeneratedImage]:
    """The images by key, none of them held. Their subjects are the continents."""
    continents = {subject.name: subject for subject in subjects.select_place_subjects("continent", [])}
    models = by_key(Model.objects.all(), "slug", GENERATORS.values())
    wanted = [
        GeneratedImage(
            subject=continents[embedded.continent],
            model=models[embedded.model],
            state=GeneratedImage.State.NOT_HELD,
            source_key=embedded.key,
        )
        for embedded in embedded_images
    ]
    same, counts = ("subject_id", "model_id"), report.count("embedded images")
    found = insert_new(GeneratedImage.objects.all(), wanted, "source_key", same, counts, "embedded images")
    return {str(key): image for key, image in found.items()}


def plan_embedded_images(
    embedded_images: Sequence[EmbeddedImage], images: Mapping[str, GeneratedImage], encoder: Model
) -> Given:
    data = model_data(encoder)
    places = Subject.objects.in_bulk({image.subject_id for image in images.values()})
    given = []
    for embedded in embedded_images:
        image = images[embedded.key]
        key = image_key(image.pk)
        plan = UnitPlan(key, data, subject_data(places[image.subject_id]), image_payload(image.pk), key)
        vector = VectorResult(embedded.vector, PREPROCESSING, image_id=image.pk)
        given.append((plan, Result(key, vector=vector)))
    return given


def word_units(payloads: Sequence[Mapping[str, str]], vectors: Mapping[str, Vector], encoder: Model) -> Given:
    """The units of the words whose vector is given, by payload text."""
    data = model_data(encoder)
    given = []
    for payload in payloads:
        if payload["text"] in vectors:
            key, text = text_key(payload), payload["text"]
            vector = VectorResult(vectors[text], PREPROCESSING, text=text)
            given.append((UnitPlan(key, data, None, payload, "texts"), Result(key, vector=vector)))
    return given


def count_vectors(given: Given, encoder: Model, kind: str, report: Report) -> None:
    """Counts which of these vectors are here already, and equal. Called before they are stored."""
    held = Embedding.objects.filter(model=encoder, preprocessing=PREPROCESSING)
    stored = {(row.image_id, row.text): bytes(row.vector) for row in held}
    counts = report.count(kind)
    for vector in (result.vector for _plan, result in given if result.vector):
        old = stored.get((vector.image_id, vector.text))
        if old is None:
            counts.created += 1
        else:
            counts.found(same=old == vector.vector.tobytes())


def import_embeddings(folder: Path, report: Report) -> None:
    """Adds vectors and their run. Needs the models. Commits in steps: a run that was cut short goes on next time."""
    parse, encoder = VectorParser(), Model.objects.get(slug=ENCODER)
    embedded_images = list(read_embedded_images(folder, parse, report))
    vectors = read_words(folder, parse, report)
    compared = read_compared(folder, parse, report)
    import_descriptors(folder, compared, report)
    ranked = {COMPARISON_PROMPT.replace("{descriptor}", word): vector for word, vector in compared.items()}
    ranked_payloads = [
        text_payload(text, word, "comparison", "none") for text, word in zip(ranked, compared, strict=True)
    ]
    parts = {
        "image embeddings": plan_embedded_images(
            embedded_images, store_embedded_images(embedded_images, report), encoder
        ),
        "descriptor embeddings": word_units(list(word_payloads(folder)), vectors, encoder),
        "comparison embeddings": word_units(ranked_payloads, ranked, encoder),
    }
    for kind, given in parts.items():
        count_vectors(given, encoder, kind, report)
    results = [pair for given in parts.values() for pair in given]
    import_run("association", RUN, CONFIG, results, definition=DEFINITION)
