"""Preparing images, saving answers, what makes tables stale."""

import pytest
from django.core.files.storage import default_storage

from evaluation.content_store import path_of
from evaluation.models import GeneratedImage, InputCounter
from review.campaigns.service import prepare_campaign_images, save_review
from review.errors import RequestRefusedError
from review.models import Campaign, CampaignImage, Review
from review.questionnaires import InvalidAnswersError
from tests.review.make import GOOD, first_image, make_campaign, make_image, make_reviewer

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def test_prepared_images_have_copies_equal_in_kind_and_random_ids() -> None:
    campaign = make_campaign(images=3)
    ids = [image.pk for image in campaign.images.all()]
    assert [key.version for key in ids] == [4, 4, 4]
    for image in campaign.images.select_related("image"):
        assert default_storage.exists(path_of(image.copy_sha256))
        assert image.copy_sha256 != image.image.sha256


def test_preparing_twice_adds_nothing() -> None:
    campaign = make_campaign(images=0)
    images = [make_image(), make_image()]
    assert prepare_campaign_images(campaign, images).added == 2
    again = prepare_campaign_images(campaign, images)
    assert (again.added, again.already, CampaignImage.objects.count()) == (0, 2, 2)


def test_image_is_judged_for_every_country_of_its_subject_or_for_the_given_one() -> None:
    campaign = make_campaign(images=0)
    image = make_image()
    image.subject.labels = {"country": ["Nigeria", "Benin"]}
    image.subject.save()
    prepare_campaign_images(campaign, [image])
    assert set(campaign.images.values_list("country", flat=True)) == {"Nigeria", "Benin"}
    prepare_campaign_images(campaign, [image], country="Togo")
    assert campaign.images.filter(country="Togo", dish_name="Àmàlà").exists()


def test_images_that_cannot_be_shown_are_named_with_the_reason() -> None:
    refused = make_image()
    GeneratedImage.objects.filter(pk=refused.pk).update(state=GeneratedImage.State.REFUSED)
    refused.refresh_from_db()
    broken, nowhere, lost = make_image(content=b"no picture"), make_image(country=""), make_image()
    lost.sha256 = "0" * 64
    campaign = make_campaign(images=0)
    done = prepare_campaign_images(campaign, [refused, broken, nowhere, lost])
    assert done.added == 0
    assert done.left_out[refused.source_key] == "refused by the provider"
    assert "cannot be read" in done.left_out[broken.source_key]
    assert done.left_out[nowhere.source_key] == "no country"
    assert done.left_out[lost.source_key] == "the file is not held"


def test_refused_answers_leave_nothing_and_keep_tables_fresh() -> None:
    campaign = make_campaign()
    reviewer = make_reviewer(campaign)
    with pytest.raises(InvalidAnswersError):
        save_review(reviewer, first_image(campaign), {**GOOD, "seen": "both"})
    with pytest.raises(RequestRefusedError):
        save_review(reviewer, first_image(make_campaign()), GOOD)
    Campaign.objects.update(state=Campaign.State.CLOSED)
    with pytest.raises(RequestRefusedError):
        save_review(reviewer, first_image(campaign), GOOD)
    assert not Review.objects.exists()
    assert not InputCounter.objects.filter(name="reviews").exists()


def test_saving_correcting_and_removing_a_review_make_tables_stale() -> None:
    def counter() -> int:
        return InputCounter.objects.get(name="reviews").value

    campaign = make_campaign()
    reviewer, image = make_reviewer(campaign), first_image(campaign)
    assert save_review(reviewer, image, GOOD).how == "saved"
    first = counter()
    assert save_review(reviewer, image, GOOD).how == "same"
    assert counter() == first
    assert save_review(reviewer, image, {**GOOD, "match": "none"}, correction=True).how == "corrected"
    assert counter() == first + 1
    reviewer.delete()
    assert counter() > first + 1
    assert not Review.objects.exists()
