"""What each backend is told by a model's parameters: names, kinds, ranges and defaults, declared here and nowhere else.

Saving a model checks it by this table, in the admin and by command; loading one reads its values through it. A
parameter that nobody declared is refused with the near name: a typing error would otherwise be a silent default.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evaluation.contracts.backend import BackendError
from evaluation.contracts.study import ModelData
from evaluation.suggestions import describe_unknown_name

Kind = Literal["whole", "number", "text", "truth", "texts", "object"]
PRECISIONS = ("fp32", "bf16", "fp16")
COMMIT = re.compile(r"[0-9a-f]{40}")
KEY_NAME = r"[A-Z][A-Z0-9_]*_API_KEY"
WORDS: Mapping[str, str] = {
    "whole": "a whole number",
    "number": "a number",
    "text": "a text",
    "truth": "true or false",
    "texts": "a list of texts",
    "object": "an object with fields",
}


@dataclass(frozen=True)
class Parameter:
    """One parameter. `least` and `most` bound numbers; `choices` or `pattern` (`words` says it) bound texts."""

    name: str
    kind: Kind
    default: Any = None
    required: bool = False
    least: float = float("-inf")
    most: float = float("inf")
    choices: tuple[Any, ...] = ()
    pattern: str = ""
    words: str = ""

    def problem(self, value: Any) -> str:
        """A sentence about what is wrong with `value`; empty where it can be used."""
        if self.choices and isinstance(value, str) and value not in self.choices:
            return describe_unknown_name(f"{self.name} named", value, self.choices)
        if self.fits(value):
            return ""
        return f"The parameter {self.name} is {json.dumps(value, ensure_ascii=False)}. Accepted: {self.accepted()}."

    def fits(self, value: Any) -> bool:
        if self.choices:
            return any(value is choice or (isinstance(value, str) and value == choice) for choice in self.choices)
        if self.kind in ("whole", "number"):
            return is_number(value) and self.least <= value <= self.most and (self.kind == "number" or value % 1 == 0)
        if self.kind == "text":
            return isinstance(value, str) and (not self.pattern or re.fullmatch(self.pattern, value) is not None)
        if self.kind == "texts":
            return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
        return isinstance(value, bool if self.kind == "truth" else Mapping)

    def accepted(self) -> str:
        if self.choices:
            return " or ".join(json.dumps(choice) for choice in self.choices)
        if self.words:
            return self.words
        bounds = [(self.least, "from"), (self.most, "to")]
        given = [f"{word} {bound:g}" for bound, word in bounds if abs(bound) != float("inf")]
        if given == [f"from {self.least:g}"]:
            given = [f"of at least {self.least:g}"]
        return " ".join([WORDS[self.kind], *given])

    def value(self, given: Mapping[str, Any]) -> Any:
        """What the backend works with: the value as its kind, or the default."""
        found = given.get(self.name, self.default)
        if found is None or self.kind not in ("whole", "number"):
            return found
        return int(found) if self.kind == "whole" else float(found)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) != float("inf")


def build_integer_parameter(
    name: str, default: int | None = None, *, least: int = 1, most: float = float("inf")
) -> Parameter:
    return Parameter(name, "whole", default, least=least, most=most)


QUEUE = Parameter("queue", "text", "cpu", choices=("cpu", "gpu", "api"))
PRECISION = Parameter("precision", "text", "fp32", choices=PRECISIONS)
SPREAD = Parameter("spread", "truth", False)
OPTIONS = Parameter("options", "object")
SEEDS = Parameter("seeds", "truth", True)
MOST_CHARACTERS = build_integer_parameter("max_characters")
# Of every provider that speaks the OpenAI protocol; `evaluation/backends/provider.py` reads them.
PROVIDER = (
    Parameter("base_url", "text"),
    Parameter("key", "text", pattern=KEY_NAME, words="the name of a variable that ends in _API_KEY"),
    Parameter("per_minute", "number", least=0),
    Parameter("timeout", "number", least=0.001),
    Parameter("patience", "number", least=0),
    Parameter("refusal_codes", "texts"),
    OPTIONS,
)
DRAWN = (SEEDS, MOST_CHARACTERS)
# Of every vision-language model on own cards; `evaluation/backends/vlm/answering.py` reads them.
ANSWERED = (
    PRECISION,
    build_integer_parameter("most_new_tokens", 32),
    build_integer_parameter("tokens_at_once", 4096),
    build_integer_parameter("images_at_once", 8, most=64),
    SPREAD,
)

DECLARED: Mapping[tuple[str, str], tuple[Parameter, ...]] = {
    ("image_generator", "diffusers"): (
        Parameter("steps", "whole", required=True, least=1, most=1000),
        Parameter("guidance", "number", required=True, least=0, most=1000),
        Parameter("size", "whole", required=True, least=1, most=8192),
        Parameter("scheduler", "text", ""),
        build_integer_parameter("at_once", 8),
        build_integer_parameter("prompt_tokens", most=4096),
        PRECISION,
        Parameter("seeds", "truth", True, choices=(True,)),
    ),
    ("image_generator", "openai"): (*PROVIDER, *DRAWN, build_integer_parameter("n", 1)),
    ("image_generator", "sketch"): (build_integer_parameter("size", least=16, most=8192), *DRAWN),
    ("encoder", "clip"): (PRECISION, build_integer_parameter("at_once", 256)),
    ("encoder", "standin"): (),
    ("encoder", "stored"): (Parameter("preprocessing", "text", ""),),
    ("features", "pixels"): (build_integer_parameter("edge", most=8192),),
    ("vqa", "llava-next"): ANSWERED,
    ("vqa", "transformers"): ANSWERED,
    ("vqa", "openai"): PROVIDER,
    ("vqa", "standin"): (),
    ("chat", "openai"): PROVIDER,
    ("chat", "standin"): (),
    ("chat", "transformers"): (
        PRECISION,
        Parameter("temperature", "number", 1.0, least=0, most=100),
        Parameter("top_p", "number", 1.0, least=0, most=1),
        build_integer_parameter("most_new_tokens", 256),
        build_integer_parameter("at_once", 16),
        SPREAD,
    ),
}
# Made elsewhere: their results enter by import, nothing is ever executed, and parameters are notes.
IMPORT_ONLY = ("folder", "import")
# These load weights, from a folder or from the Hub.
LOCAL = ("diffusers", "clip", "llava-next", "transformers")


def list_declared_parameters(role: str, backend: str) -> tuple[Parameter, ...]:
    """What a backend may be told; KeyError for one that is not in the table."""
    return (QUEUE, *DECLARED[role, backend])


def backend_problem(role: str, backend: str) -> str:
    """A sentence with the near names where the role has no such backend; else empty."""
    known = [name for of_role, name in DECLARED if of_role == role]
    if backend in IMPORT_ONLY or backend in known:
        return ""
    return describe_unknown_name(f"backend for the role {role} named", backend, [*known, *IMPORT_ONLY])


def parameter_problems(role: str, backend: str, given: Any) -> list[str]:
    """A sentence for each parameter that the backend does not know, cannot use, or lacks."""
    if not isinstance(given, Mapping):
        return ['The parameters are an object with fields, such as {"steps": 50}.']
    if backend in IMPORT_ONLY or backend_problem(role, backend):
        return []
    return list(_problems({each.name: each for each in list_declared_parameters(role, backend)}, backend, given))


def _problems(known: Mapping[str, Parameter], backend: str, given: Mapping[str, Any]) -> Iterator[str]:
    for name, value in given.items():
        if name not in known:
            yield describe_unknown_name(f"parameter of the backend {backend} named", str(name), known)
        elif problem := known[name].problem(value):
            yield problem
    for name, each in known.items():
        if each.required and name not in given:
            yield f"The parameter {name} is missing. Accepted: {each.accepted()}."


def source_problem(backend: str, identifier: str, revision: str) -> str:
    """A sentence where weights could change under the same row: neither a folder nor a commit; else empty."""
    if backend not in LOCAL or identifier.startswith(("/", "~", ".")) or COMMIT.fullmatch(revision):
        return ""
    if identifier and Path(identifier).is_dir():
        return ""
    return (
        f"The revision of {identifier} is not a commit of 40 hexadecimal digits. "
        "Names of branches move, and results would not say which weights made them."
    )


def resolve_parameter_values(model: ModelData) -> dict[str, Any]:
    """Every declared parameter of the model's backend, with its default where none is given. Raises BackendError."""
    if problems := parameter_problems(model.role, model.backend, model.parameters):
        raise BackendError(f"{model.slug}: {' '.join(problems)}")
    return {each.name: each.value(model.parameters) for each in list_declared_parameters(model.role, model.backend)}
