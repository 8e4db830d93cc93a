"""Association (World Wide recipe §3.2.3, App. G): which descriptor words do images of a place lie near?

Units of a run of study `association`, one `Result` with a `VectorResult` each:

| unit | key | subject | payload | affinity | vector |
|---|---|---|---|---|---|
| an image | `image_key(id)` | the image's | `image_payload(id)` | the key | `VectorResult(image_id=id)` |
| a descriptor text | `text_key(payload)` | none | `text_payload(…)` | `"texts"` | `VectorResult(text=text)` |

The payload of a text is `{"text": "A photo of clean food.", "descriptor": "clean", "group": "presentation",
"sign": "positive"}`. `sign` is `positive`, `negative`, or `none` for words that are only ranked (the 16 of
`comparison_results.csv`, group `comparison`); tables of scores leave groups without both signs out.
Runs whose vectors were made elsewhere are imported with exactly these keys and payloads.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from evaluation.contracts.backend import Encoder
from evaluation.contracts.study import (
    Catalogue,
    ConfigError,
    DescriptorData,
    ImageData,
    OutcomeData,
    Plan,
    Result,
    RunOf,
    Study,
    StudyConfig,
    UnitPlan,
    Vector,
    VectorResult,
    Work,
)
from evaluation.metrics.observations import Observations
from evaluation.metrics.tidy import TidyTable
from evaluation.studies.association.ranks import build_association_descriptors, build_association_top
from evaluation.studies.association.tables import build_association_scores, observe_association_scores

Sign = Literal["positive", "negative", "none"]


def image_payload(image: int) -> dict[str, Any]:
    """Payload of the unit that encodes the `GeneratedImage` with this id."""
    return {"image": image}


def image_key(image: int) -> str:
    return f"image:{image}"


def text_payload(text: str, descriptor: str, group: str, sign: Sign) -> dict[str, Any]:
    """Payload of the unit that encodes one descriptor `text`, the filled-in prompt."""
    return {"text": text, "descriptor": descriptor, "group": group, "sign": sign}


def text_key(payload: Mapping[str, Any]) -> str:
    """Key of a descriptor's unit: a word may be in several groups, so group and sign belong to it."""
    return f"text:{payload['group']}:{payload['sign']}:{payload['descriptor']}"


class AssociationConfig(StudyConfig):
    """`images`: slug of the run whose images are scored; `encoder`: slug of the model that gives the vectors."""

    images: Annotated[str, RunOf(("generation",))]
    encoder: str = "standin-encoder"
    descriptors: str = "association"
    descriptors_version: str = ""


TABLES = {
    "scores": build_association_scores,
    "descriptors": build_association_descriptors,
    "top": build_association_top,
}


class Association(Study):
    slug: ClassVar[str] = "association"
    title: ClassVar[str] = "Association with descriptor words"
    source: ClassVar[str] = "World Wide recipe §3.2.3, App. G"
    version: ClassVar[str] = "1"
    needs: ClassVar[tuple[str, ...]] = ("encoder",)
    Config: ClassVar[type[StudyConfig]] = AssociationConfig
    tables: ClassVar[tuple[str, ...]] = tuple(TABLES)
    batch_size: ClassVar[int] = 256

    def plan(self, config: AssociationConfig, catalogue: Catalogue) -> Plan:
        """A unit per image of the run `config.images`, and one per descriptor word of the set."""
        encoder = catalogue.model(config.encoder)
        if encoder.role != "encoder":
            raise ConfigError(f"encoder: {config.encoder} is no image–text encoder but has the role {encoder.role}.")
        words = catalogue.descriptors(config.descriptors, config.descriptors_version)
        payloads = list(text_payloads(words))
        texts = [UnitPlan(text_key(payload), encoder, None, payload, "texts") for payload in payloads]
        images = [_plan_image(image) for image in catalogue.images(config.images)]
        definition = {
            "encoder": encoder.identifier,
            "revision": encoder.revision,
            **({"precision": precision} if (precision := encoder.parameters.get("precision")) else {}),
            "descriptors": f"{words.slug} {words.version}",
            "prompt": words.prompt,
        }
        units = [*texts, *(UnitPlan(key, encoder, image.subject, payload, key) for key, image, payload in images)]
        return Plan(units, definition)

    def list_encoders(self, config: AssociationConfig, images: str) -> Sequence[str]:
        return (config.encoder,) if config.images == images else ()

    def execute(self, units: Sequence[Work], backend: Encoder) -> Iterator[Result]:
        """Vectors of texts and images, those stored already taken as they are."""
        todo = []
        for unit in units:
            if unit.stored_vector is not None:
                yield _vector_result(unit, unit.stored_vector, backend.preprocessing, {"stored": True})
            elif "text" in unit.payload or unit.image_bytes is not None:
                todo.append(unit)
            else:
                reason = "The image is not held and no vector of it is stored."
                yield Result(unit.key, "failed", reason=reason, asked=False)
        texts = [unit for unit in todo if "text" in unit.payload]
        images = [unit for unit in todo if "text" not in unit.payload]
        told = getattr(backend, "circumstances", {})
        if texts:
            vectors = backend.encode_texts([unit.payload["text"] for unit in texts])
            yield from (_vector_result(*pair, backend.preprocessing, told) for pair in zip(texts, vectors, strict=True))
        if images:
            # Equal images come as one object: each is encoded once.
            contents = {id(unit.image_bytes): unit.image_bytes or b"" for unit in images}
            of_content = dict(zip(contents, backend.encode_images(list(contents.values())), strict=True))
            found = ((unit, of_content[id(unit.image_bytes)]) for unit in images)
            yield from (_vector_result(*pair, backend.preprocessing, told) for pair in found)

    def summarise(self, table: str, outcomes: Iterable[OutcomeData], config: Any) -> TidyTable:
        """See `association_tables.py` and `association_ranks.py`."""
        if table not in self.tables:
            raise ValueError(f"association has no table {table!r}")
        return TABLES[table](outcomes)

    def observe(self, table: str, outcomes: Iterable[OutcomeData], config: Any) -> Observations | None:
        """The scores of single images; shares among the nearest ones are no means."""
        return observe_association_scores(outcomes) if table == "scores" else None


def text_payloads(words: DescriptorData) -> Iterator[dict[str, Any]]:
    """Payloads of all words of a descriptor set, in its order."""
    for group, signs in words.groups.items():
        for sign in ("positive", "negative", "none"):
            for word in signs.get(sign, ()):
                yield text_payload(words.prompt.replace("{descriptor}", word), word, group, sign)


def _plan_image(image: ImageData) -> tuple[str, ImageData, dict[str, Any]]:
    return image_key(image.id), image, image_payload(image.id)


def _vector_result(unit: Work, vector: Vector, preprocessing: str, told: Mapping[str, Any]) -> Result:
    given, text = np.asarray(vector, dtype=np.float32), unit.payload.get("text", "")
    found = VectorResult(given, preprocessing, image_id=None if text else unit.payload["image"], text=text)
    return Result(unit.key, vector=found, circumstances=told)
