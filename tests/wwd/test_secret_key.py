"""A secret key that can be guessed stops the start and says what to do."""

from pathlib import Path

import pytest

from tests.wwd.processes import environment, manage, python
from wwd import settings
from wwd.base.env import EnvError
from wwd.settings import read_secret, refuse_weak

GOOD = "0123456789abcdef" * 3
WEAK = ["x", "changeme", "secret" * 10, "a" * 50, "django-insecure-0123456789abcdefghijklmnop", GOOD[:31]]


@pytest.mark.parametrize("key", WEAK)
def test_a_key_that_can_be_guessed_is_refused(key: str) -> None:
    with pytest.raises(EnvError, match="can be guessed: it needs 32 signs"):
        refuse_weak("SECRET_KEY", [GOOD, key])


def test_a_long_random_key_is_taken() -> None:
    refuse_weak("SECRET_KEY", [GOOD])


def test_processes_that_start_at_once_have_the_same_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others = list[str]()

    def start_another(_length: int) -> str:
        monkeypatch.undo()
        others.append(read_secret(tmp_path / "secret_key"))
        return GOOD

    monkeypatch.setattr(settings.secrets, "token_urlsafe", start_another)
    assert [read_secret(tmp_path / "secret_key")] == others
    assert len(others[0]) >= 50


@pytest.mark.parametrize("name", ["SECRET_KEY", "SECRET_KEY_FALLBACKS"])
def test_the_start_ends_with_a_sentence_and_shows_no_key(tmp_path: Path, name: str) -> None:
    done = manage(environment(tmp_path, **{name: "hunter2"}), "check")
    assert done.returncode != 0
    assert f"{name} can be guessed" in done.stderr and "hunter2" not in done.stderr


def test_a_machine_of_ones_own_with_debug_on_may_use_any_key(tmp_path: Path) -> None:
    done = python(
        ["-c", "import wwd.settings as s; print(s.SECRET_KEY)"], environment(tmp_path, SECRET_KEY="x", WWD_DEBUG="yes")
    )
    assert done.stdout.strip() == "x"


def test_what_the_project_ships_names_no_key() -> None:
    root = Path(__file__).resolve().parent.parent.parent
    for name in ("Dockerfile", "compose.yml", "docs/operations/settings.md", "docs/operations/install.md"):
        assert "SECRET_KEY=" not in (root / name).read_text(), name
