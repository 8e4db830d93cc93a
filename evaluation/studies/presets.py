"""Configurations that ship with the project under a name: `{"preset": "as-published-dishes", "model": "dall-e-3"}`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.contracts.study import ConfigError
from evaluation.suggestions import describe_unknown_name

FIELD = "preset"
FOLDER = Path(__file__).resolve().parent.parent / "prompts"


def read_rows(name: str) -> list[dict[str, Any]]:
    """The rows of a file in evaluation/prompts/."""
    rows = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    assert isinstance(rows, list)
    return rows


def of_study(study: str) -> dict[str, Mapping[str, Any]]:
    """Name → configuration of every preset of the study."""
    return {row["slug"]: row["config"] for row in read_rows("presets.json") if row["study"] == study}


def apply_preset(study: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """`given` with what its preset says; what is beside the preset counts more. Raises ConfigError.

    The name itself is gone afterwards: a run stores what was asked for, word for word.
    """
    if FIELD not in given:
        return dict(given)
    known = of_study(study)
    # JSON may give a list, which no table takes as a key.
    if str(given[FIELD]) not in known:
        raise ConfigError(describe_unknown_name(f"preset of study {study!r} named", str(given[FIELD]), known))
    return {**known[str(given[FIELD])], **{name: value for name, value in given.items() if name != FIELD}}
