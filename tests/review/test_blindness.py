"""Reviewers, and whoever looks over their shoulder, learn nothing of model, prompt, seed, file or others' answers."""

import re
from typing import cast
from urllib.parse import unquote

import pytest
from django.http import HttpResponse
from django.test import Client

from review.campaigns import save_review
from review.models import Campaign, CampaignImage
from tests.review.make import FOOD, GOOD, NOT_FOOD, form_of, make_campaign, make_invitation, make_reviewer

pytestmark = pytest.mark.django_db

MODELS = ("zebrafinch", "quokkapaint")
OTHERS = "somebody else's words"


def secrets_of(campaign: Campaign) -> set[str]:
    """Everything about the campaign's pictures that nobody may learn."""
    found: set[str] = {*MODELS, "Secret prompt", "source_key", OTHERS, "sketch"}
    for row in CampaignImage.objects.filter(campaign=campaign).select_related("image__model", "image__subject"):
        image = row.image
        found |= {str(image.seed), image.prompt_sent, image.source_key, image.sha256, row.copy_sha256}
        found |= {image.subject.source_key}
    return found


def walk(campaign: Campaign) -> list[tuple[str, HttpResponse]]:
    """Every kind of page and picture that a reviewer meets, with its address."""
    invitation = make_invitation(campaign)
    client = Client(HTTP_ACCEPT_ENCODING="identity")
    met: list[tuple[str, HttpResponse]] = []

    def send(address: str, **fields: object) -> str:
        response = cast(HttpResponse, client.post(address, fields) if fields else client.get(address))
        met.append((address, response))
        return response.content.decode("latin-1")

    def proof(page: str) -> str:
        return re.findall(r'name="proof" value="([^"]+)"', page)[-1]

    start = invitation.get_absolute_url()
    here = f"{start}pictures/"
    page = send(start)
    choices = {"country": "Nigeria", "role": "volunteer", "adult": "on", "agree": "on"}
    page = send(start, proof=proof(page), **choices)
    for answers in (GOOD, NOT_FOOD):
        shown = send(here, proof=proof(page), do="show")
        address = re.search(r"/review/picture/[^\"]+", shown)
        assert address
        send(unquote(address[0]))
        send(here, proof=proof(shown), do="answer", page="1", shown="1", **form_of(FOOD))
        page = send(here, proof=proof(shown), do="answer", page="2", shown="1", **form_of(answers))
        send(here, proof=proof(shown), do="answer", page="2", shown="1", **form_of({**GOOD, "match": "none"}))
    stopped = send(here, proof=proof(page), do="stop")
    back = re.search(r"/review/back/[^\"]+", stopped)
    assert back
    send(unquote(back[0]))
    for button in ("hide", "skip", "report", "explode"):
        page = send(here, proof=proof(page), do=button)
    return met


def test_no_page_address_or_header_tells_what_made_a_picture_or_what_others_said() -> None:
    campaign = make_campaign(images=6, models=MODELS)
    other = make_reviewer(campaign)
    for image in campaign.images.all():
        save_review(other, image, {**GOOD, "explanation": OTHERS})
    met = walk(campaign)
    kinds = {response["Content-Type"].split(";")[0] for _, response in met}
    assert kinds == {"text/html", "image/jpeg"}
    hidden = secrets_of(campaign)
    for address, response in met:
        told = "\n".join([address, str(response.headers), str(response.cookies), response.content.decode("latin-1")])
        assert [secret for secret in hidden if secret in told] == []


def test_picture_has_no_header_that_tells_one_file_from_another() -> None:
    campaign = make_campaign(images=6, models=MODELS)
    headers = [
        {**response.headers, "Content-Length": "", "ETag": ""}
        for address, response in walk(campaign)
        if address.startswith("/review/picture/")
    ]
    assert len(headers) == 2
    assert headers[0] == headers[1]
    assert {"Last-Modified", "Content-Disposition"}.isdisjoint(headers[0])


def test_covered_pages_hold_no_address_of_a_picture() -> None:
    pages = [response.content.decode("latin-1") for _, response in walk(make_campaign(images=6, models=MODELS))]
    covered = [page for page in pages if "The picture is covered." in page]
    assert len(covered) == 6
    assert [page for page in covered if "/review/picture/" in page or "<img" in page] == []
