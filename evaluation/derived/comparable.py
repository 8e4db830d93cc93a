"""What may be compared with what: images by model and prompt, runs by their definition, and why others may not be."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.contracts.table import TableSpec
from evaluation.metrics.observations import Labels, Observations
from evaluation.metrics.ordering import sort_group_values
from evaluation.models import Embedding, GeneratedImage, Role, Run

CHUNK = 5000
NO_PROMPT = ""
# Parts of a definition that are the thing compared, not how it was measured.
OF_MODEL = ("model", "revision", "parameters")
PREPARED = "preprocessing"
OF_PROMPT = ("prompt", "prompt_sha256")
READABLE = {"prompt_sha256": "prompt hash", "revision": "model revision", "study_version": "study version"}

Places = npt.NDArray[np.intp]
Definition = Mapping[str, Any]


@dataclass(frozen=True)
class Side:
    """Observations (their places) under one model and prompt, and the definitions that their images were made by."""

    name: str
    at: Places
    definitions: tuple[Definition, ...] = ()


@dataclass(frozen=True)
class Pair:
    """Two sides to be compared: `compared` "models", "prompts" or "runs"; `within` is what they share."""

    compared: str
    within: str
    first: Side
    second: Side


@dataclass(frozen=True)
class ComparedImages:
    """What is known of the image of each observation: `prompts` and `models` (n,), `camera` (n,), real photographs;
    `made` (n,), its place among `definitions`, −1 where no run made it."""

    prompts: Labels
    models: Labels
    camera: npt.NDArray[np.bool_]
    made: npt.NDArray[np.intp]
    definitions: tuple[Definition, ...]

    @classmethod
    def unknown(cls, found: Observations) -> "ComparedImages":
        """Where the models looked at the images: who made these, and by which prompt, sets no two of them apart."""
        n = len(found)
        nowhere = np.full(n, -1, dtype=np.intp)
        return cls(Labels.same(NO_PROMPT, n), found.labels("model"), np.zeros(n, dtype=np.bool_), nowhere, ())

    @classmethod
    def of(cls, found: Observations) -> "ComparedImages":
        """By one query for every few thousand images, and one for their runs."""
        images, place = np.unique(found.images, return_inverse=True)
        known = {row[0]: row[1:] for row in rows_of(images[images > 0].tolist())}
        nobody = (NO_PROMPT, "", None)
        told = [known.get(image, nobody) for image in images.tolist()]
        runs = {run: at for at, run in enumerate(sorted({run for _, _, run in told if run is not None}))}
        made = Run.objects.in_bulk(list(runs))
        prompts = Labels.each(prompt for prompt, _, _ in told).picked(place)
        camera = np.array([role == Role.CAMERA for _, role, _ in told], dtype=np.bool_)[place]
        of_run = np.array([-1 if run is None else runs[run] for _, _, run in told], dtype=np.intp)[place]
        return cls(prompts, found.labels("model"), camera, of_run, tuple(definition_of(made[run]) for run in runs))

    def picked(self, at: Places) -> "ComparedImages":
        """Those of the chosen observations."""
        return ComparedImages(
            self.prompts.picked(at), self.models.picked(at), self.camera[at], self.made[at], self.definitions
        )

    def side(self, name: str, chosen: npt.NDArray[np.bool_]) -> Side:
        at = np.flatnonzero(chosen)
        made = np.unique(self.made[at])
        return Side(name, at, tuple(self.definitions[number] for number in made if number >= 0))

    @cached_property
    def prompted(self) -> list[str]:
        """The prompts of images, photographs left out."""
        return list(self.prompts.picked(~self.camera).values)


def rows_of(images: Sequence[int]) -> Iterator[tuple[int, str, str, int | None]]:
    """Image, its prompt with version, the role of its model, its run."""
    for start in range(0, len(images), CHUNK):
        rows = GeneratedImage.objects.filter(pk__in=images[start : start + CHUNK])
        fields = ("pk", "prompt__slug", "prompt__version", "model__role", "run")
        for pk, slug, version, role, run in rows.values_list(*fields):
            yield pk, f"{slug} {version}" if slug else NO_PROMPT, role or "", run


def definition_of(run: Run) -> Definition:
    return {"study_version": run.study_version, **run.definition}


def list_comparable_pairs(images: ComparedImages) -> Iterator[Pair]:
    """Models that made images by the same prompt, then prompts of the same model; photographs have none."""
    for prompt in images.prompted:
        same = images.prompts.holding(prompt) | images.camera
        sides = [images.side(name, same & images.models.holding(name)) for name in models_of(images)]
        yield from (Pair("models", prompt, *two) for two in combinations(drop_empty_sides(sides), 2))
    for model in models_of(images):
        mine = images.models.holding(model) & ~images.camera
        sides = [images.side(name, mine & images.prompts.holding(name)) for name in images.prompted if name]
        yield from (Pair("prompts", model, *two) for two in combinations(drop_empty_sides(sides), 2))


@dataclass(frozen=True)
class Runs:
    """Two runs: what is compared of them, the name of each, and what they share."""

    compared: str
    names: tuple[str, str]
    within: str = ""

    @classmethod
    def of(cls, first: Run, second: Run, compared: str, instrument: Sequence[str] = ()) -> "Runs":
        """Runs go by their names, prompts and models by what their definitions say."""
        if compared == "runs":
            return cls(compared, (first.slug, second.slug))
        if instrument:
            named = [str(run.definition.get(instrument[0], "")) for run in (first, second)]
            # Two revisions of one model have one name.
            return cls(compared, (named[0], named[1]) if named[0] != named[1] else (first.slug, second.slug))
        part, shared = ("model", "prompt") if compared == "models" else ("prompt", "model")
        names = (str(first.definition.get(part, "")), str(second.definition.get(part, "")))
        return cls(compared, names, str(first.definition.get(shared, "")))


def pairs_of_runs(first: ComparedImages, second: ComparedImages, runs: Runs) -> Iterator[Pair]:
    """The same model and prompt in two runs; of two runs whose models or prompts are compared, all that they hold.

    Places of the second run count on after those of the first.
    """
    if runs.compared != "runs":
        everything = [np.ones(len(images.made), dtype=np.bool_) for images in (first, second)]
        sides = [first.side(runs.names[0], everything[0]), second.side(runs.names[1], everything[1])]
        yield Pair(runs.compared, runs.within, sides[0], shift_side(sides[1], len(first.made)))
        return
    for model in sort_group_values([*models_of(first), *models_of(second)], "model"):
        for prompt in sorted({*first.prompts.values, *second.prompts.values}):
            sides = [
                images.side(name, images.models.holding(model) & images.prompts.holding(prompt))
                for images, name in zip((first, second), runs.names, strict=True)
            ]
            if len(drop_empty_sides(sides)) == 2:
                within = ", ".join(part for part in (model, prompt) if part)
                yield Pair("runs", within, sides[0], shift_side(sides[1], len(first.made)))


def shift_side(side: Side, count: int) -> Side:
    return Side(side.name, side.at + count, side.definitions)


def drop_empty_sides(sides: Iterable[Side]) -> list[Side]:
    return [side for side in sides if len(side.at)]


def models_of(images: ComparedImages) -> list[str]:
    return sort_group_values(images.models.values, "model")


def explain_refusal(pair: Pair) -> str:
    """Why a pair is not compared: a sentence naming the parts of the definition that differ; empty where it may be."""
    for side in (pair.first, pair.second):
        if parts := find_differing_parts(side.definitions):
            return f"{side.name} is not compared: its own images differ in {format_parts(parts)}."
    own = {"models": OF_MODEL, "prompts": OF_PROMPT, "runs": ()}[pair.compared]
    if pair.first.definitions and pair.second.definitions:
        parts = [
            part
            for part in find_differing_parts((pair.first.definitions[0], pair.second.definitions[0]))
            if part not in own
        ]
        if parts:
            both = f"{pair.first.name} and {pair.second.name}"
            return f"{both} are not compared: their images differ in {format_parts(parts)}."
    return ""


def find_differing_parts(definitions: Sequence[Definition]) -> list[str]:
    """The parts in which definitions are not all the same, in one order whatever that of the database is."""
    parts = sorted({part for definition in definitions for part in definition})
    return [part for part in parts if any(each.get(part) != definitions[0].get(part) for each in definitions[1:])]


def format_parts(parts: Iterable[str]) -> str:
    return ", ".join(READABLE.get(part, part.replace("_", " ")) for part in parts)


def run_definition(run: Run) -> Definition:
    """What two runs of a study must share: its version and definition, and how images were prepared for vectors."""
    vectors = Embedding.objects.filter(outcome__unit__run=run).exclude(image=None)
    prepared = sorted(vectors.order_by().values_list("preprocessing", flat=True).distinct())
    return {**definition_of(run), **({PREPARED: prepared} if prepared else {})}


def drop_unshared_images(pair: Pair, images: npt.NDArray[np.int64]) -> Pair:
    """The pair without what only one of two instruments looked at; `images`: those of all observations."""
    both = np.intersect1d(images[pair.first.at], images[pair.second.at])
    first, second = (replace(side, at=side.at[np.isin(images[side.at], both)]) for side in (pair.first, pair.second))
    return replace(pair, first=first, second=second)


def compared_by(table: TableSpec, parts: Sequence[str]) -> str:
    """What a difference of two runs in these parts of their definition is one of; empty where they may not be compared.

    Only the study that makes images is defined by their model and prompt. Elsewhere a model is the instrument, which
    is what is compared in the tables that say so; how it prepares images is its own.
    """
    if not parts:
        return "runs"
    if table.instrument:
        return "models" if set(parts) <= {*table.instrument, PREPARED} else ""
    if table.study != "generation":
        return ""
    if "model" in parts and set(parts) <= set(OF_MODEL):
        return "models"
    return "prompts" if set(parts) <= set(OF_PROMPT) else ""
