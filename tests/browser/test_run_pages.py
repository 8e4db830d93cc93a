"""A researcher starts a chain of three studies in the admin, stops it, has it go on and reads what came of it."""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.browser.server import Server

WORK = """
from evaluation import runner
from evaluation.models import Run
for _ in range(3):
    for run in Run.objects.exclude(state__in=("done", "waiting", "cancelled", "paused")):
        while runner.process_run(run.pk, "tests"):
            pass
    runner.sweep_runs()
print(sorted(Run.objects.values_list("study", "state")))
"""


@pytest.fixture(params=[False, True], ids=["plain", "scripts"])
def page(browser: Browser, server: Server, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A signed-in researcher, without scripts and with them."""
    name = f"researcher-{request.param}"
    server.ask(
        "from django.contrib.auth.models import User\n"
        "from tests.evaluation.make import make_demonstration_dishes\n"
        f"User.objects.create_superuser({name!r}, password='a long enough secret')\n"
        "if not Dish.objects.filter(source=Source.DEMONSTRATION).exists():\n"
        "    make_demonstration_dishes(2)"
    )
    context = browser.new_context(java_script_enabled=request.param, viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(15_000)
    page.goto(f"{server.url}/admin/login/?next=/admin/evaluation/runs/start/")
    page.fill("[name=username]", name)
    page.fill("[name=password]", "a long enough secret")
    page.click("[type=submit]")
    for summary in page.locator("fieldset summary").all():
        summary.click()
    # Another seed with scripts than without: the same configuration would be the same run.
    page.fill("[name=generation-seed]", str(int(request.param)))
    yield page
    context.close()


def check(page: Page, scripts: bool) -> None:
    """Nothing sideways on a phone, and no fault for axe, which is a script itself."""
    if not scripts:
        return
    page.set_viewport_size({"width": 360, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360, f"{page.url} moves sideways"
    page.set_viewport_size({"width": 1280, "height": 800})
    found = Axe().run(page).response["violations"]
    assert not found, [(row["id"], row["nodes"][0]["html"][:200]) for row in found]


def test_a_chain_from_its_start_to_what_failed(page: Page, server: Server, request: pytest.FixtureRequest) -> None:
    scripts = request.node.callspec.params["page"]
    check(page, scripts)
    for study in ("generation", "association", "stereotypes"):
        page.check(f"[name={study}-use]")
    page.select_option("[name=generation-model]", "sketch")
    page.fill("[name=generation-subjects]", '{"kind": "dish", "demonstration": true}')
    page.fill("[name=generation-images_per_subject]", "1")
    for study in ("association", "stereotypes"):
        page.select_option(f"[name={study}-images]", "@generation")
    page.select_option("[name=association-encoder]", "standin-encoder")
    page.click("[value=plan]")
    assert "planned once the images are there" in page.inner_text("#content")
    check(page, scripts)
    page.click("[value=start]")
    assert "3 runs were started." in page.inner_text(".messagelist")
    check(page, scripts)
    page.click("[value=cancel]")
    assert "cancelled" in page.inner_text("#standing")
    page.click("[value=resume]")
    assert "('stereotypes', 'done')" in server.ask(WORK)
    page.reload()
    assert "(100 %)" in page.inner_text("#standing")
    server.ask(
        "from evaluation.models import *\n"
        "unit = Unit.objects.filter(run__study='generation').latest('pk')\n"
        "Unit.objects.filter(pk=unit.pk).update(state='failed')\n"
        "Outcome.objects.filter(unit=unit).update(reason='TimeoutError: no answer', text='half an answer')"
    )
    page.reload()
    check(page, scripts)
    page.click("#content table a[href*='/unit/']")
    assert "half an answer" in page.inner_text("#content")
    assert "TimeoutError: no answer" in page.inner_text("#content")
