"""Pages of staff."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from evaluation.models import Run
from review.admin.progress import count_progress_by_name
from review.assignment import report_assignment, reserve_image
from review.campaigns.service import save_review
from review.models import Assignment, Campaign, CampaignImage, Invitation, Review, Reviewer
from review.signed_links import back_address
from tests.review.make import GOOD, first_image, make_campaign, make_image, make_invitation, make_reviewer

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


@pytest.fixture
def staff() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("staff", password="a long password"))
    return client


def make_run(images: int = 3) -> Run:
    run = Run.objects.create(study="generation", study_version="1", slug="run-for-review")
    for _ in range(images):
        image = make_image()
        image.run = run
        image.save()
    return run


@pytest.mark.parametrize(
    "name", ["campaign", "invitation", "campaignimage", "reviewer", "assignment", "review", "questionnaire"]
)
def test_every_list_opens_for_staff_and_for_nobody_else(staff: Client, name: str) -> None:
    campaign = make_campaign()
    reviewer = make_reviewer(campaign)
    save_review(reviewer, first_image(campaign), GOOD)
    assert staff.get(f"/admin/review/{name}/").status_code == 200
    assert Client().get(f"/admin/review/{name}/").status_code == 302
    plain = Client()
    plain.force_login(User.objects.create_user("plain", is_staff=True))
    assert plain.get(f"/admin/review/{name}/").status_code == 403


def test_campaign_page_shows_full_links_and_progress(staff: Client) -> None:
    campaign = make_campaign(images=2, wanted=2)
    invitation = make_invitation(campaign)
    save_review(make_reviewer(campaign), first_image(campaign), GOOD)
    page = staff.get(f"/admin/review/campaign/{campaign.pk}/change/").content.decode()
    assert f"http://testserver{invitation.get_absolute_url()}" in page
    assert "1 / 4" in page


def test_adding_images_needs_the_permission_to_change_campaigns() -> None:
    campaign, run = make_campaign(images=0, state="draft"), make_run()
    user = User.objects.create_user("looking", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_campaign"))
    client = Client()
    client.force_login(user)
    address = f"/admin/review/campaign/{campaign.pk}/images/"
    assert client.post(address, {"run": run.pk}).status_code == 403
    assert client.get(address).status_code == 403
    assert Client().post(address, {"run": run.pk}).status_code == 302
    assert not campaign.preparations.exists()


def test_new_campaign_with_an_invitation_can_be_made_by_hand(staff: Client) -> None:
    questionnaire = make_campaign(images=0).questionnaire
    sent = {
        "title": "By hand",
        "slug": "by-hand",
        "questionnaire": questionnaire.pk,
        "wanted_opinions": 3,
        "real_percent": 5,
        "repeat_percent": 5,
        "source": "form",
        "state": "draft",
        **{f"{name}-{key}": 0 for name in ("texts", "contacts") for key in ("TOTAL_FORMS", "INITIAL_FORMS")},
        "invitations-TOTAL_FORMS": 1,
        "invitations-INITIAL_FORMS": 0,
        "invitations-0-limit": 5,
    }
    assert staff.post("/admin/review/campaign/add/", sent).status_code == 302
    invitation = Invitation.objects.get(campaign__slug="by-hand")
    assert (invitation.limit, len(invitation.code), len(invitation.short)) == (5, 16, 8)


def test_withdrawn_invitation_lets_nobody_in(staff: Client) -> None:
    invitation = make_invitation()
    staff.post("/admin/review/invitation/", {"action": "revoke", "_selected_action": invitation.pk})
    assert Client().get(invitation.get_absolute_url()).status_code == 403


def test_personal_link_finds_the_reviewer_whose_answers_are_to_be_withdrawn(staff: Client) -> None:
    campaign = make_campaign()
    reviewer, other = make_reviewer(campaign), make_reviewer(campaign)
    save_review(reviewer, first_image(campaign), GOOD)
    link = f"https://dishes.example{back_address(reviewer)}"
    page = staff.get("/admin/review/reviewer/", {"q": link}).content.decode()
    assert (str(reviewer.pk) in page, str(other.pk) in page) == (True, False)
    assert staff.post(f"/admin/review/reviewer/{reviewer.pk}/delete/", {"post": "yes"}).status_code == 403
    staff.post("/admin/review/reviewer/", {"action": "withdraw", "_selected_action": reviewer.pk})
    assert Review.objects.counted().count() == 0
    assert Reviewer.objects.exclude(withdrawn_at=None).get() == reviewer


def test_reported_image_is_shown_again_after_staff_looked_at_it(staff: Client) -> None:
    campaign = make_campaign(images=1)
    reviewer = make_reviewer(campaign)
    held = reserve_image(reviewer)
    assert held is not None
    report_assignment(held)
    assert reserve_image(make_reviewer(campaign)) is None
    staff.post("/admin/review/assignment/", {"action": "show_again", "_selected_action": held.pk})
    assert Assignment.objects.get(pk=held.pk).state == "skipped"
    assert reserve_image(make_reviewer(campaign)) is not None
    assert reserve_image(reviewer) is None


def test_images_are_blurred_in_lists(staff: Client) -> None:
    make_campaign(images=1)
    page = staff.get("/admin/review/campaignimage/").content.decode()
    assert 'class="blurred"' in page
    assert "review/admin" in page


def test_image_whose_copy_is_not_here_is_listed_without_it(staff: Client) -> None:
    campaign = make_campaign(images=2)
    CampaignImage.objects.filter(pk=first_image(campaign).pk).update(copy_sha256="")
    page = staff.get("/admin/review/campaignimage/").content.decode()
    assert (page.count('class="blurred"'), page.count("not held")) == (1, 1)


def test_answers_cannot_be_written_by_staff(staff: Client) -> None:
    campaign = make_campaign()
    review = save_review(make_reviewer(campaign), first_image(campaign), GOOD).review
    staff.post(f"/admin/review/review/{review.pk}/change/", {"match": "none"})
    assert Review.objects.get().match == "exact"
    assert staff.get("/admin/review/review/add/").status_code == 403


@pytest.mark.parametrize(("by", "name"), [("country", "Nigeria"), ("model", "painter"), ("dish", "Àmàlà")])
def test_progress_counts_every_kind_by_country_model_and_dish(by: str, name: str) -> None:
    campaign = make_campaign(images=2, wanted=1)
    image = first_image(campaign)
    for _ in range(2):
        save_review(make_reviewer(campaign), image, GOOD)
    held = reserve_image(make_reviewer(campaign))
    assert held is not None
    report_assignment(held)
    [row] = count_progress_by_name(Campaign.objects.get())[by]
    assert (row.name, row.images, row.opinions, row.wanted) == (name, 2, 1, 2)
    assert (row.surplus, row.skipped, row.reported) == (1, 0, 1)
