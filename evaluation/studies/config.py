"""Configurations of studies: from JSON to the study's frozen dataclass, with sentences about what is wrong."""

from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields
from typing import Any, get_origin, get_type_hints

from evaluation.contracts.study import ConfigError, Study
from evaluation.studies import presets
from evaluation.suggestions import describe_unknown_name

KINDS: Mapping[type, tuple[tuple[type, ...], str]] = {
    str: ((str,), "a text"),
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    Mapping: ((Mapping,), "an object with fields"),
    dict: ((Mapping,), "an object with fields"),
    tuple: ((list, tuple), "a list"),
    list: ((list, tuple), "a list"),
}


def parse_config(study: Study, given: Any) -> Any:
    """The study's Config, of a preset where one is named. Raises ConfigError that names the field."""
    if not isinstance(given, Mapping):
        raise ConfigError("The configuration is an object with fields, such as {…}.")
    given = presets.apply_preset(study.slug, given)
    known = {field.name: field for field in fields(study.Config)}
    for name in given:
        if name not in known:
            raise ConfigError(describe_unknown_name(f"field of study {study.slug!r} named", str(name), known))
    for name, field in known.items():
        if name not in given and field.default is MISSING and field.default_factory is MISSING:
            raise ConfigError(f"{name} is missing. The study {study.slug!r} needs it.")
    hints = get_type_hints(study.Config)
    values = {name: check_field_value(name, hints[name], value) for name, value in given.items()}
    try:
        return study.Config(**values)
    except (TypeError, ValueError) as error:
        raise ConfigError(str(error)) from error


def check_field_value(name: str, hint: Any, value: Any) -> Any:
    """`value` where it fits the annotation; lists become tuples where the annotation says so."""
    kind = get_origin(hint) or hint
    if kind not in KINDS:
        return value
    accepted, words = KINDS[kind]
    fits = isinstance(value, accepted) and (kind is bool or not isinstance(value, bool))
    if not fits:
        raise ConfigError(f"{name} is {value!r}. Accepted: {words}.")
    return tuple(value) if kind is tuple else value


def as_json(config: Any) -> dict[str, Any]:
    """The configuration with every default written out, as it is stored with the run."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(config).items()}
