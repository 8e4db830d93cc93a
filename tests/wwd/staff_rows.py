"""One row of everything that staff could see, with words that only some of them may read."""

from datetime import timedelta

from django.contrib.auth.models import Group, User
from django.utils import timezone

from collection.models import AboutYou, Ambassador, Country, Dish, Report
from evaluation.images import download_log
from evaluation.models import Run, WorkerToken
from evaluation.tables import compute
from review.campaigns.service import save_review
from review.models import Exclusion, Note, ReviewerBackground, SupportContact
from tests.collection.make import make_contributor, make_dish, make_photo
from tests.evaluation.make_tables import image_result, make_association, make_place_in
from tests.review.make import NOT_FOOD, first_image, make_campaign, make_reviewer

PERSONAL = "Adwoa Private"
BACKGROUND = "grew up in a village nobody names"
NOTE = "a note for the team alone"
PHONE = "+233 30 555 0101"
OWN_WORDS = "my aunt's kitchen wall"


def make_member(group: str, name: str = "") -> User:
    """Somebody on the staff who is in this group alone."""
    user = User.objects.create_user(name or group, password="a long enough secret", is_staff=True)
    user.groups.set([Group.objects.get(name=group)])
    return user


def name_ambassador(account: User, country: str = "GHA", days: int = 30) -> Ambassador:
    until = timezone.localdate() + timedelta(days=days)
    place = Country.objects.get(pk=country)
    return Ambassador.objects.create(label=f"for {place}", country=place, until=until, account=account)


def make_world() -> Run:
    """Rows of all apps; returns the run."""
    person = make_contributor()
    AboutYou.objects.create(contributor=person, name=PERSONAL, agreed_at=timezone.now())
    dish = make_dish("Kenkey", "Ghana", contributor=person)
    make_photo(dish)
    Report.objects.create(dish=dish, reason="wrong", words="It is spelled otherwise.")
    make_dish("Thieboudienne", "Senegal", state=Dish.State.ACCEPTED)
    make_review()
    run = make_association(*(image_result(make_place_in("Africa"), "painter", 1, n) for n in range(12)))
    compute.compute_and_store("association.scores", {})
    operator = User.objects.create_superuser("chief", password="a long enough secret")
    download_log.record_download(operator, "all images", 3)
    WorkerToken.objects.create(name="cluster", queues=["gpu"], secret_hash="0" * 64, made_by=operator)
    return run


def make_review() -> None:
    """A campaign with somebody who answered, told of themselves, wrote a note, and was left out."""
    campaign = make_campaign(images=1, country="Ghana")
    SupportContact.objects.create(campaign=campaign, country="Ghana", name="Esi", phone=PHONE)
    reviewer = make_reviewer(campaign, country="Ghana")
    save_review(reviewer, first_image(campaign), {**NOT_FOOD, "seen": OWN_WORDS})
    ReviewerBackground.objects.create(reviewer=reviewer, lived=BACKGROUND)
    Note.objects.create(reviewer=reviewer, text=NOTE)
    by = User.objects.create_user("who decides")
    Exclusion.objects.create(reviewer=reviewer, reason="answers in two seconds", by=by)
