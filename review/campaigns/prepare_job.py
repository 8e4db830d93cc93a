"""Many images for a campaign, prepared by a worker in small steps. A killed worker's work is taken up by the next.

The row says how far it is; anyone who works holds a lease by the database's clock and renews it with every step.
"""

import logging
from collections import Counter
from collections.abc import Callable
from datetime import timedelta

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from evaluation.models import GeneratedImage
from evaluation.queue import send_task
from review.campaigns.real_photographs import add_real_photographs
from review.campaigns.service import prepare_campaign_images
from review.models import Preparation
from wwd.base.leases import Lease

STEP = 10
LEASE = Lease(timedelta(minutes=2))
logger = logging.getLogger(__name__)


def start_preparation(preparation: Preparation) -> None:
    """Stores what is to be prepared and announces it to the workers."""
    preparation.total = select_preparation_images(preparation).count()
    preparation.save()
    transaction.on_commit(lambda: announce_preparation(preparation.pk))


def announce_preparation(pk: int) -> None:
    send_task("review.tasks.prepare_pictures", pk)


def list_waiting_preparations() -> list[int]:
    """Preparations that are not finished and that nobody works on."""
    return LEASE.list_free_ids(Preparation.objects.filter(finished_at=None))


def select_preparation_images(preparation: Preparation) -> QuerySet[GeneratedImage]:
    """The held images that were asked for, by the order of their ids; countries are looked at in each step."""
    images = GeneratedImage.objects.filter(state=GeneratedImage.State.HELD)
    if preparation.run_id:
        images = images.filter(run=preparation.run_id)
    if preparation.model_id:
        images = images.filter(model=preparation.model_id)
    if preparation.dishes:
        numbers = [int(word) for word in preparation.dishes if word.isdecimal() and len(word) < 19]
        images = images.filter(Q(subject__name__in=preparation.dishes) | Q(subject__dish__number__in=numbers))
    return images.select_related("subject__dish").order_by("pk")


def continue_preparation(pk: int, stop: Callable[[], bool] = lambda: False) -> None:
    """Goes on with a preparation that nobody works on, until it is done or `stop` says so."""
    row = Preparation.objects.filter(pk=pk)
    if not LEASE.claim_rows(row.filter(finished_at=None)):
        return
    while not stop():
        preparation = Preparation.objects.select_related("campaign").get(pk=pk)
        images = list(select_preparation_images(preparation).filter(pk__gt=preparation.last)[:STEP])
        if not images:
            add_real_photographs(preparation.campaign)
            LEASE.release_rows(row, finished_at=Now())
            return
        if not _step(preparation, images):
            return
    LEASE.release_rows(row)


def _step(preparation: Preparation, images: list[GeneratedImage]) -> bool:
    """Prepares some images and counts them once; False where somebody else went on meanwhile."""
    done = prepare_campaign_images(preparation.campaign, images, only=preparation.countries)
    left_out = Counter(preparation.left_out) + Counter(done.left_out.values())
    mine = Preparation.objects.filter(pk=preparation.pk, last=preparation.last)
    return LEASE.renew_rows(
        mine,
        last=images[-1].pk,
        done=F("done") + len(images),
        added=F("added") + done.added,
        left_out=dict(left_out),
    )
