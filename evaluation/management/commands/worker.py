"""`manage.py worker --server https://dishes.example --token-file token`: a worker that reaches no database."""

import os
import signal
import socket
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.contracts.study import ModelData
from evaluation.remote.client import CallRefusedError, WorkerClient, WorkerRefusedError, read_token
from evaluation.remote.https_transport import HttpsTransport
from evaluation.remote.preflight import check_host
from evaluation.remote.worker import serve_runs
from evaluation.runner.transport import TransportLostError

CHECK_PATIENCE = 5.0


class Command(BaseCommand):
    help = (
        "Works on runs over HTTPS with a token from the admin, where no database is to be reached. "
        "With --check it only says whether this host has what its work needs, and ends with 1 where something is "
        "missing. HTTPS_PROXY and NO_PROXY count."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--server", default="", help="the address of the site, such as https://dishes.example")
        parser.add_argument("--token-file", type=Path, help="a file with the token that the admin showed")
        parser.add_argument("--authority", default="", help="a PEM file of the authority that signed the certificate")
        parser.add_argument("--name", default="", help="how this worker is called; without it host and process")
        parser.add_argument("--until-empty", action="store_true", help="end when nothing waits, instead of waiting")
        parser.add_argument("--check", action="store_true", help="only say what this host lacks")
        parser.add_argument("--no-card", action="store_true", help="with --check: do without a card")

    def handle(self, *args: Any, **options: Any) -> None:
        client = self.open_client(options)
        if options["check"]:
            self.check_here(client, needs_card=not options["no_card"])
            return
        if client is None:
            raise CommandError("Name the server with --server and its token with --token-file.")
        name = options["name"] or f"{socket.gethostname()}:{os.getpid()}"
        asked_to_stop: list[int] = []
        for wanted in (signal.SIGTERM, signal.SIGINT):
            signal.signal(wanted, lambda number, frame: asked_to_stop.append(number))
        transport = HttpsTransport(client)
        try:
            client.greet()
            ended = serve_runs(
                transport,
                name,
                until_empty=options["until_empty"],
                stop=lambda: bool(asked_to_stop),
                report=self.stderr.write,
            )
        except (WorkerRefusedError, CallRefusedError) as error:
            raise CommandError(f"The server refuses this worker: {error}") from error
        except TransportLostError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{ended} units were ended.")

    def open_client(self, options: dict[str, Any]) -> WorkerClient | None:
        """The client, or None where no server is named. Raises CommandError."""
        if not options["server"]:
            return None
        if options["token_file"] is None:
            raise CommandError("Name the file of the token with --token-file.")
        if options["authority"] and not Path(options["authority"]).is_file():
            raise CommandError(f"There is no file {options['authority']} of an authority.")
        try:
            token = read_token(options["token_file"])
            return WorkerClient(options["server"], token, options["authority"])
        except ValueError as error:
            raise CommandError(str(error)) from error

    def check_here(self, client: WorkerClient | None, *, needs_card: bool) -> None:
        """Prints a line a check. Raises CommandError with one sentence for each thing that is missing."""
        models: list[ModelData] = []
        if client is not None:
            client.patience = CHECK_PATIENCE
            models = read_models(client)
        problems = []
        for found in check_host(client, models, needs_card=needs_card):
            self.stdout.write(f"{'MISSING' if found.problem else 'ok':8} {found.name}: {found.shown}")
            if found.note:
                self.stdout.write(f"         {found.note}")
            problems += [found.problem] if found.problem else []
        if problems:
            raise CommandError(" ".join(problems))


def read_models(client: WorkerClient) -> list[ModelData]:
    """The models of the runs that wait for this token; none where the server does not answer, which a check says."""
    try:
        return [ModelData(**row) for row in client.get("models")["models"]]
    except (TransportLostError, CallRefusedError):
        return []
