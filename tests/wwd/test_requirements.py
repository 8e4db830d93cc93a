"""Requirements: everything pinned, nothing missing, so that two installations are the same."""

import re
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.wwd.processes import ROOT

FILES = ("requirements.txt", "requirements-worker.txt", "requirements-dev.txt")
PIN = re.compile(r"^([A-Za-z0-9_.-]+)==([^\s#]+)(?:\s+# why: (.+))?$")


def lines(name: str) -> list[str]:
    return [line for line in (ROOT / name).read_text().splitlines() if line and not line.startswith("#")]


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(name: str) -> dict[str, str]:
    """Canonical name → version, of a file and of those it includes."""
    found: dict[str, str] = {}
    for line in lines(name):
        if line.startswith("-r "):
            found |= pins(line[3:])
        elif match := PIN.match(line):
            found[canonical(match[1])] = match[2]
    return found


def needed_by(package: str) -> set[str]:
    """What an installed package needs on this interpreter, extras left out."""
    needed = [Requirement(text) for text in metadata.requires(package) or []]
    return {canonical(need.name) for need in needed if need.marker is None or need.marker.evaluate({"extra": ""})}


@pytest.mark.parametrize("name", FILES)
def test_every_line_is_a_pin_or_an_included_file(name: str) -> None:
    assert [line for line in lines(name) if not PIN.match(line) and not line.startswith("-r ")] == []


@pytest.mark.parametrize("name", ["requirements-worker.txt", "requirements-dev.txt"])
def test_workers_and_tests_stand_on_what_the_web_runs(name: str) -> None:
    assert "-r requirements.txt" in lines(name)


def test_a_package_has_one_version_in_all_files() -> None:
    everywhere = [pins(name) for name in FILES]
    names = set().union(*everywhere)
    differing = [name for name in names if len({found[name] for found in everywhere if name in found}) > 1]
    assert differing == []


def test_everything_that_a_pinned_package_needs_is_pinned_too() -> None:
    """Held for what is installed here: the web's and the tests' packages."""
    found = pins("requirements-dev.txt")
    missing = {f"{name} needs {need}" for name in found for need in needed_by(name) if need not in found}
    assert missing == set()


def test_what_is_installed_here_is_what_is_pinned() -> None:
    found = pins("requirements-dev.txt")
    assert {name: metadata.version(name) for name in found} == found


def test_the_web_installs_no_models() -> None:
    heavy = {"torch", "transformers", "diffusers", "accelerate", "openai"}
    assert heavy & set(pins("requirements.txt")) == set()
    assert heavy <= set(pins("requirements-worker.txt"))


def test_the_licence_is_whole() -> None:
    text = Path(ROOT / "LICENSE").read_text()
    assert "Apache License" in text
    assert "END OF TERMS AND CONDITIONS" in text
