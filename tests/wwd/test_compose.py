"""Containers: compose.yml, the Dockerfile and the proxy stay in step with the settings."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.wwd.processes import ROOT
from wwd import settings

DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if "build" in service}
# Read by the images of others.
FOREIGN = {"postgres": {"POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD_FILE"}}


def targets() -> set[str]:
    return set(re.findall(r"^FROM \S+ AS (\w+)", DOCKERFILE, re.MULTILINE))


def queues(service: dict[str, Any]) -> set[str]:
    command = service.get("command", [])
    return set(command[command.index("-Q") + 1].split(",")) if "-Q" in command else set()


def test_the_described_services_are_there() -> None:
    assert set(SERVICES) == {"proxy", "migrate", "web", "worker-cpu", "worker-gpu", "postgres", "redis"}


@pytest.mark.parametrize("name", OURS)
def test_every_variable_of_a_service_is_one_that_settings_read(name: str) -> None:
    known = settings.env.known | {f"{each}_FILE" for each in settings.env.known}
    assert set(OURS[name]["environment"]) - known == set()


def test_the_images_of_others_get_only_their_own_variables() -> None:
    for name, service in SERVICES.items():
        if name not in OURS:
            assert set(service.get("environment", {})) == FOREIGN.get(name, set()), name


@pytest.mark.parametrize("name", OURS)
def test_every_service_is_built_from_a_target_that_exists(name: str) -> None:
    assert OURS[name]["build"]["target"] in targets()


def test_every_queue_has_exactly_one_kind_of_worker() -> None:
    served = [queue for service in SERVICES.values() for queue in queues(service)]
    assert sorted(served) == ["api", "cpu", "gpu"]


def test_the_worker_with_a_card_has_the_packages_for_models() -> None:
    assert queues(SERVICES["worker-gpu"]) == {"gpu"}
    assert SERVICES["worker-gpu"]["build"]["target"] == "worker"
    assert "requirements-worker.txt" in DOCKERFILE.split("AS worker")[1]
    assert "requirements-worker.txt" not in DOCKERFILE.split("AS worker")[0]


def test_every_secret_is_a_file_outside_the_image_and_used() -> None:
    given = {secret for service in SERVICES.values() for secret in service.get("secrets", [])}
    assert given == set(COMPOSE["secrets"])
    assert all(str(each["file"]).startswith("./deploy/secrets/") for each in COMPOSE["secrets"].values())
    assert "deploy/secrets" in (ROOT / ".dockerignore").read_text()
    assert "/deploy/secrets/" in (ROOT / ".gitignore").read_text()
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            if str(value).startswith("/run/secrets/"):
                assert name.endswith("_FILE")
                assert Path(value).name in service["secrets"]


def test_what_a_service_waits_for_can_say_that_it_is_there() -> None:
    for service in SERVICES.values():
        for name, need in service.get("depends_on", {}).items():
            if need["condition"] == "service_healthy":
                checked = "healthcheck" in SERVICES[name] or ("build" in SERVICES[name] and "HEALTHCHECK" in DOCKERFILE)
                assert checked, name


@pytest.mark.parametrize("target", ["web", "worker"])
def test_containers_do_not_run_as_root(target: str) -> None:
    stage = DOCKERFILE.split(f"AS {target}\n")[1].split("\nFROM ")[0]
    users = re.findall(r"^USER (\S+)", stage, re.MULTILINE)
    assert users == ["wwd"]


def test_the_web_image_checks_its_health_by_the_health_page() -> None:
    assert 'HEALTHCHECK --interval=15s --timeout=5s --start-period=20s CMD ["python", "deploy/probe.py"]' in DOCKERFILE
    assert "/healthz" in (ROOT / "deploy" / "probe.py").read_text()


def test_variables_of_the_dockerfile_are_ones_that_settings_read() -> None:
    assert set(re.findall(r"\b(WWD_[A-Z_]+)=", DOCKERFILE)) - settings.env.known == set()


def test_static_files_lie_outside_the_volume_that_outlives_the_image() -> None:
    assert re.search(r"WWD_STATIC_ROOT=/srv/static", DOCKERFILE)
    assert re.findall(r"^VOLUME (\S+)", DOCKERFILE, re.MULTILINE) == ["/var/lib/wwd"] * 2


def test_the_proxy_takes_uploads_in_whole_and_lets_our_limit_speak_first() -> None:
    text = (ROOT / "deploy" / "nginx.conf").read_text()
    assert "proxy_request_buffering on;" in text
    limit = re.search(r"client_max_body_size (\d+)m;", text)
    assert limit
    assert int(limit[1]) * 1024 * 1024 > settings.MAX_REQUEST_BYTES
    logged = re.findall(r"^log_format .*", text, re.MULTILINE)
    assert logged
    assert not [line for line in logged if re.search(r"\$(remote_addr|request_uri|uri|request|args|http_\w+)\b", line)]
