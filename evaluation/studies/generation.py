"""Generation (World Wide recipe §3, I.4): images of dishes by name, and of places without naming a dish.

Refusals, filtered images and rewritten prompts are results, distinguished and counted.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import Field

from evaluation.contracts.backend import ImageGenerator, ImageRequest
from evaluation.contracts.study import (
    Catalogue,
    ConfigError,
    ModelData,
    OutcomeData,
    Plan,
    PromptData,
    Result,
    Study,
    StudyConfig,
    SubjectData,
    UnitPlan,
    Work,
)
from evaluation.contracts.subjects import Subjects
from evaluation.contracts.table import TableSpec
from evaluation.metrics.observations import Observations
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.readers import image_quality
from evaluation.readers.image_decode import ImageError
from evaluation.studies import prompts
from evaluation.studies.observe import of_outcomes
from evaluation.suggestions import describe_unknown_name

MOST_IMAGES = 1000
PLACEHOLDER = re.compile(r"\{(\w*)\}")
# Parameters of a model that say how it is asked, not what: circumstances, told by each outcome.
HOW = ("queue", "at_once", "n", "per_minute", "timeout", "patience", "key")
STATES = ("done", "refused", "filtered", "empty", "failed")

COUNTS = TableSpec(
    name="generation.counts",
    title="Images made, refused, held back and failed",
    source="World Wide recipe §3, I.4",
    version="2",
    columns=("country", "model"),
    metrics={
        "done": "Images that were made; n is the number that was asked for.",
        "refused": "Requests that the provider refused.",
        "filtered": "Images that a safety filter held back.",
        "empty": "Requests that gave nothing, or an image that is black, flat or blurred.",
        "failed": "Requests that failed for another reason.",
    },
    filters=("run", "country", "model"),
    study="generation",
    observed=STATES,
    worse={state: "low" if state == "done" else "high" for state in STATES},
)


class GenerationConfig(StudyConfig):
    """`prompt_version` empty: ours that was added last.

    `allow_long_prompts`: prompts that the model does not read to their end are sent all the same, and marked.
    """

    model: str
    subjects: Subjects = Field(default_factory=lambda: {"kind": "dish"})
    prompt: str = "generation-specific"
    prompt_version: str = ""
    images_per_subject: int = Field(5, ge=1, le=MOST_IMAGES)
    seed: int = Field(0, ge=0, le=2**31 - 1)
    allow_long_prompts: bool = False


class Generation(Study):
    slug: ClassVar[str] = "generation"
    title: ClassVar[str] = "Generation of images"
    source: ClassVar[str] = "World Wide recipe §3, I.4"
    version: ClassVar[str] = "1"
    needs: ClassVar[tuple[str, ...]] = ("image_generator",)
    Config: ClassVar[type[StudyConfig]] = GenerationConfig
    tables: ClassVar[tuple[str, ...]] = ("counts",)
    batch_size: ClassVar[int] = 10

    def plan(self, config: GenerationConfig, catalogue: Catalogue) -> Plan:
        """`images_per_subject` images of every subject. The images of one subject stay together."""
        model = catalogue.model(config.model)
        if model.role not in self.needs:
            raise ConfigError(f"model: {model.slug} makes no images; it has the role {model.role}.")
        prompt = catalogue.prompt(config.prompt, config.prompt_version)
        subjects = catalogue.subjects(config.subjects)
        if not subjects:
            raise ConfigError("subjects: nothing is selected. Are there accepted dishes of these countries?")
        for subject in subjects[:1]:
            fill_prompt(prompt, subject)
        return Plan(units_of(config, model, prompt, subjects), build_generation_definition(config, model, prompt))

    def execute(self, units: Sequence[Work], backend: ImageGenerator) -> Iterator[Result]:
        """Images as the backend gives them; long prompts are not sent, useless images are held back."""
        lengths = {unit.key: prompts.measure_prompt_length(unit, backend) for unit in units}
        for key, found in lengths.items():
            if found.reason:
                yield Result(key, "failed", reason=found.reason, circumstances=found.circumstances, asked=False)
        sent = {unit.key: unit for unit in units if not lengths[unit.key].reason}
        for result in backend.generate([build_image_request(unit) for unit in sent.values()]) if sent else ():
            yield examine_result(result, sent[result.key], lengths[result.key].circumstances)

    def summarise(self, table: str, outcomes: Iterable[OutcomeData], config: Any) -> TidyTable:
        """`generation.counts`: how many images per country and model came about, and what became of the others."""
        if table != "counts":
            raise ValueError(f"generation has no table {table!r}")
        states: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        clusters: dict[tuple[str, str], set[str]] = defaultdict(set)
        for outcome in outcomes:
            for country in outcome.labels.get("country", ()):
                states[country, outcome.model][outcome.state] += 1
                clusters[country, outcome.model].add(outcome.cluster)
        rows = tuple(
            TidyRow(
                {"country": country, "model": model},
                state,
                Estimate(found[state], found.total(), len(clusters[country, model]), method="count"),
            )
            for (country, model), found in sorted(states.items())
            for state in STATES
        )
        notes = ("A dish of several countries counts in each of them.",)
        return TidyTable(COUNTS.name, COUNTS.version, COUNTS.columns, rows, notes)

    def cluster_of(self, outcome: OutcomeData) -> str:
        """All that was asked for one subject, whether an image came or not: a place too is one."""
        return outcome.cluster if outcome.cluster.startswith("dish:") else f"subject:{outcome.subject_key}"

    def observe(self, table: str, outcomes: Iterable[OutcomeData], config: Any) -> Observations | None:
        """What became of each image that was asked for, 1 or 0: counts as shares of these."""
        rows = (replace(row, image_model=row.model) for row in outcomes)
        return of_outcomes(rows, lambda row: {state: float(row.state == state) for state in STATES}, COUNTS)


def units_of(
    config: GenerationConfig, model: ModelData, prompt: PromptData, subjects: Iterable[SubjectData]
) -> Iterator[UnitPlan]:
    seeded = bool(model.parameters.get("seeds", True))
    long = {prompts.LONG: True} if config.allow_long_prompts else {}
    for subject in subjects:
        text = fill_prompt(prompt, subject)
        for number in range(config.images_per_subject):
            place = {"seed": derived_seed(config.seed, subject.key, number)} if seeded else {"sample": number}
            payload = {"prompt": text, "prompt_id": prompt.id, **place, **long}
            name = shorten_key(subject.key)
            yield UnitPlan(f"{name}/{number}", model, subject, payload, name)


def examine_result(result: Result, unit: Work, notes: Mapping[str, Any]) -> Result:
    """The result with what is noted about the prompt; an image that shows nothing is held back as empty."""
    result = replace(result, circumstances={**notes, **result.circumstances})
    image = result.image
    if image is None:
        return result
    if image.prompt_revised and unit.subject:
        numbers = prompts.check_preserved_terms(image.prompt_revised, unit.subject)
        result = replace(result, numbers={**result.numbers, **numbers})
    if result.state != "done" or not image.content:
        return result
    try:
        found = image_quality.assess_image_quality(image.content)
    except ImageError as error:
        return replace(result, state="failed", image=None, reason=str(error))
    image = replace(image, media_type=found.media_type, width=found.width, height=found.height)
    return replace(result, state="empty" if found.flaw else "done", image=image, reason=found.flaw)


def shorten_key(key: str) -> str:
    """The key, or its hash where it is too long for a unit."""
    return key if len(key) <= 80 else hashlib.sha256(key.encode()).hexdigest()


def build_generation_definition(config: GenerationConfig, model: ModelData, prompt: PromptData) -> dict[str, Any]:
    return {
        "prompt": f"{prompt.slug} {prompt.version}",
        "prompt_sha256": hashlib.sha256(prompt.text.encode()).hexdigest(),
        "model": model.identifier,
        "revision": model.revision,
        "parameters": {name: value for name, value in model.parameters.items() if name not in HOW},
        **({"long_prompts": "cut"} if config.allow_long_prompts else {}),
    }


def derived_seed(seed: int, key: str, number: int) -> int:
    """The seed of one image, 0 to 2**31 - 1: the same for the same configuration, on every machine."""
    digest = hashlib.sha256(f"{seed}\n{key}\n{number}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def fill_prompt(prompt: PromptData, subject: SubjectData) -> str:
    """The prompt with the subject's own words in it. Raises ConfigError for a placeholder that it cannot fill."""
    written = subject.labels.get("written_country") or subject.labels.get("country", ())
    values = {"place": subject.name}
    if subject.kind not in ("dish", "place"):
        values = {"object": subject.name, **{name: ", ".join(held) for name, held in subject.labels.items() if held}}
    if subject.kind == "dish":
        values = {"local_name": subject.name, "countries": ", ".join(written)}
    for name in PLACEHOLDER.findall(prompt.text):
        if name not in values:
            raise ConfigError(
                f"prompt {prompt.slug} for a {subject.kind}: {describe_unknown_name('placeholder', name, values)}"
            )
    return PLACEHOLDER.sub(lambda match: values[match[1]], prompt.text)


def build_image_request(unit: Work) -> ImageRequest:
    payload = unit.payload
    return ImageRequest(
        unit.key,
        payload["prompt"],
        unit.subject.name if unit.subject else "",
        payload.get("prompt_id"),
        payload.get("seed"),
        payload.get("sample"),
    )
