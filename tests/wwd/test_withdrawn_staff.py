"""For the days until it is erased, a withdrawn dish is seen by nobody on the staff but who does the withdrawal."""

from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Permission, User
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from collection.models import Dish, Photo, Report, Withdrawal
from collection.withdrawal.withdraw import MAY_WITHDRAW, restore_withdrawn_dish, withdraw_dish
from evaluation.models import Run, StoredTable, Subject, Unit
from evaluation.models.cached_counts import KeptReport
from evaluation.subjects import subject_for
from evaluation.tables import compute
from review.campaigns.service import save_review
from review.models import Assignment, CampaignImage, Reviewer
from tests.collection.make import make_contributor, make_dish, make_photo
from tests.evaluation.make import make_model
from tests.review.make import NOT_FOOD, first_image, make_campaign, make_reviewer

pytestmark = pytest.mark.embedded

NAME = "Zorblatu"
# Anyone who may take back by network sees dishes that wait; the words of withdrawn ones are in neither.
DECIDES = "/admin/collection/withdrawal/"


def make_everything() -> Dish:
    """A dish with a photo, a report, a subject, units, images in a campaign, opinions, a table and a history."""
    dish = make_dish(NAME, "Nigeria", contributor=make_contributor(), state=Dish.State.ACCEPTED, english_name=NAME)
    make_photo(dish, Photo.State.ACCEPTED)
    Report.objects.create(dish=dish, reason="wrong", words=f"{NAME} is wrong")
    subject = subject_for(dish)
    campaign = make_campaign(images=1, country="Nigeria")
    shown = first_image(campaign)
    Subject.objects.filter(pk=shown.image.subject_id).update(source_key="other")
    shown.image.subject = subject
    shown.image.prompt_sent = f"A photo of {NAME}"
    shown.image.save()
    CampaignImage.objects.filter(pk=shown.pk).update(dish_name=NAME)
    reviewer = make_reviewer(campaign, country="Nigeria")
    save_review(reviewer, CampaignImage.objects.get(pk=shown.pk), {**NOT_FOOD, "seen": f"no {NAME}"})
    other = make_reviewer(campaign, country="Nigeria")
    Assignment.objects.create(image=shown, reviewer=other, state="reported", until=timezone.now())
    make_units(subject)
    store_table()
    chief = User.objects.create_superuser("chief", password="a long enough secret")
    for row in (dish, subject, shown):
        kind = ContentType.objects.get_for_model(row)
        LogEntry.objects.create(
            user=chief, content_type=kind, object_id=row.pk, object_repr=NAME, action_flag=CHANGE, change_message=NAME
        )
    return dish


def make_units(subject: Subject) -> None:
    run = Run.objects.create(slug="questions", study="generation", state=Run.State.DONE)
    Unit.objects.create(
        run=run,
        subject=subject,
        model_id=make_model("painter").id,
        key=f"{NAME}/1",
        payload={"prompt": NAME},
        state="done",
    )


def store_table() -> None:
    """A table computed while the dish was there: it names it in a cell and in a note."""
    compute.compute_and_store("overview.totals", {})
    row = StoredTable.objects.get(name="overview.totals")
    content = dict(row.content or {})
    content["notes"] = [*content.get("notes", []), f"Without {NAME}, nothing."]
    StoredTable.objects.filter(pk=row.pk).update(content=content)


def patterns(found: URLResolver, before: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Every address below `found` with the names of its spaces."""
    for each in found.url_patterns:
        if isinstance(each, URLResolver):
            yield from patterns(each, f"{before}{each.namespace}:" if each.namespace else before)
        elif each.name:
            yield f"{before}{each.name}", each


def addresses() -> Iterator[str]:
    """Every address of staff, for every row that could fill it; searches and filters too."""
    keys: dict[str, list[object]] = {
        "pk": [row.pk for model in (Subject, Unit, CampaignImage, Reviewer, Dish) for row in model.objects.all()[:3]],
        "object_id": [],
        "name": ["overview.totals", "review.quality"],
        "slug": [row.slug for row in Run.objects.all()],
    }
    for name, pattern in patterns(get_resolver()):
        wanted = list(pattern.pattern.converters)
        if not wanted:
            try:
                address = reverse(name)
            except NoReverseMatch:
                continue
            if address.startswith("/admin/") and "logout" not in address:
                yield address
        elif len(wanted) == 1 and wanted[0] in keys:
            for key in keys[wanted[0]]:
                try:
                    address = reverse(name, args=[key])
                except NoReverseMatch:
                    continue
                if address.startswith("/admin/"):
                    yield address
    for model in admin.site._registry:
        start = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        # The page repeats what was searched for: never the whole name.
        yield reverse(f"{start}_changelist") + f"?q={NAME[:6]}"
        for row in model._default_manager.all()[:20]:
            for what in ("change", "history"):
                yield reverse(f"{start}_{what}", args=[row.pk])


def client_of(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def everything_but_withdrawals() -> User:
    """Every permission except the one that decides about withdrawals."""
    user = User.objects.create_user("everything", is_staff=True)
    label, _, codename = MAY_WITHDRAW.partition(".")
    about = Permission.objects.filter(content_type__app_label=label, codename__endswith=codename.partition("_")[2])
    user.user_permissions.set(Permission.objects.exclude(pk__in=about.values("pk")))
    return user


def telling(client: Client) -> list[str]:
    """Addresses whose page says the dish's name."""
    found = []
    for address in dict.fromkeys(addresses()):
        response = client.get(address, follow=True)
        assert response.status_code < 500, address
        if not response.streaming and NAME in response.content.decode(errors="replace"):
            found.append(address)
    return found


@pytest.mark.django_db
def test_no_page_of_staff_names_a_withdrawn_dish_and_an_undone_one_is_back_everywhere() -> None:
    """Slow, for it opens every page of staff three times: one page that names the dish breaks the promise."""
    dish = make_everything()
    client = client_of(everything_but_withdrawals())
    before = telling(client)
    assert len(before) > 15, "the walk reaches pages that name the dish while it is there"
    withdrawal = withdraw_dish(dish, Withdrawal.Reason.OWN)
    assert telling(client) == []
    photo = Photo.objects.get()
    assert client.get(f"/{photo.file}").status_code == 404
    restore_withdrawn_dish(withdrawal)
    assert telling(client) == before


@pytest.mark.django_db
def test_who_decides_about_withdrawals_finds_it() -> None:
    dish = make_everything()
    withdraw_dish(dish, Withdrawal.Reason.LOST_CODE)
    chief = client_of(User.objects.get(username="chief"))
    assert str(dish) in chief.get(DECIDES).content.decode()
    assert NAME in chief.get(f"/admin/collection/dish/?q={NAME[:4]}").content.decode()


@pytest.mark.django_db
def test_numbers_of_a_large_campaign_that_name_it_are_counted_again() -> None:
    dish = make_everything()
    campaign = CampaignImage.objects.get().campaign
    KeptReport.objects.create(name=f"campaign:{campaign.pk}", content={"stuck": [["x", NAME, "Nigeria"]]})
    withdraw_dish(dish, Withdrawal.Reason.OWN)
    assert KeptReport.objects.get(name=f"campaign:{campaign.pk}").content is None
