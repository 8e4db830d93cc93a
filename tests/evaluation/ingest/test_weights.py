"""Weights from a server of models: cut, resumed, wrong, into a cache that is read-only, and said where absent."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from evaluation import backends, runner
from evaluation.backends import weight_cache, weight_files
from evaluation.backends.weight_cache import HeldFile
from evaluation.contracts.backend import BackendError
from evaluation.contracts.study import ModelData
from evaluation.ingest import weight_server
from evaluation.ingest.weight_server import ListedFile, WeightError, WeightServer
from evaluation.models import FetchedWeights, Model
from tests.evaluation.make import make_model, make_subject
from tests.evaluation.model_server import COMMIT, NAME, ModelServer, serve_models

WEIGHTS = os.urandom(300_000)
FILES = {
    "config.json": b'{"model_type": "llava_next"}',
    "tokenizer.json": b"{}",
    "chat_template.jinja": b"{{ messages }}",
    "model.safetensors": WEIGHTS,
    "pytorch_model.bin": b"never fetched",
    "model.fp16.safetensors": b"never fetched",
    "code.py": b"never fetched",
    "onnx/model.onnx": b"never fetched",
}
WANTED = ["chat_template.jinja", "config.json", "model.safetensors", "tokenizer.json"]


@pytest.fixture
def cache(tmp_path: Path, settings: Any) -> Path:
    settings.WEIGHTS_FOLDER = tmp_path / "cache"
    return tmp_path / "cache"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serve_models(ModelServer(FILES)) as found:
        yield found


def fetch(server: ModelServer, **given: Any) -> list[HeldFile]:
    return WeightServer(server.url, local=True, **given).fetch_model(NAME, COMMIT)


def held_files() -> list[str]:
    folder = weight_cache.folder_of(NAME, COMMIT)
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def content(name: str = "model.safetensors") -> bytes:
    return (weight_cache.folder_of(NAME, COMMIT) / name).read_bytes()


def test_safetensors_and_small_files_come_with_their_checksums(cache: Path, server: ModelServer) -> None:
    held = fetch(server)
    assert sorted(each.path for each in held) == held_files() == WANTED
    assert content() == WEIGHTS
    assert weight_cache.read_manifest(NAME, COMMIT) == held
    assert weight_cache.list_wrong_files(weight_cache.folder_of(NAME, COMMIT), held, hashes=True) == []


def test_the_library_finds_what_was_fetched(cache: Path, server: ModelServer) -> None:
    huggingface_hub = pytest.importorskip("huggingface_hub")
    fetch(server)
    found = huggingface_hub.try_to_load_from_cache(NAME, "config.json", cache_dir=cache, revision=COMMIT)
    assert Path(found).read_bytes() == FILES["config.json"]


def test_what_is_there_is_not_fetched_again(cache: Path, server: ModelServer) -> None:
    held = fetch(server)
    server.asked.clear()
    assert fetch(server) == held
    assert server.asked == []


def test_a_cut_answer_goes_on_where_it_stopped(cache: Path, server: ModelServer) -> None:
    server.cut["model.safetensors"] = [100_000, 50_000]
    fetch(server)
    assert content() == WEIGHTS
    ranges = [asked for name, asked in server.asked if name == "model.safetensors"]
    assert ranges == ["", "bytes=100000-", "bytes=150000-"]


@pytest.mark.parametrize("ranges", [True, False])
def test_a_later_call_goes_on_where_an_earlier_one_gave_up(cache: Path, server: ModelServer, ranges: bool) -> None:
    server.cut["model.safetensors"] = [1000] * weight_server.TRIES
    with pytest.raises(WeightError, match="came only in part: ask again"):
        fetch(server)
    assert weight_cache.read_manifest(NAME, COMMIT) == []
    server.asked.clear()
    server.ranges = ranges
    fetch(server)
    assert content() == WEIGHTS
    assert [asked for _, asked in server.asked] == [f"bytes={1000 * weight_server.TRIES}-"]


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_content_of_another_checksum_is_refused_and_not_kept(cache: Path, server: ModelServer, name: str) -> None:
    server.wrong.add(name)
    with pytest.raises(WeightError, match=f"{name} of maker/model came with another checksum"):
        fetch(server)
    assert name not in held_files()
    assert not [each for each in held_files() if ".part" in each]
    server.wrong.clear()
    fetch(server)
    assert content(name) == FILES[name]


def test_a_file_that_changed_on_the_disk_is_fetched_anew(cache: Path, server: ModelServer) -> None:
    held = fetch(server)
    path = weight_cache.folder_of(NAME, COMMIT) / "model.safetensors"
    path.write_bytes(WEIGHTS[:-1] + bytes([WEIGHTS[-1] ^ 1]))
    found = weight_cache.list_wrong_files(path.parent, held, hashes=True)
    assert found == ["model.safetensors has another checksum than when it was fetched: fetch it again."]
    assert weight_cache.list_wrong_files(path.parent, held, hashes=False) == []
    fetch(server)
    assert content() == WEIGHTS


@contextmanager
def as_somebody() -> Iterator[None]:
    """Root may write everywhere: as a user without rights, then."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)


def test_a_read_only_cache_is_read_and_never_written(settings: Any, server: ModelServer) -> None:
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        settings.WEIGHTS_FOLDER = Path(folder) / "cache"
        held = fetch(server)
        for path in sorted(Path(folder, "cache").rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        model = ModelData(1, "seer", "vqa", "transformers", NAME, COMMIT, {})
        with as_somebody():
            assert weight_files.list_changed_files(model) == []
            assert fetch(server) == held
            server.files = {**FILES, "vocab.txt": b"new"}
            with pytest.raises(WeightError, match="cannot be written: Permission denied"):
                fetch(server)
        for path in Path(folder).rglob("*"):
            path.chmod(0o755)


def test_a_cache_that_cannot_be_made_says_so(cache: Path, server: ModelServer) -> None:
    cache.write_text("a file where the folder would be")
    with pytest.raises(WeightError, match="cannot be written"):
        fetch(server)


def test_a_token_goes_to_its_own_host_only(cache: Path, server: ModelServer) -> None:
    server.token = "hf_secret"
    with pytest.raises(WeightError, match=r"answered 401\. It wants a token: set HF_TOKEN"):
        fetch(server)
    server.tokens.clear()
    fetch(server, token="hf_secret")
    assert {token for path, token in server.tokens if path.startswith("/elsewhere/")} == {""}
    assert {token for path, token in server.tokens if path.startswith("/api/")} == {"Bearer hf_secret"}


def test_the_own_network_is_not_asked_without_a_setting(cache: Path, server: ModelServer) -> None:
    with pytest.raises(WeightError, match="may not or cannot be asked"):
        WeightServer(server.url).fetch_model(NAME, COMMIT)
    assert server.tokens == []


@pytest.mark.parametrize(
    ("identifier", "revision", "sentence"),
    [
        ("../../etc", COMMIT, "is no name on a server"),
        ("a/b/c", COMMIT, "is no name on a server"),
        (NAME, "main", "not a commit of 40"),
        (NAME, "0" * 40, "answered 404. It has no such model or revision"),
    ],
)
def test_what_nobody_can_give_is_refused(
    cache: Path, server: ModelServer, identifier: str, revision: str, sentence: str
) -> None:
    with pytest.raises(WeightError, match=sentence):
        WeightServer(server.url, local=True).fetch_model(identifier, revision)


@pytest.mark.parametrize("path", ["../model.safetensors", "/etc/config.json", ".git/config.json", "a/b/c/d.json"])
def test_files_outside_of_the_folder_are_left(path: str) -> None:
    kept = weight_server.choose_files([ListedFile(path, 1, "0" * 64), ListedFile("model.safetensors", 1, "0" * 64)])
    assert [each.path for each in kept] == ["model.safetensors"]


def test_a_revision_without_safetensors_is_refused() -> None:
    with pytest.raises(WeightError, match="holds no safetensors"):
        weight_server.choose_files([ListedFile("pytorch_model.bin", 1, "0" * 64)])


# The command, and what a plan says


@pytest.fixture
def row(cache: Path, settings: Any) -> ModelData:
    settings.LOCAL_PROVIDERS = True
    return make_model("seer", role="vqa", backend="transformers", identifier=NAME, revision=COMMIT, parameters={})


@pytest.mark.django_db
def test_the_command_fetches_writes_down_and_verifies(
    row: ModelData, server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("transformers")
    call_command("models", "fetch", "seer", "--server", server.url)
    assert "seer: 4 files, 300,044 bytes" in capsys.readouterr().out
    recorded = FetchedWeights.objects.get(identifier=NAME, revision=COMMIT)
    assert sorted(each["path"] for each in recorded.files) == WANTED
    (weight_cache.folder_of(NAME, COMMIT) / "tokenizer.json").write_bytes(b"[]")
    with pytest.raises(CommandError, match="1 of 1 cannot be used"):
        call_command("models", "check", "--verify", "seer")
    assert "tokenizer.json has another checksum" in capsys.readouterr().out


@pytest.mark.django_db
def test_the_command_says_why_it_cannot_fetch(row: ModelData, server: ModelServer, tmp_path: Path) -> None:
    server.wrong.add("model.safetensors")
    with pytest.raises(CommandError, match=r"seer: model\.safetensors of maker/model came with another checksum"):
        call_command("models", "fetch", "seer", "--server", server.url)
    assert not FetchedWeights.objects.exists()
    make_model("at-home", role="vqa", backend="transformers", identifier=str(tmp_path))
    with pytest.raises(CommandError, match="at-home: there is nothing to fetch"):
        call_command("models", "fetch", "at-home", "--server", server.url)


@pytest.mark.django_db
def test_a_worker_never_fetches_by_itself(row: ModelData) -> None:
    with pytest.raises(BackendError, match=r"Nothing of maker/model .* 'manage\.py models fetch seer' fetches it"):
        backends.load_backend(row)


@pytest.mark.django_db
def test_absent_weights_are_said_when_planning(
    row: ModelData, server: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    Model.objects.update(role="chat")
    make_subject("Jollof")
    config = {"models": ["seer"], "samples": 1}
    [sentence] = runner.preview_run("knowledge", config).absent
    assert "seer: the weights of maker/model" in sentence
    assert "'manage.py models fetch seer' fetches them; until then the run cannot start." in sentence
    call_command("models", "fetch", "seer", "--server", server.url)
    assert runner.preview_run("knowledge", config).absent == []
    # A host that sees no cache still knows what was fetched.
    assert runner.list_absent_weights(runner.create_run("knowledge", config)) == []


@pytest.mark.django_db
def test_a_folder_that_is_not_here_is_said_when_planning(tmp_path: Path) -> None:
    make_model("near", role="chat", backend="transformers", identifier=str(tmp_path))
    make_model("far", role="chat", backend="transformers", identifier="/models/far-away")
    make_subject("Jollof")
    [sentence] = runner.preview_run("knowledge", {"models": ["far", "near"], "samples": 1}).absent
    assert sentence.startswith("far: there is no folder /models/far-away on this machine.")
