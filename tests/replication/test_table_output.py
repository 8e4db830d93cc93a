"""With the published data every table's page opens, and its download is what the command line prints."""

import io
import re

import pytest
from django.core.management import call_command
from django.test import Client

from evaluation.registry.names import TABLES
from evaluation.tables import read
from tests.evaluation.make_tables import make_staff
from wwd.exchange.published.source import Report

pytestmark = pytest.mark.django_db
LIST = "/admin/evaluation/tables/"
ANSWERED = [name for name in TABLES if name.startswith("knowledge.")]
# Rankings of all images take long, and so do answers of language models, nine tenths of all rows.
LONG = ["association.descriptors", *ANSWERED]
NAMES = [name for name in TABLES if name not in LONG]


@pytest.fixture(scope="module")
def researcher(imported: Report) -> Client:
    client = Client()
    client.force_login(make_staff(name="reader"))
    return client


@pytest.fixture(scope="module")
def reader_of_answers(answered: Report) -> Client:
    client = Client()
    client.force_login(make_staff(name="reader-of-answers"))
    return client


@pytest.mark.parametrize("name", NAMES)
def test_the_page_of_a_table_opens_and_its_csv_is_that_of_the_command(name: str, researcher: Client) -> None:
    shown_as_printed(name, researcher)


@pytest.mark.long
@pytest.mark.parametrize("name", LONG)
def test_so_are_those_of_answers_and_of_rankings(name: str, reader_of_answers: Client) -> None:
    shown_as_printed(name, reader_of_answers)


def shown_as_printed(name: str, researcher: Client) -> None:
    out = io.StringIO()
    call_command("tables", name, stdout=out, stderr=io.StringIO())
    page = researcher.get(f"{LIST}{name}/")
    assert page.status_code == 200
    assert "nothing has changed since" in page.content.decode()
    response = researcher.get(f"{LIST}{name}/table.csv")
    assert response.content.decode() == out.getvalue()
    exact = re.findall(r'<data value="([^"]+)">', page.content.decode())
    assert set(exact) <= {part for line in out.getvalue().splitlines() for part in line.split(",")}


def test_the_figure_of_a_table_is_drawn(researcher: Client) -> None:
    read.read_fresh_table("review.quality", {})
    assert researcher.get(f"{LIST}review.quality/figure.svg?width=8").content.startswith(b"<?xml")
