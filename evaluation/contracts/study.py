"""The one shape of every study. A study plans units, executes a batch of them, and summarises outcomes into tables.

Studies never touch the database: the runner hands them plain data and stores what they return.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo

from evaluation.metrics.observations import Observations
from evaluation.metrics.tidy import TidyTable
from evaluation.readers.image_decode import Pixels

Vector = npt.NDArray[np.float32]
# In a payload: labels of the unit itself, dimension → value, such as {"question_language": "yor"}.
UNIT_LABELS = "labels"
FinalState = Literal["done", "refused", "filtered", "empty", "failed"]


class ConfigError(ValueError):
    """A study's configuration cannot be used; the text says which field and what is accepted."""


class StudyConfig(BaseModel):
    """Base of the configurations of studies, and of objects inside them. `evaluation.studies.config` makes them.

    Types are strict: "3" and true are no numbers. A validator raises ValueError with the words for what is accepted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


@dataclass(frozen=True)
class RunOf:
    """Marks a text of a Config that names a run of one of these studies; forms and chains then offer such runs.

    `images: Annotated[str, RunOf(("generation",))]`
    """

    studies: tuple[str, ...]


@dataclass(frozen=True)
class ModelOf:
    """Marks a text of a Config that names a model of one of these roles, where the study needs several roles."""

    roles: tuple[str, ...]


Mark = TypeVar("Mark", RunOf, ModelOf)


def find_mark(field: FieldInfo, kind: type[Mark]) -> Mark | None:
    """What a field of a Config is marked by, if it is."""
    return next((each for each in field.metadata if isinstance(each, kind)), None)


@dataclass(frozen=True)
class SubjectData:
    """A subject as a study sees it. `labels`: dimension ("country", "continent", "language") → values.

    `key` is the subject's name for ever, in every database: seeds derive from it.
    """

    id: int
    kind: str
    name: str
    labels: Mapping[str, tuple[str, ...]]
    demonstration: bool = False
    key: str = ""


@dataclass(frozen=True)
class ModelData:
    id: int
    slug: str
    role: str
    backend: str
    identifier: str
    revision: str
    parameters: Mapping[str, Any]
    demonstration: bool = False


@dataclass(frozen=True)
class PromptData:
    id: int
    slug: str
    version: str
    text: str


@dataclass(frozen=True)
class DescriptorData:
    """`groups`: group → {"positive": words, "negative": words}; `prompt` holds {descriptor}."""

    id: int
    slug: str
    version: str
    groups: Mapping[str, Mapping[str, Sequence[str]]]
    prompt: str


@dataclass(frozen=True)
class QuestionsData:
    """`questions`: `question_id`, `text`, `choices` (letter → option; empty for a free question) of each."""

    id: int
    slug: str
    version: str
    questions: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class ImageData:
    """A held image; `photograph`: by a camera, whatever its model is called.

    Anyone who executes a unit reads its bytes through `Work.image_bytes`.
    """

    id: int
    subject: SubjectData
    model_slug: str
    seed: int | None
    sample: int | None
    sha256: str
    photograph: bool = False


@dataclass(frozen=True)
class DishData:
    """What its contributor says about a dish: countries as written, codes of App. B.4, utensils and ingredients."""

    countries: tuple[str, ...]
    time_of_day: tuple[str, ...]
    kinds: tuple[str, ...]
    utensils: str
    ingredients: str


@dataclass(frozen=True)
class AnswerData:
    """A text that a unit of another run gave, to be asked about. `model` is the slug of anyone who answered."""

    key: str
    subject: SubjectData
    model: str
    payload: Mapping[str, Any]
    text: str


@dataclass(frozen=True)
class VectorData:
    """A vector that a unit of an earlier run gave: of an image (`image_id`) or of a text, by `model` (slug)."""

    key: str
    subject: SubjectData | None
    model: str
    preprocessing: str
    vector: Vector
    image_id: int | None = None
    text: str = ""


@dataclass(frozen=True)
class NumbersData:
    """The numbers that a unit of an earlier run gave, by `model` (slug), and the image that they are about, if any."""

    key: str
    subject: SubjectData | None
    model: str
    payload: Mapping[str, Any]
    numbers: Mapping[str, float]
    image_id: int | None = None


class Catalogue(Protocol):
    """What a plan may ask for. Everything comes in a stable order, so that the same config gives the same keys.

    Unknown names raise ConfigError and name the near ones.
    """

    def subjects(self, selection: Mapping[str, Any]) -> Sequence[SubjectData]: ...

    def model(self, slug: str) -> ModelData: ...

    def prompt(self, slug: str, version: str = "") -> PromptData: ...

    def descriptors(self, slug: str, version: str = "") -> DescriptorData: ...

    def questions(self, slug: str, version: str = "") -> QuestionsData: ...

    def images(self, run: str) -> Sequence[ImageData]: ...

    def dishes(self, subjects: Sequence[SubjectData]) -> Mapping[int, DishData]: ...

    def answers(self, run: str) -> Sequence[AnswerData]: ...

    def vectors(self, run: str) -> Iterator[VectorData]: ...

    def numbers(self, run: str) -> Iterator[NumbersData]: ...


@dataclass(frozen=True)
class UnitPlan:
    """One unit to be. `key` is unique in the run; `affinity` groups what one worker should do together.

    Four names in `payload` mean something outside of the study: `image` (id of a `GeneratedImage`, whose bytes then
    come with the work), `text` (a text to be embedded; with either, a vector that is stored already comes too),
    `vectors` (slug of a run, whose vectors then come with the work: for what is fitted to many), and `labels`
    (`UNIT_LABELS`: labels of the unit, beside those of its subject).
    """

    key: str
    model: ModelData
    subject: SubjectData | None
    payload: Mapping[str, Any]
    affinity: str


@dataclass(frozen=True)
class Plan:
    """`definition`: what must be equal for results to be compared (prompt hash, model revision, precision)."""

    units: Iterable[UnitPlan]
    definition: Mapping[str, Any]


@dataclass(frozen=True)
class Work:
    """A leased unit with what is needed to execute it.

    `stored_vector` where an embedding exists already: then `image_bytes` may be None, nobody read the file.
    `vectors`: those of the run that `vectors` in the payload names.
    """

    key: str
    subject: SubjectData | None
    model: ModelData
    payload: Mapping[str, Any]
    image_bytes: bytes | None = None
    stored_vector: Vector | None = None
    vectors: Sequence[VectorData] = ()


@dataclass(frozen=True)
class ImageResult:
    """A made image and how it came about. Exactly one of `seed` and `sample` is set.

    `content` is empty where there is no image but a record of it: refused, filtered, or made elsewhere and not held.
    `pixels`, (height, width, 3), where the backend has them: exactly what `content` decodes to. They are never stored.
    """

    content: bytes
    media_type: str
    width: int
    height: int
    prompt_sent: str
    prompt_revised: str = ""
    prompt_id: int | None = None
    seed: int | None = None
    sample: int | None = None
    pixels: Pixels | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class ImageVector:
    """A vector of the image that a result holds, by the encoder with the id `model`, as it gave it."""

    model: int
    preprocessing: str
    vector: Vector


@dataclass(frozen=True)
class VectorResult:
    """A vector of an image (`image_id`) or of a text (`text`), as the encoder gave it."""

    vector: Vector
    preprocessing: str = ""
    image_id: int | None = None
    text: str = ""


@dataclass(frozen=True)
class Result:
    """What executing one unit gave: an image, a vector, or text and numbers; or why there is none.

    `asked` is False where the study decided without asking the model: that says nothing about the model. `encoded`:
    vectors of the image that the runner adds for runs that wait for this one; no study gives any.
    """

    key: str
    state: FinalState = "done"
    text: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)
    image: ImageResult | None = None
    vector: VectorResult | None = None
    reason: str = ""
    circumstances: Mapping[str, Any] = field(default_factory=dict)
    asked: bool = True
    encoded: tuple[ImageVector, ...] = ()


@dataclass(frozen=True)
class OutcomeData:
    """A stored outcome with the frozen labels of its subject and those of its unit, as `summarise` sees it.

    `cluster` is what may be resampled independently, by `Study.cluster_of`. `subject_kind` and `subject_key` are
    empty where the unit is about no subject. `image_model` is the model that made the image, for outcomes about
    images, and `photograph` says that it is a camera; `prompt` is the slug of the prompt that the image was, or was
    to be, made by: photographs have none.
    """

    key: str
    state: FinalState
    model: str
    subject: str
    cluster: str
    labels: Mapping[str, tuple[str, ...]]
    payload: Mapping[str, Any]
    text: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)
    image_model: str = ""
    image_id: int | None = None
    vector: Vector | None = None
    reason: str = ""
    unit_id: int = 0
    run_id: int = 0
    prompt: str = ""
    circumstances: Mapping[str, Any] = field(default_factory=dict)
    photograph: bool = False
    subject_kind: str = ""
    subject_key: str = ""


class Study(ABC):
    """Base of all studies; see docs/adding-a-study.md."""

    slug: ClassVar[str]
    title: ClassVar[str]
    source: ClassVar[str]
    version: ClassVar[str]
    needs: ClassVar[tuple[str, ...]]
    Config: ClassVar[type[StudyConfig]]
    tables: ClassVar[tuple[str, ...]]
    batch_size: ClassVar[int] = 16

    @abstractmethod
    def plan(self, config: Any, catalogue: Catalogue) -> Plan:
        """The units of `config`. Same config and catalogue → same keys. Raises ConfigError."""

    @abstractmethod
    def execute(self, units: Sequence[Work], backend: Any) -> Iterator[Result]:
        """One result per unit, any order. May raise: the runner then retries unit by unit."""

    @abstractmethod
    def summarise(self, table: str, outcomes: Iterable[OutcomeData], config: Any) -> TidyTable:
        """The table named `<slug>.<table>`; pure, runs on a host without torch.

        `config`: the run's, as a `Config`. That of a run made elsewhere, or by an earlier version, is not checked: it
        has the fields that are stored, and defaults for others that have one.
        """

    def list_encoders(self, config: Any, images: str) -> Sequence[str]:
        """Slugs of the encoders whose vectors of the images of the run `images` the study asks for.

        A worker that draws them has them encoded at once, if it can.
        """
        return ()

    def observe(self, table: str, outcomes: Iterable[OutcomeData], config: Any) -> Observations | None:
        """The observations that the numbers of the table are means of; None where they are no means."""
        return None

    def cluster_of(self, outcome: OutcomeData) -> str:
        """What may be resampled independently: the name of the cluster that the outcome belongs to.

        By default, as `outcome.cluster` says it: the dish; for a place, and where there is no subject, the image, else
        the unit; for any other subject the subject itself. The same in every run, so that runs can be paired.
        """
        return outcome.cluster
