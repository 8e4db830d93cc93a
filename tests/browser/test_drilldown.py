"""From a number to its images and to one dish across models, in Chromium: with scripts and without."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.server import Server
from tests.browser.test_run_pages import check

pytestmark = [pytest.mark.browser]
ROWS = """
from django.contrib.auth.models import Group, User
from django.core.files.base import ContentFile
from evaluation import content_store
from evaluation.tables.compute import compute_and_store
from evaluation.models import GeneratedImage, Run
from tests.evaluation.make_tables import make_association, make_place_in, image_result
from tests.review.make import make_image_bytes
person = User.objects.create_user({name!r}, password='a long enough secret', is_staff=True)
person.groups.set([Group.objects.get(name='researcher')])
if not Run.objects.filter(slug='drilldown').exists():
    place = make_place_in('Africa')
    make_association(*(image_result(place, 'painter', 1, n) for n in range(14)), slug='drilldown')
    images = GeneratedImage.objects.filter(subject=place.id).order_by('pk')
    images.update(sha256=content_store.store_content(make_image_bytes()), media_type='image/png')
    images.filter(pk=images[1].pk).update(state='refused', sha256='')
compute_and_store('association.scores', {{'run': 'drilldown'}})
compute_and_store('association.top', {{'run': 'drilldown'}})
"""


@pytest.fixture(params=[False, True], ids=["plain", "scripts"])
def page(browser: Browser, server: Server, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A signed-in researcher before a table, without scripts and with them."""
    name = f"looker-{request.param}".lower()
    server.ask(ROWS.format(name=name))
    context = browser.new_context(java_script_enabled=request.param, viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(15_000)
    page.goto(f"{server.url}/admin/login/?next=/admin/evaluation/tables/association.scores/?run=drilldown")
    page.fill("[name=username]", name)
    page.fill("[name=password]", "a long enough secret")
    page.click("[type=submit]")
    yield page
    context.close()


def test_from_a_number_to_its_images(page: Page, request: pytest.FixtureRequest) -> None:
    scripts = request.node.callspec.params["page"]
    page.click("table.numbers tbody td a >> nth=0")
    expect(page.locator("ol.images > li")).to_have_count(12)
    expect(page.locator("ol.images img")).to_have_count(0)
    expect(page.locator("ol.images")).to_contain_text("refused by the provider")
    check(page, scripts)
    page.click("ol.images > li >> nth=0 >> text=Show")
    expect(page.locator("ol.images img")).to_have_count(1)
    assert page.locator("ol.images img").evaluate("image => image.decode().then(() => image.naturalWidth)") == 96
    check(page, scripts)
    page.click("text=Next page")
    expect(page.locator("ol.images > li")).to_have_count(2)
    page.click("ol.images h3 a >> nth=0")
    expect(page.locator("table.grid")).to_be_visible()
    check(page, scripts)
    page.goto(page.url.partition("/subjects/")[0] + "/tables/association.top/gallery/?run=drilldown")
    expect(page.locator(".ends h3").first).to_have_text("top")
    check(page, scripts)
    page.goto(page.url.partition("/tables/")[0] + f"/images/{first_number(page)}/take/")
    expect(page.locator("fieldset.terms")).to_contain_text("not for training")
    check(page, scripts)


def first_number(page: Page) -> str:
    return str(page.locator(".tiles > li").first.get_attribute("id")).removeprefix("p")
