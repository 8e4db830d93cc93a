"""Configurations of studies: from JSON to the study's model, with sentences about what is wrong."""

from collections.abc import Mapping
from typing import Any

from evaluation.contracts.config_check import check_fields
from evaluation.contracts.study import ConfigError, Study, StudyConfig
from evaluation.studies import presets


def parse_config(study: Study, given: Any) -> Any:
    """The study's Config, of a preset where one is named. Raises ConfigError that names each faulty field."""
    if not isinstance(given, Mapping):
        raise ConfigError("The configuration is an object with fields, such as {…}.")
    return check_fields(study.Config, presets.apply_preset(study.slug, given), owner=f"study {study.slug!r}")


def as_json(config: StudyConfig) -> dict[str, Any]:
    """The configuration with every default written out, as it is stored with the run."""
    return config.model_dump(mode="json")
