"""A filter that names nothing is answered with the near names, in every table, on pages and on the command line."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from evaluation.models import GeneratedImage, Model, Subject
from evaluation.registry import lookup
from evaluation.registry.model_names import normalise_model_filter
from evaluation.registry.names import TABLES
from evaluation.tables import compute, read
from tests.evaluation.make_tables import make_staff
from tests.wwd.demonstration import demonstration as demonstration

pytestmark = pytest.mark.django_db
NOWHERE = "Nopewhere"
DERIVED = [
    "compare.review.quality",
    "disparity.association.scores",
    "disparity.review.quality",
    "variance.review.match",
]


@pytest.mark.parametrize("name", [*TABLES, *DERIVED])
def test_a_value_that_nothing_has_is_refused_by_every_filter_of_every_table(name: str, demonstration: None) -> None:
    spec = lookup.find_table_spec(name)
    whole = compute.compute_and_store(name, {}).table
    assert whole is not None
    for wanted in spec.filters:
        known = wanted in ("run", "with") or wanted in spec.choices or (whole.rows and wanted in whole.columns)
        try:
            read.read_fresh_table(name, {wanted: NOWHERE})
        except lookup.FilterNotFound as error:
            assert NOWHERE in str(error)
        else:
            assert not known, wanted


@pytest.mark.parametrize(
    ("name", "pair", "near"),
    [
        ("review.quality", "country=Fji", "Fiji"),
        ("review.quality", "continent=Ocenia", "Oceania"),
        ("colours.diversity", "run=colour", "colours"),
        ("compare.colours.diversity", "with=colour", "colours"),
        ("disparity.review.quality", "measure=foood", "food"),
        ("disparity.association.scores", "country=Fji", "Fiji"),
        ("overview.countries", "country=Fji", "Fiji"),
    ],
)
@pytest.mark.parametrize("form", ["csv", "json"])
def test_the_command_names_the_near_ones_and_exits_with_2(
    name: str, pair: str, near: str, form: str, demonstration: None
) -> None:
    out = io.StringIO()
    with pytest.raises(CommandError, match=near) as raised:
        call_command("tables", name, "--format", form, "--filter", pair, stdout=out)
    assert (raised.value.returncode, out.getvalue()) == (2, "")


@pytest.mark.parametrize("ending", ["", "table.csv", "table.json", "figure.svg"])
def test_so_does_the_page_also_after_a_worker_computed_the_table(
    ending: str, demonstration: None, client: Client
) -> None:
    client.force_login(make_staff())
    compute.compute_and_store("review.quality", {"country": "Fji"})
    page = client.get(f"/admin/evaluation/tables/review.quality/{ending}?country=Fji")
    assert page.status_code == 404
    assert "Did you mean Fiji" in page.content.decode()


def test_reports_and_bundles_refuse_it_too(demonstration: None, tmp_path: object) -> None:
    for command, ending in (("report", "html"), ("bundle", "zip")):
        with pytest.raises(CommandError, match="Fiji"):
            output = f"{tmp_path}/wrong.{ending}"
            call_command(command, "wrong", "review.quality?country=Fji", "--output", output, stderr=io.StringIO())


@pytest.mark.parametrize("spelling", ["dalle2", "DALL-E 2", "Dalle2", "DALL·E 2", "Dalle 2"])
def test_any_spelling_of_a_model_is_read_by_every_table(spelling: str) -> None:
    """One of this name can be asked here, the images are by another one that was imported."""
    assert Model.objects.filter(slug="dall-e-2").exists()
    maker = Model.objects.create(slug="dalle2", title="Dalle2", role="image_generator", backend="import")
    subject = Subject.objects.create(kind="dish", name="Ugali", source_key="spelling")
    GeneratedImage.objects.create(subject=subject, model=maker, source_key="spelling")
    for name in lookup.list_table_names():
        spec = lookup.find_table_spec(name)
        if "model" in spec.filters:
            wanted = "Dalle2" if "reviews" in spec.inputs else "dalle2"
            assert normalise_model_filter(spec, {"model": spelling}) == {"model": wanted}, name


def test_a_spelling_that_fits_two_models_or_none_stays_as_it_is() -> None:
    for slug in ("painter-1", "painter1"):
        Model.objects.create(slug=slug, title=slug, role="image_generator", backend="folder", identifier=slug)
    spec = lookup.find_table_spec("review.quality")
    assert normalise_model_filter(spec, {"model": "Painter 1"}) == {"model": "Painter 1"}
    assert normalise_model_filter(spec, {"model": "painter1"}) == {"model": "painter1"}
    assert normalise_model_filter(spec, {"model": "sketcher", "country": "Kenya"}) == {
        "model": "sketcher",
        "country": "Kenya",
    }
