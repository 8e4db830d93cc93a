"""Pages of images while a plan masks names: no model by its name, and nothing is taken away."""

import re

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from evaluation import content_store
from evaluation.drilldown import cells as drilldown_cells
from evaluation.models import GeneratedImage, ImageDownload, StoredTable
from evaluation.tables import compute, read
from tests.evaluation.make import make_model
from tests.evaluation.make_plans import make_frozen
from tests.evaluation.make_tables import image_result, make_association, make_place_in, make_staff
from tests.review.make import make_image_bytes

pytestmark = pytest.mark.django_db
NAME = "association.scores"
TABLES = "/admin/evaluation/tables"
SPELLED = re.compile("alpha-1|Alpha One|beta-2|Beta Two", re.IGNORECASE)


@pytest.fixture
def client() -> Client:
    person = make_staff()
    for codename in ("view_generatedimage", "add_imagedownload", "read_answers"):
        person.user_permissions.add(Permission.objects.get(codename=codename))
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def masked() -> list[str]:
    """A masked plan with the images of two models that came after it; pages about them."""
    for slug, title in (("alpha-1", "Alpha One"), ("beta-2", "Beta Two")):
        make_model(slug, title=title)
    make_frozen(masked=True, mask_seed="0123456789abcdef")
    place = make_place_in("Africa")
    images = [image_result(place, slug, n + 1, n) for slug in ("alpha-1", "beta-2") for n in range(12)]
    make_association(*images, slug="alpha-1-run")
    GeneratedImage.objects.update(
        prompt_revised="As Alpha One would draw it",
        seed=41,
        sha256=content_store.store_content(make_image_bytes()),
        media_type="image/png",
    )
    compute.compute_and_store("association.top", {})
    view = compute.compute_and_store(NAME, {}) and read.read_stored_table(NAME, {})
    assert view.table
    cells = [drilldown_cells.cell_query({}, row.groups, row.metric) for row in view.table.rows]
    image = GeneratedImage.objects.latest("pk")
    return [
        *(f"{TABLES}/{NAME}/drilldown/{cell}" for cell in cells),
        f"{TABLES}/association.top/gallery/?show=all",
        f"/admin/evaluation/images/{image.pk}/",
        f"/admin/evaluation/subjects/{image.subject_id}/images/",
    ]


def test_no_page_of_images_names_a_masked_model(client: Client, masked: list[str]) -> None:
    for page in masked:
        response = client.get(page)
        assert response.status_code == 200, page
        assert SPELLED.findall(response.text) == [], page
        assert "seed 41" not in response.text


def test_masked_cells_list_the_images_of_the_model_behind_the_letter(client: Client, masked: list[str]) -> None:
    counted = [client.get(page).text.count("counted: ") for page in masked if "/drilldown/" in page]
    assert set(counted) == {12}


def test_a_real_name_is_no_cell_while_names_are_masked(client: Client, masked: list[str]) -> None:
    cell = drilldown_cells.cell_query({}, {"group": "taste", "continent": "Africa", "model": "alpha-1"}, "net")
    response = client.get(f"{TABLES}/{NAME}/drilldown/{cell}")
    assert response.status_code == 404
    StoredTable.objects.all().delete()
    response = client.get(f"{TABLES}/{NAME}/drilldown/{cell}")
    assert response.status_code == 404, "a table that is still being computed knows no real name either"


def test_nothing_is_taken_away_while_names_are_masked(client: Client, masked: list[str]) -> None:
    image = GeneratedImage.objects.latest("pk")
    pages = [f"/admin/evaluation/images/{image.pk}/take/", masked[0].replace("/drilldown/", "/drilldown/take/")]
    for page in pages:
        assert "their files would tell" in client.get(page).text
        assert client.post(page, {"terms": "1"}).status_code == 422
    assert not ImageDownload.objects.exists()
