"""System checks: half-made configuration is named, and a whole one is left in peace."""

from pathlib import Path

import pytest
from pytest_django import Settings

from tests.wwd.processes import environment, manage
from wwd.checks import check_bucket, check_exposure, check_hosts_agree, unknown_variables

pytestmark = pytest.mark.embedded


@pytest.fixture(autouse=True)
def whole(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The embedded default: nothing to warn of."""
    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "STORAGE_EMULATOR_HOST"):
        monkeypatch.delenv(name, raising=False)
    settings.REDIS_URL = settings.GS_BUCKET_NAME = ""
    settings.GS_IDENTITY = "file"
    settings.DEBUG = settings.BEHIND_TLS_PROXY = False
    settings.SECRET_KEY_GENERATED = True
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
    settings.DATABASE_VENDOR = "sqlite3"


def found() -> set[str]:
    messages = [*check_hosts_agree(), *check_bucket(), *check_exposure()]
    assert all(message.hint for message in messages)
    return {str(message.id) for message in messages}


def test_the_embedded_default_has_nothing_to_warn_of() -> None:
    assert found() == set()


def test_redis_beside_sqlite_is_noticed(settings: Settings) -> None:
    settings.REDIS_URL, settings.SECRET_KEY_GENERATED = "redis://h/0", False
    assert found() == {"wwd.W002"}


@pytest.mark.parametrize("service", ["redis", "bucket", "database"])
def test_a_key_made_on_this_host_is_noticed_where_other_hosts_may_take_part(settings: Settings, service: str) -> None:
    settings.DATABASE_VENDOR = "sqlite3" if service == "bucket" else "postgresql"
    settings.REDIS_URL = "redis://h/0" if service == "redis" else ""
    settings.GS_BUCKET_NAME, settings.GS_IDENTITY = ("b" if service == "bucket" else ""), "machine"
    assert found() == {"wwd.W003"}
    settings.SECRET_KEY_GENERATED = False
    assert found() == set()


def test_a_bucket_without_credentials_stops_the_start(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.GS_BUCKET_NAME, settings.SECRET_KEY_GENERATED = "b", False
    assert found() == {"wwd.E001"}
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "gone.json"))
    assert found() == {"wwd.E001"}
    (tmp_path / "gone.json").write_text("{}")
    assert found() == set()


def test_credentials_without_a_bucket_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "key.json")
    assert found() == {"wwd.W004"}


def test_files_that_go_to_an_emulator_are_noticed(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.GS_BUCKET_NAME, settings.SECRET_KEY_GENERATED = "b", False
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", "http://localhost:1")
    assert found() == {"wwd.W005"}


def test_debugging_behind_a_public_proxy_stops_the_start(settings: Settings) -> None:
    settings.DEBUG = settings.BEHIND_TLS_PROXY = True
    settings.ALLOWED_HOSTS = ["dishes.example"]
    assert found() == {"wwd.E002"}


def test_accepting_every_host_name_is_noticed(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    assert found() == {"wwd.W006"}


def test_a_proxy_without_a_public_name_is_noticed(settings: Settings) -> None:
    settings.BEHIND_TLS_PROXY = True
    assert found() == {"wwd.W007"}


def test_an_unknown_variable_is_named_with_the_near_one() -> None:
    warnings = unknown_variables(
        ["WWD_ALOWED_HOSTS", "WWD_DEBUG", "WWD_DEBUG_FILE"], {"WWD_ALLOWED_HOSTS", "WWD_DEBUG"}
    )
    assert [warning.msg for warning in warnings] == ["Nothing reads the variable WWD_ALOWED_HOSTS."]
    assert warnings[0].hint == "Did you mean WWD_ALLOWED_HOSTS?"


def test_a_variable_near_to_none_points_to_the_list() -> None:
    [warning] = unknown_variables(["WWD_QQQQQQQQQ"], {"WWD_DEBUG"})
    assert warning.hint == "docs/operations/settings.md lists all variables."


def test_checks_are_part_of_the_command(tmp_path: Path) -> None:
    done = manage(environment(tmp_path, WWD_DEBUGG="1", REDIS_URL="redis://127.0.0.1:1/0"), "check")
    assert done.returncode == 0
    assert {code for code in ("wwd.W001", "wwd.W002", "wwd.W003") if code in done.stderr} == {
        "wwd.W001",
        "wwd.W002",
        "wwd.W003",
    }
    done = manage(environment(tmp_path, GS_BUCKET_NAME="b"), "check")
    assert done.returncode != 0
    assert "GOOGLE_APPLICATION_CREDENTIALS" in done.stderr


def test_a_site_as_described_passes_the_check_before_deployment(tmp_path: Path) -> None:
    described = environment(
        tmp_path, WWD_ALLOWED_HOSTS="dishes.example", WWD_BEHIND_TLS_PROXY="yes", SECRET_KEY="0123456789abcdefghij" * 3
    )
    before = manage(described, "check", "--deploy", "--fail-level", "WARNING")
    assert "No static files were collected" in before.stderr
    assert manage(described, "collectstatic", "--no-input").returncode == 0
    after = manage(described, "check", "--deploy", "--fail-level", "WARNING")
    assert after.returncode == 0, after.stderr
