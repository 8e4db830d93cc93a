"""Association (World Wide recipe §3.2.3, App. G): which descriptor words do pictures of a place lie near?

Units of a run of study `association`, one `Result` with a `VectorResult` each:

| unit | key | subject | payload | affinity | vector |
|---|---|---|---|---|---|
| a picture | `image_key(id)` | the picture's | `image_payload(id)` | the key | `VectorResult(image_id=id)` |
| a descriptor text | `text_key(payload)` | none | `text_payload(…)` | `"texts"` | `VectorResult(text=text)` |

The payload of a text is `{"text": "A photo of clean food.", "descriptor": "clean", "group": "presentation",
"sign": "positive"}`. `sign` is `positive`, `negative`, or `none` for words that are only ranked (the 16 of
`comparison_results.csv`, group `comparison`); `association.scores` leaves groups without both signs out.
Runs whose vectors were made elsewhere are imported with exactly these keys and payloads.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext_noop as _

from evaluation.backends.base import Encoder
from evaluation.metrics import association as metrics
from evaluation.metrics.bootstrap import one_way
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.ordering import ordered
from evaluation.studies.base import (
    Catalogue,
    ConfigError,
    DescriptorData,
    ImageData,
    OutcomeData,
    Plan,
    Result,
    Study,
    UnitPlan,
    Vector,
    VectorResult,
    Work,
)
from evaluation.table_spec import TableSpec

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
    """Key of a descriptor's unit: a word may stand in several groups, so group and sign belong to it."""
    return f"text:{payload['group']}:{payload['sign']}:{payload['descriptor']}"


SCORES = TableSpec(
    name="association.scores",
    title=_("Association with descriptor words"),
    source="World Wide recipe §3.2.3, App. G.1 (authors' variant)",
    version="1",
    columns=("group", "continent", "model"),
    metrics={
        "normalised_score": _(
            "Mean over the pictures of: mean cosine with the positive words minus mean cosine with the negative words, "
            "rescaled by min–max to [−1, 1] within the model, over all its pictures. For looking at only: it moves "
            "with every picture that is added, so models, runs and releases are never compared by it."
        ),
        "net": _(
            "Mean over the pictures of: mean cosine with the positive words minus mean cosine with the negative words, "
            "not rescaled. Used for every comparison and test."
        ),
    },
    inputs=("runs.association", "withdrawals"),
    filters=("run", "model", "continent", "group"),
    study="association",
)
UNSCORED = "no picture of this group has a vector"
FLAT = "all pictures of the model score the same, so there is no range to rescale to"


@dataclass(frozen=True)
class AssociationConfig:
    """`images`: slug of the run whose pictures are scored; `encoder`: slug of the model that gives the vectors."""

    images: str
    encoder: str = "standin-encoder"
    descriptors: str = "association"
    descriptors_version: str = ""


@dataclass(frozen=True)
class Scored:
    """The pictures that have a vector: `models`, `clusters` (n,), `continents` n tuples, `vectors` (n, d)."""

    models: npt.NDArray[np.str_]
    clusters: npt.NDArray[np.str_]
    continents: tuple[tuple[str, ...], ...]
    vectors: npt.NDArray[np.float32]

    def cell(self, continent: str, model: str) -> npt.NDArray[np.bool_]:
        """Which pictures (n,) lie in this continent and are by this model; one may lie in several continents."""
        inside = np.array([continent in listed for listed in self.continents], dtype=bool)
        return inside & (self.models == model)


class Association(Study):
    slug: ClassVar[str] = "association"
    title: ClassVar[str] = "Association with descriptor words"
    source: ClassVar[str] = "World Wide recipe §3.2.3, App. G"
    version: ClassVar[str] = "1"
    needs: ClassVar[tuple[str, ...]] = ("encoder",)
    Config: ClassVar[type] = AssociationConfig
    tables: ClassVar[tuple[str, ...]] = ("scores",)
    batch_size: ClassVar[int] = 64

    def plan(self, config: AssociationConfig, catalogue: Catalogue) -> Plan:
        """A unit per picture of the run `config.images`, and one per descriptor word of the set."""
        encoder = catalogue.model(config.encoder)
        if encoder.role != "encoder":
            raise ConfigError(f"encoder: {config.encoder} is no image–text encoder but has the role {encoder.role}.")
        words = catalogue.descriptors(config.descriptors, config.descriptors_version)
        payloads = list(text_payloads(words))
        texts = [UnitPlan(text_key(payload), encoder, None, payload, "texts") for payload in payloads]
        pictures = [_picture_plan(image) for image in catalogue.images(config.images)]
        definition = {
            "encoder": encoder.identifier,
            "revision": encoder.revision,
            "descriptors": f"{words.slug} {words.version}",
            "prompt": words.prompt,
        }
        units = [*texts, *(UnitPlan(key, encoder, image.subject, payload, key) for key, image, payload in pictures)]
        return Plan(units, definition)

    def execute(self, units: Sequence[Work], backend: Encoder) -> Iterator[Result]:
        """Vectors of texts and pictures, those stored already taken as they are."""
        todo = []
        for unit in units:
            if unit.stored_vector is not None:
                yield _vector_result(unit, unit.stored_vector, backend.preprocessing)
            elif "text" in unit.payload or unit.image_bytes is not None:
                todo.append(unit)
            else:
                yield Result(unit.key, "failed", reason="The picture is not held and no vector of it is stored.")
        texts = [unit for unit in todo if "text" in unit.payload]
        pictures = [unit for unit in todo if "text" not in unit.payload]
        if texts:
            vectors = backend.encode_texts([unit.payload["text"] for unit in texts])
            yield from (_vector_result(*pair, backend.preprocessing) for pair in zip(texts, vectors, strict=True))
        if pictures:
            vectors = backend.encode_images([unit.image_bytes or b"" for unit in pictures])
            yield from (_vector_result(*pair, backend.preprocessing) for pair in zip(pictures, vectors, strict=True))

    def summarise(self, table: str, outcomes: Iterable[OutcomeData], config: Any) -> TidyTable:
        """`association.scores`: the mean score of each descriptor group, continent and model."""
        if table != "scores":
            raise ValueError(f"association has no table {table!r}")
        words, scored, missing = gather(outcomes)
        groups = {group: signs for group, signs in words.items() if signs["positive"] and signs["negative"]}
        rows: list[TidyRow] = []
        extra: dict[str, float | str] = {}
        for group, signs in groups.items():
            net = _net(scored, signs)
            rows += _group_rows(group, scored, net, missing)
            extra |= _ranges(group, scored, net)
        notes = _notes(groups, scored, missing)
        return TidyTable(SCORES.name, SCORES.version, SCORES.columns, tuple(rows), notes, extra=extra)


def text_payloads(words: DescriptorData) -> Iterator[dict[str, Any]]:
    """Payloads of all words of a descriptor set, in its order."""
    for group, signs in words.groups.items():
        for sign in ("positive", "negative", "none"):
            for word in signs.get(sign, ()):
                yield text_payload(words.prompt.replace("{descriptor}", word), word, group, sign)


Words = dict[str, dict[str, list[Vector]]]
Missing = Counter[tuple[str, str]]


def gather(outcomes: Iterable[OutcomeData]) -> tuple[Words, Scored, Missing]:
    """Vectors of the words by group and sign, the scored pictures, and how many have no vector per place and model."""
    words: Words = defaultdict(lambda: {"positive": [], "negative": [], "none": []})
    pictures: list[OutcomeData] = []
    missing: Missing = Counter()
    for outcome in outcomes:
        if "text" in outcome.payload:
            if outcome.vector is not None:
                words[outcome.payload["group"]][outcome.payload["sign"]].append(outcome.vector)
        elif outcome.vector is None or not outcome.image_model:
            missing.update((continent, outcome.image_model) for continent in outcome.labels.get("continent", ("",)))
        else:
            pictures.append(outcome)
    vectors = [picture.vector for picture in pictures if picture.vector is not None]
    scored = Scored(
        models=np.array([picture.image_model for picture in pictures], dtype=np.str_),
        clusters=np.array([picture.cluster for picture in pictures], dtype=np.str_),
        continents=tuple(tuple(picture.labels.get("continent", ())) for picture in pictures),
        vectors=np.array(vectors, dtype=np.float32),
    )
    return dict(words), scored, missing


def _picture_plan(image: ImageData) -> tuple[str, ImageData, dict[str, Any]]:
    return image_key(image.id), image, image_payload(image.id)


def _vector_result(unit: Work, vector: Vector, preprocessing: str) -> Result:
    given = np.asarray(vector, dtype=np.float32)
    if "text" in unit.payload:
        return Result(unit.key, vector=VectorResult(given, preprocessing, text=unit.payload["text"]))
    return Result(unit.key, vector=VectorResult(given, preprocessing, image_id=unit.payload["image"]))


def _net(scored: Scored, signs: Mapping[str, Sequence[Vector]]) -> metrics.Floats:
    """The unscaled score (n,) of each picture in one descriptor group."""
    if not len(scored.vectors):
        return np.empty(0)
    positive, negative = (metrics.cosine(scored.vectors, np.array(signs[sign])) for sign in ("positive", "negative"))
    return metrics.net(positive, negative)


def _cells(scored: Scored, missing: Missing) -> list[tuple[str, str]]:
    """Every continent and model that has a picture, scored or not."""
    held = {
        (continent, str(model))
        for listed, model in zip(scored.continents, scored.models, strict=True)
        for continent in listed
    }
    return sorted(held | {cell for cell in missing if all(cell)})


def _group_rows(group: str, scored: Scored, net: metrics.Floats, missing: Missing) -> Iterator[TidyRow]:
    """Rows of one descriptor group; `net` (n,) are its scores, rescaled here within each model."""
    both = np.column_stack([metrics.normalised_within(net, scored.models), net])
    for continent, model in _cells(scored, missing):
        inside = scored.cell(continent, model)
        groups = {"group": group, "continent": continent, "model": model}
        for metric, estimate in zip(SCORES.metrics, _estimates(both[inside], scored.clusters[inside]), strict=True):
            yield TidyRow(groups, metric, estimate)


def _estimates(scores: metrics.Floats, clusters: npt.NDArray[np.str_]) -> list[Estimate]:
    """Means of `scores` (n, 2) with intervals over `clusters` (n,); NaN columns are not measured."""
    n, held = len(scores), len(set(clusters.tolist()))
    if not n:
        return [Estimate(None, 0, 0, reason=UNSCORED)] * scores.shape[1]
    found = []
    for values, interval in zip(scores.T, one_way(scores, clusters), strict=True):
        if np.isnan(values).any():
            found.append(Estimate(None, n, held, reason=FLAT))
        else:
            mean = float(values.mean())
            found.append(Estimate(mean, n, held, interval.low, interval.high, interval.method, interval.reason))
    return found


def _ranges(group: str, scored: Scored, net: metrics.Floats) -> dict[str, float]:
    """The unscaled score that became −1 and the one that became 1, per model."""
    found = {}
    for model in ordered(scored.models.tolist(), "model"):
        mine = net[scored.models == model]
        found[f"{group}/{model} lowest"], found[f"{group}/{model} highest"] = float(mine.min()), float(mine.max())
    return found


def _notes(groups: Words, scored: Scored, missing: Missing) -> tuple[str, ...]:
    """Sentences shown under the table."""
    words = "; ".join(
        f"{group} {len(signs['positive'])} positive and {len(signs['negative'])} negative"
        for group, signs in groups.items()
    )
    notes = [
        f"Words: {words or 'none'}.",
        "A picture that lies in several continents counts in each of them.",
        "Intervals resample dishes, or pictures where no dish is known; the range of the rescaling is held fixed.",
    ]
    placeless = sum(1 for listed in scored.continents if not listed)
    if placeless:
        notes.append(f"{placeless} scored pictures have no continent: they count in the rescaling and in no row.")
    if missing:
        notes.append(f"Pictures without a vector, left out: {sum(missing.values())}.")
    return tuple(notes)
