"""Scores of the study *association*: what its runs hold, and the means of each descriptor group."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from evaluation.contracts.study import OutcomeData, Vector
from evaluation.contracts.table import TableSpec
from evaluation.metrics import association as metrics
from evaluation.metrics.arrays import Floats
from evaluation.metrics.inference.intervals import Interval, one_way
from evaluation.metrics.observations import (
    Labels,
    Observations,
    create_empty_observations,
    hash_labels,
    none_of,
    stack_observations,
)
from evaluation.metrics.ordering import sort_group_values
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable

SCORES = TableSpec(
    name="association.scores",
    title="Association with descriptor words",
    source="World Wide recipe §3.2.3, App. G.1",
    version="3",
    columns=("group", "continent", "model"),
    metrics={
        "normalised_score": (
            "Mean over the images of: mean cosine with the positive words minus mean cosine with the negative words, "
            "rescaled by min–max to [−1, 1] within the model, over all its images (the authors' scope). For looking "
            "at only: it moves with every image that is added, so models, runs and releases are never compared by it."
        ),
        "normalised_over_all": (
            "The same rescaled over all images of all models. For looking at only, for the same reason."
        ),
        "net": (
            "Mean over the images of: mean cosine with the positive words minus mean cosine with the negative words, "
            "not rescaled. Used for every comparison and test."
        ),
        "as_printed": (
            "App. G.1 as typed: the negative words get the weight −1 and are then subtracted, which adds them. "
            "Not rescaled; for the record."
        ),
    },
    filters=("run", "model", "continent", "group"),
    study="association",
    observed=("net", "as_printed"),
    worse={"net": "low"},
    rescaled=("normalised_score", "normalised_over_all"),
)
UNSCORED = "no image of this group has a vector"
FLAT = "all images that the range is taken from score the same, so there is no range to rescale to"
COUNTED = "An image that lies in several continents counts in each of them."


@dataclass(frozen=True)
class Scored:
    """The images that have a vector: `models`, `clusters`, `images` (n,), `continents` n tuples, `vectors` (n, d)."""

    models: npt.NDArray[np.str_]
    clusters: npt.NDArray[np.str_]
    images: npt.NDArray[np.int64]
    continents: tuple[tuple[str, ...], ...]
    vectors: npt.NDArray[np.float32]

    def within(self, continent: str) -> npt.NDArray[np.bool_]:
        """Which images (n,) lie in this continent; one may lie in several."""
        return np.array([continent in listed for listed in self.continents], dtype=bool)

    def cell(self, continent: str, model: str) -> npt.NDArray[np.bool_]:
        """Which images (n,) lie in this continent and are by this model."""
        return self.within(continent) & (self.models == model)

    def names(self) -> list[str]:
        """The models in their order."""
        return sort_group_values(self.models.tolist(), "model")


Signs = Mapping[str, Sequence[Vector]]


@dataclass(frozen=True)
class Gathered:
    """What a run holds: vectors of words by group and sign, and by their text; images with and without a vector."""

    words: Mapping[str, Signs]
    texts: Mapping[str, Vector]
    scored: Scored
    missing: Counter[tuple[str, str]] = field(default_factory=Counter)

    def groups(self) -> dict[str, Signs]:
        """The groups that have words of both signs."""
        return {group: signs for group, signs in self.words.items() if signs["positive"] and signs["negative"]}


def gather_association_data(outcomes: Iterable[OutcomeData]) -> Gathered:
    """Sorts a run's outcomes; `missing` counts images without a vector per continent and model."""
    words: dict[str, dict[str, list[Vector]]] = defaultdict(lambda: {"positive": [], "negative": [], "none": []})
    texts: dict[str, Vector] = {}
    images: list[OutcomeData] = []
    missing: Counter[tuple[str, str]] = Counter()
    for outcome in outcomes:
        if "text" in outcome.payload:
            if outcome.vector is not None:
                words[outcome.payload["group"]][outcome.payload["sign"]].append(outcome.vector)
                texts[outcome.payload["text"]] = outcome.vector
        elif outcome.vector is None or not outcome.image_model:
            missing.update((continent, outcome.image_model) for continent in outcome.labels.get("continent", ("",)))
        else:
            images.append(outcome)
    return Gathered(dict(words), texts, score_images(images), missing)


def score_images(images: Sequence[OutcomeData]) -> Scored:
    vectors = [image.vector for image in images if image.vector is not None]
    return Scored(
        models=np.array([image.image_model for image in images], dtype=np.str_),
        clusters=np.array([image.cluster for image in images], dtype=np.str_),
        images=np.array([image.image_id or 0 for image in images], dtype=np.int64),
        continents=tuple(tuple(image.labels.get("continent", ())) for image in images),
        vectors=np.array(vectors, dtype=np.float32),
    )


def compute_sign_cosines(scored: Scored, signs: Signs) -> tuple[Floats, Floats]:
    """Cosines of the images with the positive and with the negative words, (n, p) and (n, q)."""
    positive, negative = (np.array(signs[sign]) for sign in ("positive", "negative"))
    if not len(scored.vectors):
        return np.empty((0, len(positive))), np.empty((0, len(negative)))
    return metrics.cosine_similarity(scored.vectors, positive), metrics.cosine_similarity(scored.vectors, negative)


def build_association_scores(outcomes: Iterable[OutcomeData]) -> TidyTable:
    """`association.scores`: means of each descriptor group, continent and model."""
    found = gather_association_data(outcomes)
    rows: list[TidyRow] = []
    extra: dict[str, float | str] = {}
    for group, signs in found.groups().items():
        both = compute_sign_cosines(found.scored, signs)
        net = metrics.net_association(*both)
        columns = {
            "normalised_score": metrics.normalised_within(net, found.scored.models),
            "normalised_over_all": metrics.normalised_over_all(net),
            "net": net,
            "as_printed": metrics.as_printed(*both),
        }
        rows += group_rows(group, found, columns)
        extra |= find_score_ranges(group, found.scored, net)
    return TidyTable(
        SCORES.name, SCORES.version, SCORES.columns, tuple(rows), build_score_notes(found, extra), extra=extra
    )


def observe_association_scores(outcomes: Iterable[OutcomeData]) -> Observations:
    """The scores of the images, group after group; rescaled ones are never compared and left out."""
    found = gather_association_data(outcomes)
    scored = found.scored
    parts = [
        Observations(
            values={"net": metrics.net_association(*both), "as_printed": metrics.as_printed(*both)},
            groups={
                "group": Labels.same(group, len(scored.models)),
                "continent": Labels.of(scored.continents),
                "model": Labels.each(scored.models.tolist()),
            },
            dishes=hash_labels(scored.clusters.tolist()),
            raters=None,
            images=scored.images,
            units=none_of(len(scored.models)),
            reviews=none_of(len(scored.models)),
            notes=(COUNTED,),
        )
        for group, signs in found.groups().items()
        for both in [compute_sign_cosines(scored, signs)]
    ]
    return stack_observations(parts) if parts else create_empty_observations(SCORES.columns)


def list_continent_cells(found: Gathered) -> list[tuple[str, str]]:
    """Every continent and model that has an image, scored or not."""
    held = {
        (continent, str(model))
        for listed, model in zip(found.scored.continents, found.scored.models, strict=True)
        for continent in listed
    }
    return sorted(held | {cell for cell in found.missing if all(cell)})


def group_rows(group: str, found: Gathered, columns: Mapping[str, Floats]) -> Iterator[TidyRow]:
    """Rows of one descriptor group; `columns`: metric → score of each image (n,)."""
    table = np.column_stack([columns[metric] for metric in SCORES.metrics])
    for continent, model in list_continent_cells(found):
        inside = found.scored.cell(continent, model)
        groups = {"group": group, "continent": continent, "model": model}
        for metric, estimate in zip(
            SCORES.metrics, estimate_column_means(table[inside], found.scored.clusters[inside]), strict=True
        ):
            yield TidyRow(groups, metric, estimate)


def estimate_column_means(values: Floats, clusters: npt.NDArray[np.str_]) -> list[Estimate]:
    """Means of `values` (n, k) with intervals over `clusters` (n,); NaN columns are not measured."""
    n, held = len(values), len(set(clusters.tolist()))
    if not n:
        return [Estimate(None, 0, 0, reason=UNSCORED)] * values.shape[1]
    estimates = []
    for column, interval in zip(values.T, one_way(values, clusters), strict=True):
        if np.isnan(column).any():
            estimates.append(Estimate(None, n, held, reason=FLAT))
        else:
            estimates.append(estimate_of(float(column.mean()), n, held, interval))
    return estimates


def estimate_of(value: float, n: int, clusters: int, interval: Interval) -> Estimate:
    return Estimate(value, n, clusters, interval.low, interval.high, interval.method, interval.reason)


def find_score_ranges(group: str, scored: Scored, net: Floats) -> dict[str, float]:
    """The unscaled score that became −1 and the one that became 1, per model and over all models."""
    parts = {model: net[scored.models == model] for model in scored.names()}
    if len(net):
        parts["all models"] = net
    ends = (("lowest", np.min), ("highest", np.max))
    return {f"{group}/{name} {word}": float(end(part)) for name, part in parts.items() for word, end in ends}


def build_score_notes(found: Gathered, extra: Mapping[str, float | str]) -> tuple[str, ...]:
    """Sentences shown under the scores."""
    words = "; ".join(
        f"{group} {len(signs['positive'])} positive and {len(signs['negative'])} negative"
        for group, signs in found.groups().items()
    )
    sentences = [
        f"Words: {words or 'none'}.",
        COUNTED,
        "Intervals are over dishes, or images where no dish is known; the range of the rescaling is held fixed.",
    ]
    if extra:
        ends = "; ".join(f"{name} {value:.6f}" for name, value in extra.items())
        sentences.append(f"Unscaled scores that became −1 (lowest) and 1 (highest): {ends}.")
    placeless = sum(1 for listed in found.scored.continents if not listed)
    if placeless:
        sentences.append(f"{placeless} scored images have no continent: they count in the rescaling and in no row.")
    return (*sentences, *left_out(found))


def left_out(found: Gathered) -> Iterator[str]:
    if found.missing:
        yield f"Images without a vector, left out: {sum(found.missing.values())}."
