"""Rows for `bench/dashboards.py` of which an installation has few: plans, invitations, contacts, details of people."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from collection.models import (
    AboutYou,
    Ambassador,
    Contributor,
    Country,
    Dish,
    DishChange,
    Ingredient,
    Opening,
    Withdrawal,
)
from evaluation.models import ExportJob, GeneratedImage, ImageDownload, Model, Plan, ReferenceList
from evaluation.plans.freezing import freeze_plan
from review.models import (
    Campaign,
    CampaignText,
    FirstLook,
    Invitation,
    Preparation,
    Reviewer,
    ReviewerBackground,
    SupportContact,
)

DRAFT, FROZEN = "bench-draft", "bench-frozen"
TABLE = "review.quality"
EACH = 12


def fill_few(user: User) -> None:
    """A dozen or so of everything that people write by hand."""
    if Plan.objects.filter(slug=DRAFT).exists():
        return
    now, countries = timezone.now(), list(Country.objects.order_by("code")[:EACH])
    planned = [{"table": TABLE, "version": "", "filters": {}, "metrics": ["food"]}]
    common: dict[str, Any] = {"tables": planned, "primary_table": TABLE, "primary_metric": "food", "created_by": user}
    plans = [Plan.objects.create(slug=slug, title=slug, hypotheses="None.", **common) for slug in (DRAFT, FROZEN)]
    freeze_plan(plans[1], user)
    models = list(Model.objects.filter(slug__startswith="bench-").order_by("pk"))
    for campaign in Campaign.objects.order_by("pk"):
        FirstLook.objects.bulk_create(FirstLook(campaign=campaign, model=model, by=user) for model in models[:2])
        Preparation.objects.bulk_create(Preparation(campaign=campaign, model=model) for model in models)
        for n, country in enumerate(countries):
            Invitation.objects.create(campaign=campaign, country=country, limit=20)
            SupportContact.objects.create(campaign=campaign, country=country.name, name="Somebody", phone=f"+{n}")
            CampaignText.objects.create(campaign=campaign, language=f"b{n}", title="Title", introduction="Words")
    ReviewerBackground.objects.bulk_create(
        ReviewerBackground(reviewer=reviewer) for reviewer in Reviewer.objects.order_by("pk")[:EACH]
    )
    AboutYou.objects.bulk_create(
        AboutYou(contributor=contributor, agreed_at=now) for contributor in Contributor.objects.order_by("pk")[:EACH]
    )
    for dish in Dish.objects.order_by("pk")[:EACH]:
        DishChange.objects.create(dish=dish, by_steward=user, before={"local_name": "Another"})
        Withdrawal.objects.create(dish=dish, at=now, undone_at=now, reason=Withdrawal.Reason.values[0])
    for n, country in enumerate(countries):
        Ambassador.objects.create(country=country, label=f"bench {n}", until=now.date() + timedelta(days=30))
        Ingredient.objects.create(name=f"Ingredient {n}")
        ReferenceList.objects.create(slug=f"bench-{n}", title=f"List {n}", sha256="0" * 64, fields=[])
    Opening.objects.create(made_by=user, controller="The project")
    image = GeneratedImage.objects.latest("pk")
    ImageDownload.objects.create(by=user, what=f"image {image.pk}", number=1)
    for kind in ExportJob.Kind.values:
        ExportJob.objects.create(
            kind=kind, name="bench", views=[TABLE], asked=kind, state=ExportJob.State.DONE, by=user
        )
