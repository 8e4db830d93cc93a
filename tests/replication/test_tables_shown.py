"""With the published data every table's page opens, and its download is what the command line prints."""

import io
import re

import pytest
from django.core.management import call_command
from django.test import Client

from evaluation import tables
from tests.evaluation.tables import make_staff
from wwd.published.source import Report
from wwd.tables import TABLES

pytestmark = pytest.mark.django_db
LIST = "/admin/evaluation/tables/"
# Rankings of all pictures take long, and answers of language models are not imported here: tested by themselves.
LONG = ("association.descriptors",)
NAMES = [name for name in TABLES if name not in LONG and not name.startswith("knowledge.")]


@pytest.fixture(scope="module")
def researcher(imported: Report) -> Client:
    client = Client()
    client.force_login(make_staff(name="reader"))
    return client


@pytest.mark.parametrize("name", NAMES)
def test_the_page_of_a_table_opens_and_its_csv_is_that_of_the_command(name: str, researcher: Client) -> None:
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
    tables.fresh("review.quality", {})
    assert researcher.get(f"{LIST}review.quality/figure.svg?width=8").content.startswith(b"<?xml")
