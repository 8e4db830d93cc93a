"""Reviewers and onlookers learn nothing of model, prompt, seed, file or others' answers."""

import re
from io import BytesIO
from typing import cast
from urllib.parse import unquote

import numpy as np
import pytest
from django.http import HttpResponse
from django.test import Client
from PIL import Image

from review.assignment import reserve_image, skip_assignment
from review.campaigns.service import save_review
from review.models import Campaign, CampaignImage
from review.signed_links import image_address
from tests.review.make import FOOD, GOOD, NOT_FOOD, form_of, make_campaign, make_invitation, make_reviewer

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

MODELS = ("zebrafinch", "quokkapaint")
OTHERS = "somebody else's words"


def secrets_of(campaign: Campaign) -> set[str]:
    """Everything about the campaign's images that nobody may learn."""
    found: set[str] = {*MODELS, "Secret prompt", "source_key", OTHERS, "sketch"}
    for row in CampaignImage.objects.filter(campaign=campaign).select_related("image__model", "image__subject"):
        image = row.image
        found |= {str(image.seed), image.prompt_sent, image.source_key, image.sha256, row.copy_sha256}
        found |= {image.subject.source_key}
    return found


def walk(campaign: Campaign) -> list[tuple[str, HttpResponse]]:
    """Every kind of page and image that a reviewer meets, with its address."""
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
    choices = {"begun": "no", "country": "Nigeria", "role": "volunteer", "adult": "on", "agree": "on"}
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


def test_no_page_address_or_header_tells_what_made_an_image_or_what_others_said() -> None:
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


def test_image_has_no_header_that_tells_one_file_from_another() -> None:
    campaign = make_campaign(images=6, models=MODELS)
    headers = [
        {**response.headers, "Content-Length": "", "ETag": ""}
        for address, response in walk(campaign)
        if address.startswith("/review/picture/")
    ]
    assert len(headers) == 2
    assert headers[0] == headers[1]
    assert {"Last-Modified", "Content-Disposition"}.isdisjoint(headers[0])


def test_covered_pages_hold_no_address_of_an_image() -> None:
    pages = [response.content.decode("latin-1") for _, response in walk(make_campaign(images=6, models=MODELS))]
    covered = [page for page in pages if "The picture is covered." in page]
    assert len(covered) == 6
    assert [page for page in covered if "/review/picture/" in page or "<img" in page] == []


def features_of(campaign: Campaign, seed: int, leak: str = "") -> tuple[np.ndarray, np.ndarray]:
    """What a reviewer gets of each image besides its pixels, in the order of getting it, and which model made it."""
    reviewer = make_reviewer(campaign)
    names = {slug: place for place, slug in enumerate(MODELS)}
    rows: list[list[float]] = []
    labels: list[int] = []
    client = Client()
    while given := reserve_image(reviewer):
        image = given.image
        response = client.get(image_address(image))
        size = Image.open(BytesIO(response.content)).size
        label = names[image.image.model.slug if image.image.model else ""]
        headers = " ".join(f"{name}: {value}" for name, value in response.headers.items() if name != "Content-Length")
        noise = [byte / 255 for byte in (*image.pk.bytes[:8], *given.pk.bytes[:4])]
        told = [len(rows) / 40, *size, len(headers), sum(headers.split("ETag")[0].encode()) % 97]
        etag = response.headers["ETag"].encode()
        rows.append([*noise, *told, etag[1], etag[2], label if leak == "id" else 0.0])
        labels.append(label)
        skip_assignment(given)
    order = np.random.default_rng(seed).permutation(len(rows))
    return np.array(rows)[order], np.array(labels)[order]


def accuracy(features: np.ndarray, labels: np.ndarray, splits: int = 5) -> float:
    """Logistic regression by gradient descent on standardised features, tested on each of five parts in turn."""
    spread = features.std(axis=0)
    inputs = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1)
    parts = np.arange(len(labels)) % splits
    right = 0
    for part in range(splits):
        here, there = parts != part, parts == part
        weights = np.zeros(inputs.shape[1])
        for _ in range(300):
            chance = 1 / (1 + np.exp(-inputs[here] @ weights))
            weights -= 0.1 * (inputs[here].T @ (chance - labels[here]) / here.sum() + 0.05 * weights)
        right += int(((inputs[there] @ weights > 0) == (labels[there] == 1)).sum())
    return right / len(labels)


@pytest.mark.parametrize(("leak", "told"), [("", False), ("id", True)])
def test_classifier_on_everything_but_the_pixels_stays_at_chance_and_notices_a_leak(leak: str, told: bool) -> None:
    """120 images, half by each model: chance is .5, and .7 lies more than four standard deviations above it."""
    campaign = make_campaign(images=120, models=MODELS, repeat_percent=0)
    found = accuracy(*features_of(campaign, seed=7, leak=leak))
    assert (found > 0.7) is told
