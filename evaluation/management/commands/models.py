"""`manage.py models add clip --role encoder --backend clip --identifier /models/clip --parameters precision=bf16`"""

import json
import os
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from evaluation import backends
from evaluation.backends import weight_files, weights
from evaluation.contracts.backend import BackendError
from evaluation.contracts.parameters import IMPORT_ONLY, LOCAL
from evaluation.ingest.weight_server import WeightError, WeightServer
from evaluation.models import FetchedWeights, Model, Role
from evaluation.runner.catalogue import model_data
from evaluation.suggestions import describe_unknown_name

FIELDS = ("role", "backend", "identifier", "revision", "title")


class Command(BaseCommand):
    help = (
        "Adds, lists, fetches and checks models. What is added is checked by the same rules as in the admin. "
        "'fetch' brings weights into the cache of the workers. 'check' says of what family a model is and whether its "
        "files are here; it loads weights with --load only."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        add = acts.add_parser("add", help="adds one model")
        add.add_argument("slug", help="its name here, such as siglip2-base")
        add.add_argument("--role", required=True, help=", ".join(Role.values))
        add.add_argument("--backend", required=True, help="what runs it, such as diffusers, clip or openai")
        add.add_argument("--identifier", required=True, help="a folder, or the maker's name for it")
        add.add_argument("--revision", default="", help="the commit, 40 hexadecimal digits, where it is no folder")
        add.add_argument("--title", default="", help="as pages name it; without it the slug")
        add.add_argument("--parameters", nargs="*", default=[], metavar="NAME=VALUE", help="such as steps=50")
        shown = acts.add_parser("list", help="lists the models")
        shown.add_argument("--role", default="", help="only of this role")
        check = acts.add_parser("check", help="says what is wrong or missing")
        check.add_argument("slugs", nargs="*", metavar="slug", help="without one: all that are run here")
        check.add_argument("--load", action="store_true", help="loads the weights too")
        check.add_argument("--verify", action="store_true", help="reads all files and compares their checksums")
        fetch = acts.add_parser("fetch", help="fetches safetensors and small files; goes on where it was cut")
        fetch.add_argument("slugs", nargs="+", metavar="slug", help="models whose identifier is no folder")
        fetch.add_argument("--server", default="", help="another server of the same protocol, such as a mirror")

    def handle(self, *args: Any, **options: Any) -> None:
        acts = {
            "add": self.add_model,
            "list": self.list_models,
            "check": self.check_models,
            "fetch": self.fetch_models,
        }
        acts[options["act"]](options)

    def add_model(self, options: dict[str, Any]) -> None:
        row = Model(
            slug=options["slug"],
            **{name: options[name] for name in FIELDS},
            parameters=dict(read_parameters(options["parameters"])),
        )
        row.title = row.title or row.slug
        if row.role not in Role.values:
            raise CommandError(describe_unknown_name("role named", row.role, Role.values))
        try:
            with transaction.atomic():
                row.full_clean()
                row.save()
        except ValidationError as error:
            raise CommandError("\n".join(sentences(error))) from error
        self.stdout.write(f"Added {row.slug}. 'manage.py models check {row.slug}' looks for its files.")

    def list_models(self, options: dict[str, Any]) -> None:
        if options["role"] and options["role"] not in Role.values:
            raise CommandError(describe_unknown_name("role named", options["role"], Role.values))
        for row in Model.objects.order_by("role", "slug"):
            if options["role"] in ("", row.role):
                told = f"{row.identifier} {row.revision}".strip()
                parameters = json.dumps(row.parameters, ensure_ascii=False, sort_keys=True)
                self.stdout.write(f"{row.role}  {row.slug}  {row.backend}  {told}  {parameters}")

    def check_models(self, options: dict[str, Any]) -> None:
        """Every model's state in a line; ends with an error where one cannot be used."""
        rows = chosen(options["slugs"])
        wrong = 0
        for row in rows:
            try:
                told = self.state_of(row, load=options["load"], verify=options["verify"])
                self.stdout.write(f"{row.slug}: {', '.join(told)}.")
            except BackendError as error:
                wrong += 1
                self.stdout.write(f"{row.slug}: NOT USABLE. {str(error).removeprefix(f'{row.slug}: ')}")
        if wrong:
            raise CommandError(f"{wrong} of {len(rows)} cannot be used here.")

    def fetch_models(self, options: dict[str, Any]) -> None:
        """Brings each model into the cache and writes down what came. Raises CommandError at the first that fails."""
        server = WeightServer(
            (options["server"] or find_default_server()).rstrip("/"),
            local=settings.LOCAL_PROVIDERS,
            token=os.environ.get("HF_TOKEN", "").strip(),
        )
        for row in chosen(options["slugs"]):
            if row.backend not in LOCAL or weights.is_folder(model_data(row)):
                raise CommandError(f"{row.slug}: there is nothing to fetch, {row.identifier} is not on a server.")
            try:
                held = server.fetch_model(row.identifier, row.revision, self.stdout.write)
            except WeightError as error:
                raise CommandError(f"{row.slug}: {error}") from error
            FetchedWeights.objects.update_or_create(
                identifier=row.identifier,
                revision=row.revision,
                defaults={"files": [asdict(each) for each in held]},
            )
            total = sum(each.size for each in held)
            self.stdout.write(f"{row.slug}: {len(held)} files, {total:,} bytes, in {settings.WEIGHTS_FOLDER}.")

    def state_of(self, row: Model, *, load: bool, verify: bool) -> list[str]:
        data = model_data(row)
        verified = verify and row.backend in LOCAL
        if verified and (wrong := weight_files.list_changed_files(data)):
            raise BackendError(" ".join(wrong))
        if load:
            backends.load_backend(data)
        return [
            f"backend {row.backend}",
            *backends.inspect_model(data),
            *(["loaded"] if load else []),
            *(["checksums right"] if verified else []),
        ]


def find_default_server() -> str:
    """Where the Hub's own client would ask; HF_ENDPOINT names another. Raises CommandError where it is missing."""
    try:
        from huggingface_hub import constants
    except ImportError:
        raise CommandError("The Hub's client is not installed here: name a server with --server.") from None
    return str(constants.ENDPOINT)


def chosen(slugs: Iterable[str]) -> list[Model]:
    """These models, or all that are run here. Raises CommandError that names the near ones."""
    known = {row.slug: row for row in Model.objects.order_by("slug")}
    for slug in slugs:
        if slug not in known:
            raise CommandError(describe_unknown_name("model", slug, known))
    return [known[slug] for slug in slugs] or [row for row in known.values() if row.backend not in IMPORT_ONLY]


def read_parameters(given: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """`steps=50` → ("steps", 50): JSON where it is some, else the text. Raises CommandError."""
    seen = set()
    for each in given:
        name, sign, text = each.partition("=")
        if not sign or not name:
            raise CommandError(f"{each!r} is no parameter. Write NAME=VALUE, such as steps=50.")
        if name in seen:
            raise CommandError(f"The parameter {name} is given twice.")
        seen.add(name)
        try:
            yield name, json.loads(text)
        except ValueError:
            yield name, text


def sentences(error: ValidationError) -> Iterator[str]:
    """What is wrong, each with the name of its field."""
    for name, found in error.message_dict.items():
        yield from (f"{name}: {sentence}" for sentence in found)
