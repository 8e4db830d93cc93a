"""What a campaign needs before it opens; images prepared by workers; real photographs; looking first; preview."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client
from django.utils import timezone
from django.utils.translation import override

from collection.models import ConsentText, Contributor, Country, Dish, DishCountry, Photo
from evaluation.models import GeneratedImage, Role, Run
from review.admin.pages import FIRST
from review.campaigns import prepare_job, real_photographs
from review.campaigns.readiness import list_missing_steps, recheck_open_campaigns
from review.campaigns.service import current_consent, draft_beside, prepare_campaign_images
from review.models import (
    Assignment,
    Campaign,
    ContentTag,
    FirstLook,
    Invitation,
    Preparation,
    Review,
    Reviewer,
    ReviewerConsent,
    SupportContact,
)
from review.tasks import prepare_images
from tests.review.make import FOOD, GOOD, make_campaign, make_image, make_image_bytes, make_invitation
from tests.review.make import form_of as answers_of

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
PROOF = re.compile(r'name="proof" value="([^"]+)"')


@pytest.fixture
def boss() -> User:
    return User.objects.create_superuser("boss", password="a long password")


@pytest.fixture
def staff(boss: User) -> Client:
    client = Client()
    client.force_login(boss)
    return client


def make_run(*countries: str) -> Run:
    run = Run.objects.create(study="generation", study_version="1", slug=f"run-{Run.objects.count()}")
    for country in countries:
        image = make_image(country=country)
        image.run = run
        image.save()
    return run


def confirm_consent() -> None:
    ReviewerConsent.objects.update(confirmed_by="Ada", confirmed_at=timezone.now())


def complete(campaign: Campaign, boss: User) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(ethics_reference="IRB 7")
    confirm_consent()
    SupportContact.objects.create(campaign=campaign, country="Nigeria", name="Somebody", phone="+234 1")
    for image in campaign.images.select_related("image"):
        FirstLook.objects.get_or_create(campaign=campaign, model_id=image.image.model_id, defaults={"by": boss})
    campaign.refresh_from_db()


def form_of(campaign: Campaign, **changes: object) -> dict[str, object]:
    counts = {f"{name}-{key}": 0 for name in ("texts", "contacts", "invitations") for key in KEYS}
    kept = ("title", "slug", "wanted_opinions", "real_percent", "repeat_percent", "ethics_reference", "state")
    shown = {name: getattr(campaign, name) for name in kept}
    return {**shown, "questionnaire": campaign.questionnaire_id, **counts, **changes}


KEYS = ("TOTAL_FORMS", "INITIAL_FORMS")


def test_everything_that_is_missing_is_listed_by_one_function() -> None:
    campaign = make_campaign(images=2, models=("ada", "bob"), state="draft")
    assert list_missing_steps(campaign) == [
        "Fill in the reference of the ethics approval.",
        "Let a named person confirm a consent and warning text.",
        "Name a support contact with a telephone number for Nigeria.",
        "Look at the first images of ada.",
        "Look at the first images of bob.",
    ]


def test_opening_is_refused_with_the_list_until_nothing_is_missing(staff: Client, boss: User) -> None:
    campaign = make_campaign(images=1, state="draft")
    address = f"/admin/review/campaign/{campaign.pk}/change/"
    assert "Look at the first images of painter." in staff.get(address).content.decode()
    page = staff.post(address, form_of(campaign, state="open")).content.decode()
    assert "The campaign cannot open yet." in page
    assert "Name a support contact" in page
    campaign.refresh_from_db()
    assert campaign.state == "draft"
    complete(campaign, boss)
    contacts = {"contacts-INITIAL_FORMS": 0, "contacts-TOTAL_FORMS": 0}
    assert staff.post(address, form_of(campaign, state="open", **contacts)).status_code == 302
    campaign.refresh_from_db()
    assert campaign.state == "open"


def test_campaign_cannot_close_before_it_opens(boss: User) -> None:
    campaign = make_campaign(images=1)
    complete(campaign, boss)
    campaign.opens_at, campaign.closes_at = timezone.now(), timezone.now() - timedelta(days=1)
    assert list_missing_steps(campaign) == ["Let the campaign close after it opens."]


def test_open_campaign_is_held_back_while_something_is_missing(boss: User, caplog: pytest.LogCaptureFixture) -> None:
    campaign, demonstration = make_campaign(images=1), make_campaign(images=1, source="demonstration")
    complete(campaign, boss)
    recheck_open_campaigns()
    campaign.refresh_from_db()
    assert campaign.is_open()
    SupportContact.objects.update(phone="")
    recheck_open_campaigns()
    campaign.refresh_from_db()
    demonstration.refresh_from_db()
    assert not campaign.is_open()
    assert demonstration.is_open()
    assert "Name a support contact" in caplog.text
    since = campaign.held_back_at
    recheck_open_campaigns()
    campaign.refresh_from_db()
    assert campaign.held_back_at == since
    SupportContact.objects.update(phone="+234 1")
    recheck_open_campaigns()
    campaign.refresh_from_db()
    assert campaign.is_open()


def test_taking_the_contact_away_holds_the_campaign_back_at_once_and_says_so(staff: Client, boss: User) -> None:
    campaign = make_campaign(images=1, state="draft")
    complete(campaign, boss)
    contact = SupportContact.objects.get()
    row = {"id": contact.pk, "campaign": campaign.pk, "country": "Nigeria", "name": "Somebody", "phone": "+234 1"}
    sent = {f"contacts-0-{name}": value for name, value in row.items()} | {"contacts-0-DELETE": "on"}
    counts = {f"contacts-{key}": 1 for key in KEYS}
    address = f"/admin/review/campaign/{campaign.pk}/change/"
    assert staff.post(address, form_of(campaign, state="open", **counts, **sent)).status_code == 302
    campaign.refresh_from_db()
    assert (campaign.state, campaign.is_open()) == ("open", False)
    page = staff.get(address).content.decode()
    assert "Held back since" in page
    assert "Name a support contact with a telephone number for Nigeria." in page


def test_every_image_of_a_model_can_be_looked_at_and_the_page_says_how_many_were(staff: Client) -> None:
    campaign = make_campaign(images=FIRST + 1, state="draft")
    address = f"/admin/review/campaign/{campaign.pk}/look/{campaign.images.all()[0].image.model_id}/"
    page = staff.get(address).content.decode()
    assert page.count('class="blurred"') == FIRST
    assert f"0 of {FIRST + 1} images were looked at. This is page 1 of 2." in page
    onward = staff.post(address, {"on": "1"})
    assert onward.headers["Location"] == f"{address}?page=2"
    page = staff.get(onward.headers["Location"]).content.decode()
    assert f"{FIRST} of {FIRST + 1} images were looked at. This is page 2 of 2." in page
    (name,) = re.findall(r'name="(tags-[^"]+)"', page)[:1]
    staff.post(f"{address}?page=2", {name: ["insects"]})
    assert ContentTag.objects.get().kind == "insects"
    page = staff.get(f"/admin/review/campaign/{campaign.pk}/change/").content.decode()
    assert f"{FIRST + 1} of {FIRST + 1} images were looked at" in page


def test_campaign_without_images_cannot_open() -> None:
    assert list_missing_steps(make_campaign(images=0))[-1] == "Add images."


def test_demonstration_may_open_without() -> None:
    assert list_missing_steps(make_campaign(images=1, source="demonstration")) == []


def test_contact_without_a_telephone_is_no_contact(boss: User) -> None:
    campaign = make_campaign(images=1)
    complete(campaign, boss)
    SupportContact.objects.update(phone="")
    assert list_missing_steps(campaign) == ["Name a support contact with a telephone number for Nigeria."]


def test_confirmed_text_counts_and_the_draft_in_the_readers_language_stands_beside_it() -> None:
    confirm_consent()
    ReviewerConsent.objects.exclude(language="en").delete()
    draft = ReviewerConsent.objects.create(version=1, language="ar", warning=["تنبيه"], sentences=["نص"])
    with override("ar"):
        assert current_consent().language == "en"
        assert draft_beside(current_consent()) == draft
    ReviewerConsent.objects.filter(pk=draft.pk).update(confirmed_at=timezone.now(), confirmed_by="Ada")
    with override("ar"):
        assert current_consent() == draft
        assert draft_beside(current_consent()) is None


def test_without_english_the_newest_text_counts_and_without_any_nobody_joins() -> None:
    ReviewerConsent.objects.all().delete()
    invitation = make_invitation(make_campaign(images=1))
    shown = Client().get(invitation.get_absolute_url())
    assert shown.status_code == 503 and "The consent text is missing." in shown.content.decode()
    for version in (1, 2):
        draft = ReviewerConsent.objects.create(version=version, language="ar", warning=["تنبيه"], sentences=["نص"])
    assert current_consent() == draft
    ReviewerConsent.objects.filter(version=1).update(confirmed_at=timezone.now(), confirmed_by="Ada")
    assert current_consent().version == 1


def test_confirming_a_consent_text_is_dated_and_lets_campaigns_that_waited_go_on(staff: Client, boss: User) -> None:
    campaign = make_campaign(images=1)
    complete(campaign, boss)
    ReviewerConsent.objects.update(confirmed_by="", confirmed_at=None)
    recheck_open_campaigns()
    text = ReviewerConsent.objects.get(language="en")
    address = f"/admin/review/reviewerconsent/{text.pk}/change/"
    for name, confirmed in ((" ", False), ("Ada", True)):
        staff.post(address, {"confirmed_by": name})
        text.refresh_from_db()
        assert (text.confirmed_at is not None) is confirmed
        assert Campaign.objects.get(pk=campaign.pk).is_open() is confirmed


def test_no_campaign_becomes_an_import_by_hand(staff: Client) -> None:
    like = make_campaign(images=1, state="draft")
    page = staff.post("/admin/review/campaign/add/", form_of(like, source="import", slug="by-hand"))
    assert "Published data enters by its import only." in page.content.decode()
    assert not Campaign.objects.filter(slug="by-hand").exists()


def test_images_are_asked_for_in_a_request_and_prepared_outside_it(
    staff: Client, django_capture_on_commit_callbacks: Any
) -> None:
    campaign, run = make_campaign(images=0, state="draft"), make_run("Nigeria", "Nigeria", "Kenya", "Peru")
    sent = {"run": run.pk, "countries": "Nigeria\r\nKenya\r\n", "dishes": ""}
    address = f"/admin/review/campaign/{campaign.pk}/images/"
    assert f'<option value="{run.pk}" selected' in staff.get(address).content.decode()
    assert "Choose a run or a model." in staff.post(address, {**sent, "run": ""}).content.decode()
    with django_capture_on_commit_callbacks(execute=True) as announced:
        assert staff.post(address, sent).status_code == 302
    asked = Preparation.objects.get()
    assert (len(announced), asked.total, campaign.images.count()) == (1, 4, 0)
    prepare_images(asked.pk)
    asked.refresh_from_db()
    assert (asked.done, asked.added, asked.left_out) == (4, 3, {"another country": 1})
    assert asked.finished_at is not None
    assert sorted(campaign.images.values_list("country", flat=True)) == ["Kenya", "Nigeria", "Nigeria"]


@pytest.mark.parametrize(("chosen", "expected"), [({"model": "bob"}, 2), ({"dishes": ["Only this"]}, 1), ({}, 4)])
def test_images_are_chosen_by_model_and_dish(chosen: dict[str, object], expected: int) -> None:
    campaign = make_campaign(images=0)
    images = [make_image("bob"), make_image("bob"), make_image("ada"), make_image("ada", name="Only this")]
    if "model" in chosen:
        chosen = {"model": images[0].model}
    asked = Preparation.objects.create(campaign=campaign, **chosen)
    prepare_job.continue_preparation(asked.pk)
    assert campaign.images.count() == expected


def test_preparation_goes_on_after_a_worker_was_stopped_or_killed_and_counts_nothing_twice() -> None:
    campaign, run = make_campaign(images=0), make_run(*["Nigeria"] * (prepare_job.STEP + 3))
    asked = Preparation.objects.create(campaign=campaign, run=run)
    answers = iter([False, True])
    prepare_job.continue_preparation(asked.pk, stop=lambda: next(answers))
    asked.refresh_from_db()
    assert (asked.done, asked.leased_until, asked.finished_at) == (prepare_job.STEP, None, None)
    Preparation.objects.update(leased_until=timezone.now() + timedelta(minutes=1))
    prepare_job.continue_preparation(asked.pk)
    assert Preparation.objects.get().done == prepare_job.STEP
    assert prepare_job.list_waiting_preparations() == []
    Preparation.objects.update(leased_until=timezone.now() - timedelta(minutes=1))
    assert prepare_job.list_waiting_preparations() == [asked.pk]
    prepare_job.continue_preparation(asked.pk)
    assert Preparation.objects.get().done == prepare_job.STEP + 3 == campaign.images.count()
    assert prepare_job.list_waiting_preparations() == []


def test_a_worker_stops_where_another_one_went_on_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    campaign, run = make_campaign(images=0), make_run(*["Nigeria"] * (prepare_job.STEP + 3))
    asked = Preparation.objects.create(campaign=campaign, run=run)
    add = prepare_job.prepare_campaign_images

    def meanwhile(*given: Any, **how: Any) -> Any:
        """The other worker is quicker."""
        monkeypatch.setattr(prepare_job, "prepare_campaign_images", add)
        Preparation.objects.update(leased_until=None)
        prepare_job.continue_preparation(asked.pk)
        return add(*given, **how)

    monkeypatch.setattr(prepare_job, "prepare_campaign_images", meanwhile)
    prepare_job.continue_preparation(asked.pk)
    asked.refresh_from_db()
    assert (asked.done, asked.added, campaign.images.count()) == (prepare_job.STEP + 3,) * 3
    assert asked.finished_at is not None


def test_images_cannot_be_added_while_the_campaign_is_open(staff: Client) -> None:
    campaign, run = make_campaign(images=0), make_run("Nigeria")
    page = staff.post(f"/admin/review/campaign/{campaign.pk}/images/", {"run": run.pk}).content.decode()
    assert "Set it back to draft first." in page
    assert not Preparation.objects.exists()


def make_photo(country: str = "Nigeria", *, consent: bool = True, **changes: object) -> Photo:
    text = ConsentText.objects.order_by("pk").first() if consent else None
    person = Contributor.objects.create(consent=text)
    number = Dish.objects.count() + 500
    dish = Dish.objects.create(number=number, contributor=person, local_name="Ẹ̀bà", ingredients="x", state="accepted")
    DishCountry.objects.create(dish=dish, name=country, country=Country.objects.filter(name=country).first())
    path = default_storage.save(f"photos/{number}.jpg", ContentFile(make_image_bytes("green", (300, 200), "JPEG")))
    yes = dict.fromkeys(("taken_by_me", "may_be_shared", "no_people", "is_photograph"), True)
    return Photo.objects.create(**{"dish": dish, "file": path, "state": "accepted", **yes, **changes})


def test_real_photographs_are_added_by_their_share_and_look_like_every_other_image() -> None:
    campaign = make_campaign(images=4, real_percent=20)
    make_photo()
    make_photo()
    assert real_photographs.add_real_photographs(campaign) == 1
    image = campaign.images.get(image__model__role=Role.CAMERA)
    assert (image.dish_name, image.country) == ("Ẹ̀bà", "Nigeria")
    assert len(image.copy_sha256) == 64
    assert real_photographs.add_real_photographs(campaign) == 0


@pytest.mark.parametrize(
    "photo",
    [{"consent": False}, {"state": "waiting"}, {"country": "Kenya"}, {"state": "rejected", "may_be_shared": False}],
)
def test_photo_without_consent_acceptance_or_of_another_country_is_left_out(photo: dict[str, Any]) -> None:
    campaign = make_campaign(images=4, real_percent=20)
    make_photo(**photo)
    assert real_photographs.add_real_photographs(campaign) == 0
    assert not GeneratedImage.objects.filter(model__role=Role.CAMERA).exists()


def test_looking_first_is_recorded_with_tags_in_every_country_of_the_image(staff: Client) -> None:
    campaign = make_campaign(images=0, state="draft")
    image = make_image()
    for country in ("Nigeria", "Benin"):
        prepare_campaign_images(campaign, [image], country)
    address = f"/admin/review/campaign/{campaign.pk}/look/{image.model_id}/"
    page = staff.get(address).content.decode()
    assert page.count('class="blurred"') == 1
    name = re.search(r'name="(tags-[^"]+)"', page)
    assert name
    staff.post(address, {name[1]: ["insects", "nonsense"]})
    assert sorted(ContentTag.objects.values_list("image__country", "kind")) == [
        ("Benin", "insects"),
        ("Nigeria", "insects"),
    ]
    assert FirstLook.objects.get().by.get_username() == "boss"
    staff.post(address, {})
    assert not ContentTag.objects.exists()


def test_there_is_nothing_to_look_at_of_a_model_without_images(staff: Client) -> None:
    campaign, other = make_campaign(images=1, state="draft"), make_image("other")
    assert staff.get(f"/admin/review/campaign/{campaign.pk}/look/{other.model_id}/").status_code == 404


def test_preview_of_a_campaign_without_images_says_so(staff: Client) -> None:
    shown = staff.get(f"/admin/review/campaign/{make_campaign(images=0).pk}/preview/")
    assert shown.status_code == 404 and "The campaign has no images yet." in shown.content.decode()


def test_preview_asks_what_depends_on_the_first_answers_and_goes_on(staff: Client) -> None:
    campaign = make_campaign(images=2, state="draft")
    address = f"/admin/review/campaign/{campaign.pk}/preview/"
    page = staff.get(address).content.decode()
    for number, given, expected in (("1", FOOD, 'name="page" value="2"'), ("2", GOOD, "Picture 2 of 2")):
        sent = {"proof": PROOF.findall(page)[0], "do": "answer", "page": number, "shown": "1", **answers_of(given)}
        page = staff.post(address, sent).content.decode()
        assert expected in page
    assert not Review.objects.exists()


def test_preview_walks_through_the_questions_and_stores_nothing(staff: Client) -> None:
    campaign = make_campaign(images=2, state="draft")
    address = f"/admin/review/campaign/{campaign.pk}/preview/"
    page = staff.get(address).content.decode()
    assert "The picture is covered." in page
    for fields, expected in (
        ({"do": "show"}, "/review/picture/"),
        ({"do": "answer", "shown": "1"}, "Choose one of the answers."),
        ({"do": "skip"}, "Picture 2 of 2"),
        ({"do": "report"}, "Picture 1 of 2"),
    ):
        page = staff.post(address, {"proof": PROOF.findall(page)[0], **fields}).content.decode()
        assert expected in page
    kinds = (Reviewer, Assignment, Review, Invitation)
    assert [kind.objects.count() for kind in kinds] == [0, 0, 0, 0]


@pytest.mark.parametrize("page", ["preview/", "images/", "look/1/", "change/"])
def test_pages_of_a_campaign_are_for_staff_with_the_permission(page: str) -> None:
    campaign = make_campaign()
    plain = User.objects.create_user("plain", is_staff=True)
    plain.user_permissions.add(Permission.objects.get(codename="view_dish"))
    client = Client()
    client.force_login(plain)
    address = f"/admin/review/campaign/{campaign.pk}/{page}"
    assert client.get(address).status_code == 403
    assert Client().get(address).status_code == 302
