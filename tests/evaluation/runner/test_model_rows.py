"""Models as rows: what cannot be used is refused when it is saved, in the admin and by command, with the near name."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from evaluation import backends
from evaluation.contracts import parameters
from evaluation.contracts.backend import BackendError
from evaluation.models import Model
from evaluation.registry import backend_table
from evaluation.runner.catalogue import model_data
from evaluation.studies.presets import read_rows
from tests.evaluation.make import make_model

BACKENDS = Path(backends.__file__).parent
COMMIT = "5cae40e6a2745ae2b01ad92ae5043f95f23644d6"
DRAWS = {"steps": 50, "guidance": 7.5, "size": 512}


def row(**values: Any) -> Model:
    drawn = {"slug": "sd", "title": "SD", "role": "image_generator", "backend": "diffusers", "identifier": "maker/sd"}
    return Model(**{**drawn, "revision": COMMIT, "parameters": DRAWS, **values})


REFUSED = [
    ({"parameters": {**DRAWS, "precison": "fp16"}}, "parameters", "named 'precison'. Did you mean precision?"),
    ({"parameters": {"step": 3, "guidance": 1, "size": 64}}, "parameters", "named 'step'. Did you mean steps"),
    ({"parameters": {"guidance": 1, "size": 64}}, "parameters", "The parameter steps is missing"),
    ({"parameters": {**DRAWS, "steps": "50"}}, "parameters", 'steps is "50". Accepted: a whole number from 1 to 1000.'),
    ({"parameters": {**DRAWS, "steps": 0}}, "parameters", "steps is 0."),
    ({"parameters": {**DRAWS, "steps": True}}, "parameters", "steps is true."),
    ({"parameters": {**DRAWS, "precision": "fp61"}}, "parameters", "no precision named 'fp61'. Did you mean fp16"),
    ({"parameters": {**DRAWS, "queue": "gpus"}}, "parameters", "no queue named 'gpus'. Did you mean gpu"),
    ({"parameters": {**DRAWS, "seeds": False}}, "parameters", "The parameter seeds is false. Accepted: true."),
    ({"parameters": ["steps"]}, "parameters", "an object with fields"),
    ({"backend": "difusers"}, "backend", "named 'difusers'. Did you mean diffusers?"),
    ({"backend": "clip"}, "backend", "no backend for the role image_generator named 'clip'"),
    ({"revision": "main"}, "revision", "not a commit of 40 hexadecimal digits"),
    ({"role": "captioner", "backend": "blip"}, "backend", "for the role captioner named 'blip'"),
    ({"backend": "openai", "parameters": {"key": "SECRET_KEY"}}, "parameters", "ends in _API_KEY"),
    ({"backend": "openai", "parameters": {"options": "size"}}, "parameters", "an object with fields"),
    ({"price": {"currency": "USD", "per_units": 0.04}}, "price", "named 'per_units'. Did you mean per_unit"),
    ({"price": {"per_unit": -1}}, "price", "per_unit is -1"),
    ({"price": 3}, "price", "an object with fields"),
    ({"backend": "openai", "parameters": {"timeout": float("nan")}}, "parameters", "timeout is NaN"),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("values", "field", "sentence"), REFUSED)
def test_what_cannot_be_used_is_refused_with_the_near_name(values: dict[str, Any], field: str, sentence: str) -> None:
    with pytest.raises(ValidationError) as caught:
        row(**values).full_clean()
    assert sentence in " ".join(caught.value.message_dict[field])


@pytest.mark.django_db
@pytest.mark.parametrize(
    "values",
    [
        {},
        {"identifier": "/models/sd", "revision": ""},
        {"backend": "folder", "revision": "", "parameters": {"anything": 1}},
        {"role": "camera", "backend": "folder", "revision": "", "parameters": {}},
        {"backend": "openai", "revision": "", "parameters": {"base_url": "http://here/v1", "n": 2, "seeds": False}},
    ],
)
def test_what_can_be_used_is_saved(values: dict[str, Any]) -> None:
    row(**values).full_clean()


def test_every_model_that_ships_can_be_saved() -> None:
    for each in read_rows("models.json"):
        model = Model(**each)
        model.clean()
        backend_table.resolve_backend_path(model_data(model))


@pytest.mark.django_db
def test_the_admin_refuses_it_and_keeps_the_typing() -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    typed = {"precison": "fp16", "step": 3}
    form = {"slug": "sd", "title": "SD", "role": "image_generator", "backend": "difusers", "identifier": "maker/sd"}
    given = {**form, "revision": COMMIT, "parameters": json.dumps(typed), "price": "{}"}
    page = client.post("/admin/evaluation/model/add/", given).content.decode()
    assert "Did you mean diffusers?" in page and "precison" in page
    page = client.post("/admin/evaluation/model/add/", {**given, "backend": "diffusers"}).content.decode()
    assert "Did you mean precision?" in page and "Did you mean steps" in page
    assert not Model.objects.filter(slug="sd").exists()
    kept = {**given, "backend": "diffusers", "parameters": json.dumps(DRAWS)}
    assert client.post("/admin/evaluation/model/add/", kept).status_code == 302
    assert Model.objects.get(slug="sd").parameters == DRAWS


@pytest.mark.django_db
def test_a_row_that_was_saved_before_is_refused_when_it_is_used() -> None:
    old = make_model("old", backend="diffusers", parameters={**DRAWS, "precison": "fp16"})
    with pytest.raises(BackendError, match=r"old: There is no parameter .* 'precison'\. Did you mean precision"):
        backends.load_backend(old)


def read_names(path: Path) -> Iterator[str]:
    """Names of parameters that a module reads out of a model's own, as `model.parameters` or a name for it."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            source, names = ast.unparse(node.func.value), node.args[:1]
        elif isinstance(node, ast.Subscript):
            source, names = ast.unparse(node.value), [node.slice]
        else:
            continue
        if source == "given" or (source.endswith("parameters") and not source.endswith(").parameters")):
            yield from (name.value for name in names if isinstance(name, ast.Constant) and isinstance(name.value, str))


def test_every_parameter_that_is_read_anywhere_is_declared() -> None:
    known = {
        each.name for role, name in parameters.DECLARED for each in parameters.list_declared_parameters(role, name)
    }
    paths = [*BACKENDS.glob("*.py"), *(BACKENDS.parent / "studies").glob("*.py"), *BACKENDS.parent.glob("runner/*.py")]
    found = {(path.name, name) for path in paths for name in read_names(path)}
    assert len({name for _, name in found}) > 10
    assert {(path, name) for path, name in found if name not in known} == set()


EVERY = sorted({each for known in parameters.DECLARED.values() for each in known}, key=repr)


@given(
    st.sampled_from(EVERY), st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists)
)
def test_a_value_is_usable_or_named(parameter: parameters.Parameter, value: Any) -> None:
    problem = parameter.problem(value)
    if not problem:
        parameter.value({parameter.name: value})
    assert (problem == "") == parameter.fits(value)


# The command


def call(*arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    call_command("models", *arguments)
    return capsys.readouterr().out


@pytest.mark.django_db
def test_a_model_is_added_by_command_and_listed(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--role", "encoder", "--backend", "clip", "--identifier", "google/siglip2-base-patch16-224")
    call(
        "add", "siglip2", *options, "--revision", COMMIT, "--parameters", "precision=bf16", "at_once=64", capsys=capsys
    )
    assert Model.objects.get(slug="siglip2").parameters == {"precision": "bf16", "at_once": 64}
    assert f"siglip2  clip  google/siglip2-base-patch16-224 {COMMIT}" in call(
        "list", "--role", "encoder", capsys=capsys
    )
    assert "siglip2" not in call("list", "--role", "chat", capsys=capsys)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("add", "a", "--role", "encodr", "--backend", "clip", "--identifier", "/m"), "Did you mean encoder"),
        (("add", "a", "--role", "encoder", "--backend", "clipp", "--identifier", "/m"), "backend: .*Did you mean clip"),
        (
            ("add", "a", "--role", "encoder", "--backend", "clip", "--identifier", "/m", "--parameters", "atonce=3"),
            "parameters: .*'atonce'. Did you mean at_once",
        ),
        (
            ("add", "a", "--role", "encoder", "--backend", "clip", "--identifier", "/m", "--parameters", "at_once"),
            "Write NAME=VALUE",
        ),
        (
            (
                *("add", "a", "--role", "encoder", "--backend", "clip"),
                "--identifier",
                "/m",
                "--parameters",
                "a=1",
                "a=2",
            ),
            "The parameter a is given twice",
        ),
        (("add", "a", "--role", "encoder", "--backend", "clip", "--identifier", "x/y"), "revision: .*not a commit"),
        (("add", "sketch", "--role", "encoder", "--backend", "standin", "--identifier", "y"), "slug: .*already exists"),
        (("add", "a b", "--role", "encoder", "--backend", "standin", "--identifier", "y"), "slug: "),
        (("check", "sketsch"), "Did you mean sketch"),
        (("list", "--role", "encodr"), "Did you mean encoder"),
    ],
)
def test_the_command_refuses_what_the_admin_refuses(arguments: tuple[str, ...], sentence: str) -> None:
    before = Model.objects.count()
    with pytest.raises(CommandError, match=sentence):
        call_command("models", *arguments)
    assert Model.objects.count() == before
