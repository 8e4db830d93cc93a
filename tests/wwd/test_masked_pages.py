"""A mask on every page of staff: all addresses walked by somebody who may see everything and steers nothing."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Permission, User
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.urls import URLPattern, reverse

from collection.models import Dish
from evaluation import content_store, urls
from evaluation.drilldown import cells as drilldown_cells
from evaluation.models import EarlierOutcome, GeneratedImage, Model, Outcome, Plan, PlanAct, Run, Subject, Unit
from evaluation.plans.mask_pages import BY_THEMSELVES
from evaluation.tables import compute, read
from review.campaigns.service import prepare_campaign_images
from review.models import Campaign
from tests.evaluation.make import make_model
from tests.evaluation.make_plans import make_frozen
from tests.evaluation.make_tables import image_result, make_association, make_place_in
from tests.review.make import make_image_bytes
from tests.wwd import staff_rows
from tests.wwd.test_groups import lists
from wwd.exchange.bundles import urls as bundles

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
NAME = "association.scores"
SPELLED = re.compile(r"alpha[- ]?1|alpha one|beta[- ]?2|beta two|maker/first|maker/second|c0ffee123456|93\.71", re.I)
STEERING = {"add_run", "change_run"}


def spelled(response: Any) -> list[str]:
    """What a response tells of hidden names, in its content and its headers."""
    content = b"".join(response) if response.streaming else response.content
    return SPELLED.findall(content.decode("utf-8", "replace") + str(dict(response.headers)))


def reader(*without: str) -> Client:
    """Somebody who may see and change everything in the admin, but runs."""
    user = User.objects.create_user(f"reader{User.objects.count()}", is_staff=True)
    user.user_permissions.set(Permission.objects.exclude(codename__in=[*STEERING, *without]))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def run() -> Run:
    """Two models, one run called by one of them, and rows of everything that could name them."""
    staff_rows.make_world()
    for slug, title, maker in (("alpha-1", "Alpha One", "maker/first"), ("beta-2", "Beta Two", "maker/second")):
        make_model(slug, title=title, identifier=maker)
    make_frozen(masked=True, mask_seed="0123456789abcdef", slug="the-plan")
    place = make_place_in("Africa")
    images = [image_result(place, slug, n + 1, n) for slug in ("alpha-1", "beta-2") for n in range(3)]
    run = make_association(*images, slug="alpha-1-run")
    told = {"revision": "c0ffee123456", "price": {"USD": 93.71}, "parameters": {"steps": 4}}
    Model.objects.filter(slug__in=["alpha-1", "beta-2"]).update(**told)
    said = {"model": "Alpha One", "cost": 93.71, "revision": "c0ffee123456"}
    Run.objects.filter(pk=run.pk).update(config={"models": ["alpha-1"]}, definition=said, problem="alpha1 is away")
    GeneratedImage.objects.update(
        prompt_revised="As ALPHA-1 would draw it",
        sha256=content_store.store_content(make_image_bytes()),
        media_type="image/png",
    )
    unit = Unit.objects.filter(run=run).latest("pk")
    image = GeneratedImage.objects.latest("pk")
    Unit.objects.filter(pk=unit.pk).update(model=Model.objects.get(slug="alpha-1"), key="alpha-1:7", payload=said)
    Outcome.objects.filter(unit=unit).update(
        text="I am Alpha One.", reason="maker/first refuses", circumstances=said, image=image
    )
    EarlierOutcome.objects.create(
        unit=unit, number=1, state="failed", circumstances=said, created_at="2026-11-28T00:00Z"
    )
    Subject.objects.filter(images=image).update(source_key="alpha-1/7")
    campaign = Campaign.objects.get()
    prepare_campaign_images(campaign, [image], country="Ghana")
    for name in (NAME, "association.top"):
        compute.compute_and_store(name, {})
    for row in (unit, image, run):
        kind = ContentType.objects.get_for_model(row)
        LogEntry.objects.create(
            user=User.objects.get(username="chief"),
            content_type=kind,
            object_id=str(row.pk),
            object_repr=str(row),
            action_flag=CHANGE,
        )
    return run


def addresses(run: Run) -> Iterator[str]:
    """Every address of staff with rows that exist."""
    image = GeneratedImage.objects.latest("pk")
    view = read.read_stored_table(NAME, {})
    cells = (
        [drilldown_cells.cell_query({}, row.groups, row.metric) for row in view.table.rows[:3]] if view.table else []
    )
    values = {
        "slug": run.slug,
        "name": NAME,
        "size": "small",
        "pk": image.pk,
    }
    for pattern in [*urls.urlpatterns, *bundles.urlpatterns]:
        assert isinstance(pattern, URLPattern)
        space = "bundles" if pattern in bundles.urlpatterns else "evaluation"
        known = {key: values[key] for key in pattern.pattern.converters}
        if "plan" in str(pattern.name) and "slug" in known:
            known["slug"] = "the-plan"
        if pattern.name == "subject-images":
            known["pk"] = image.subject_id
        if pattern.name == "fetch":
            known["pk"] = 1
        address = reverse(f"{space}:{pattern.name}", kwargs=known)
        yield address
        if pattern.name in (("drilldown", "take-cell")):
            yield from (f"{address}{cell}" for cell in cells)
    yield "/admin/evaluation/tables/association.top/gallery/?show=all"
    for name in ("", "takeback/", "undo-reports/", "translations/", "second-factor/"):
        yield f"/admin/{name}"
    for label, model, name in lists():
        yield reverse(f"{name}_changelist")
        app = label.partition(".")[0]
        yield f"/admin/{app}/"
        for row in model._default_manager.order_by("-pk")[:4]:
            for page in ("change", "history"):
                yield reverse(f"{name}_{page}", args=[row.pk])


def test_no_address_of_staff_names_a_masked_model(run: Run) -> None:
    """Slow, for it opens every page of staff: one name on one page ends a blind analysis."""
    client, opened = reader(), 0
    for address in addresses(run):
        response = client.get(address)
        opened += response.status_code == 200
        # What somebody typed into the address says nothing that they did not know.
        told = [word for word in spelled(response) if word.lower() not in address.lower()]
        assert told == [], address
    assert opened > 100


def test_who_may_only_see_reads_no_name_either(run: Run) -> None:
    client = Client()
    client.force_login(staff_rows.make_member("researcher"))
    for address in addresses(run):
        response = client.get(address)
        assert [word for word in spelled(response) if word.lower() not in address.lower()] == [], address


@pytest.mark.parametrize("term", ["alpha", "alpha-1", "al", "maker", "Alpha One"])
def test_searching_for_a_name_finds_nothing_that_belongs_to_it(run: Run, term: str) -> None:
    client = reader()
    for name in ("run", "unit", "model"):
        response = client.get(f"/admin/evaluation/{name}/", {"q": term})
        content = response.content.decode().replace(f'value="{term}"', "")
        assert response.status_code == 403 or "0 results" in content or "field-name" not in content, name
        assert SPELLED.findall(content) == [], name
    assert (
        client.get(
            "/admin/autocomplete/",
            {"term": term, "app_label": "evaluation", "model_name": "unit", "field_name": "model"},
        ).status_code
        == 403
    )


def test_units_are_not_chosen_by_their_model_or_run(run: Run) -> None:
    client = reader()
    model = Model.objects.get(slug="alpha-1")
    for query in (
        f"model={model.pk}",
        f"model__id__exact={model.pk}",
        "model__slug=alpha-1",
        f"run__id__exact={run.pk}",
        "key__startswith=alpha",
        "batch=1",
    ):
        response = client.get(f"/admin/evaluation/unit/?{query}")
        assert response.status_code in (302, 400), query
    assert client.get("/admin/evaluation/unit/?state__exact=done").status_code == 200


def test_a_run_that_is_called_by_a_masked_name_is_listed_by_its_number(run: Run) -> None:
    text = reader().get("/admin/evaluation/run/").content.decode()
    assert f"run {run.pk}, whose name is masked" in text


def test_pages_of_models_are_closed_and_open_again_once_the_mask_is_lifted(run: Run) -> None:
    client = reader()
    model = Model.objects.get(slug="alpha-1")
    pages = [
        "/admin/evaluation/model/",
        f"/admin/evaluation/model/{model.pk}/change/",
        f"/admin/evaluation/model/{model.pk}/history/",
    ]
    assert [client.get(page).status_code for page in pages] == [403] * 3
    PlanAct.objects.create(plan=Plan.objects.get(), kind=PlanAct.Kind.UNMASKED)
    assert [client.get(page).status_code for page in pages] == [200] * 3
    assert "Alpha One" in client.get(pages[0]).content.decode()


def test_who_steers_runs_still_sees_what_becomes_of_them(run: Run) -> None:
    client = Client()
    client.force_login(staff_rows.make_member("operator"))
    unit = Unit.objects.get(key="alpha-1:7")
    assert "Alpha One" in client.get(f"/admin/evaluation/unit/{unit.pk}/change/").content.decode()


def test_words_that_somebody_types_come_back_as_they_were(run: Run) -> None:
    """A form must not send back other words than it was given, and no letter answers a name that is typed."""
    client = reader()
    campaign = Campaign.objects.get()
    Campaign.objects.filter(pk=campaign.pk).update(title="Against Alpha One")
    text = client.get(f"/admin/review/campaign/{campaign.pk}/change/").content.decode()
    assert 'value="Against Alpha One"' in text and "<h2>Against [masked]</h2>" in text
    Dish.objects.filter(local_name="Kenkey").update(recipe="As Alpha One draws it")
    dish = Dish.objects.get(local_name="Kenkey")
    assert "As Alpha One draws it" in client.get(f"/admin/collection/dish/{dish.pk}/change/").content.decode()


def test_without_a_mask_nothing_is_changed(run: Run) -> None:
    PlanAct.objects.create(plan=Plan.objects.get(), kind=PlanAct.Kind.UNMASKED)
    unit = Unit.objects.get(key="alpha-1:7")
    text = reader().get(f"/admin/evaluation/unit/{unit.pk}/change/").content.decode()
    assert "I am Alpha One." in text and "[masked]" not in text


def test_pages_that_mask_their_own_content_exist() -> None:
    named = {f"evaluation:{each.name}" for each in urls.urlpatterns}
    named |= {f"bundles:{each.name}" for each in bundles.urlpatterns}
    assert BY_THEMSELVES - named == set()
