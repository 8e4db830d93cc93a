"""Images on researchers' pages: covered until somebody asks, with all that people and machines said of each.

A page that lists images puts `context(request, ids)` into its own context and includes
`evaluation/images/rows.html`. Whether somebody may see images, answers and own words is decided here.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.module_loading import import_string

from evaluation.images import files, machine_scores
from evaluation.images.machine_scores import Score
from evaluation.models import GeneratedImage, Model
from evaluation.plans.mask import Mask, mask_of_models
from evaluation.registry.names import REGISTERED_OPINIONS

SEE = "evaluation.view_generatedimage"
SHOW = "show"
ALL = "all"
MOST_SHOWN = 60
NAME = re.compile(r"[a-z0-9-]{1,40}")
User = AbstractUser | AnonymousUser


@dataclass(frozen=True)
class Opinion:
    """One review as a page shows it. `who` is an opaque label; `words` is None where the reader may not read them."""

    review: int
    who: str
    where: str
    said: Sequence[tuple[str, str]]
    words: Sequence[tuple[str, str]] | None
    left_out: str = ""


@dataclass(frozen=True)
class RequestedImages:
    """What of a page somebody asked to see, an image by its id; `rest` is the page's query without that."""

    names: frozenset[str] = frozenset()
    rest: str = ""

    @classmethod
    def of(cls, request: HttpRequest) -> "RequestedImages":
        query: QueryDict = request.GET.copy()
        named = query.pop(SHOW, [])
        return cls(frozenset(name for name in named[:MOST_SHOWN] if NAME.fullmatch(name)), query.urlencode())

    def shows(self, name: int | str) -> bool:
        return ALL in self.names or str(name) in self.names

    def query(self, *names: str) -> str:
        """The page's address, from the question mark on, with these shown."""
        return "?" + "&".join([*([self.rest] if self.rest else []), *(f"{SHOW}={name}" for name in names)])

    def turned(self, name: int | str) -> str:
        """The address that shows `name` too, or covers it again."""
        return self.query(*sorted(self.names ^ {str(name)}))


NOTHING = RequestedImages()


@dataclass(frozen=True)
class ImageRow:
    """An image with what is known of it. `why`: why it cannot be shown; `address` only where it was asked for."""

    image: GeneratedImage
    withdrawn: bool
    why: str
    may_see: bool
    asked: RequestedImages
    mask: Mask
    scores: Sequence[Score] = ()
    opinions: Sequence[Opinion] = ()
    counted: Sequence[str] = field(default=())

    @property
    def pk(self) -> int:
        return self.image.pk

    @property
    def model(self) -> str:
        return model_name(self.image.model, self.mask)

    @property
    def places(self) -> str:
        """Countries, or continents where no country is known."""
        labels: Mapping[str, Sequence[str]] = self.image.subject.labels
        column = "country" if labels.get("country") else "continent"
        return ", ".join(self.mask.name(column, value) for value in labels.get(column, ()))

    @property
    def prompt_sent(self) -> str:
        return self.mask.text(self.image.prompt_sent)

    @property
    def prompt_revised(self) -> str:
        return self.mask.text(self.image.prompt_revised)

    @cached_property
    def number(self) -> str:
        """Seed or sample number in words; nothing while names are masked, since not all models take seeds."""
        if self.mask.active:
            return ""
        if self.image.seed is not None:
            return f"seed {self.image.seed}"
        return "" if self.image.sample is None else f"sample {self.image.sample}"

    @property
    def shown(self) -> bool:
        return not self.why and self.may_see and self.asked.shows(self.image.pk)

    @property
    def address(self) -> str:
        return reverse("evaluation:image-file", args=[self.image.pk, "small"]) if self.shown else ""

    @property
    def show(self) -> str:
        """The address of the page that shows this image too, or covers it again."""
        return self.asked.turned(self.image.pk)


def model_name(model: Model | None, mask: Mask) -> str:
    """The name of a model on every page of images, masked where a plan wishes it."""
    return mask.name("model", model.title) if model else "model not known"


def rows_for(
    image_ids: Sequence[int],
    user: User,
    asked: RequestedImages = NOTHING,
    mask: Mask | None = None,
    *,
    beside: bool = True,
) -> list[ImageRow]:
    """A row for each image, in the order of `image_ids`; unknown ids are left out.

    A handful of queries however many images: keep to a page of them. Nothing but the fact is told of an image
    whose dish was withdrawn. Without a `mask`, names are masked as any plan wishes it; without `beside`, nothing of
    what machines and people said is beside the images.
    """
    rows = GeneratedImage.objects.select_related("subject__dish", "model", "run")
    found = rows.in_bulk(list(image_ids))
    images = [found[key] for key in dict.fromkeys(image_ids) if key in found]
    may_see, why = user.has_perm(SEE), files.why_not(images)
    told = [image for image in images if beside and not files.is_withdrawn(image)]
    scores, opinions = machine_scores.collect_machine_scores(told), opinions_of([image.pk for image in told], user)
    hiding = mask_of_models() if mask is None else mask
    return [
        ImageRow(
            image=image,
            withdrawn=files.is_withdrawn(image),
            why=why[image.pk] or explain_missing_file(image, may_see and asked.shows(image.pk)),
            may_see=may_see,
            asked=asked,
            mask=hiding,
            scores=[mask_score(score, hiding) for score in scores.get(image.pk, ())],
            opinions=opinions.get(image.pk, ()),
        )
        for image in images
    ]


def mask_score(score: Score, mask: Mask) -> Score:
    """A run's name may tell a model."""
    if not mask.active:
        return score
    return replace(score, run="", lines=[(label, mask.text(words)) for label, words in score.lines])


def explain_missing_file(image: GeneratedImage, wanted: bool) -> str:
    """Why an image that is about to be shown would stay blank; only then the storage is asked."""
    return "The file of the image is missing in the storage." if wanted and not files.is_there(image) else ""


def opinions_of(image_ids: Sequence[int], user: User) -> Mapping[int, Sequence[Opinion]]:
    """Reviews of these images as far as `user` may read them; the review's app says them."""
    found: dict[int, Sequence[Opinion]] = {}
    for path in REGISTERED_OPINIONS:
        found |= import_string(path.replace(":", "."))(image_ids, user)
    return found


def build_image_list_context(
    request: HttpRequest, image_ids: Sequence[int], mask: Mask | None = None
) -> dict[str, Any]:
    """What `evaluation/images/rows.html` needs to list these images."""
    asked = RequestedImages.of(request)
    return {"rows": rows_for(image_ids, user_of(request), asked, mask), **build_image_controls(request, asked)}


def build_image_controls(request: HttpRequest, asked: RequestedImages) -> dict[str, Any]:
    """What is above a list of images: show all of them, cover all, or why neither is offered."""
    return {
        "may_see": request.user.has_perm(SEE),
        "show_all": asked.query(ALL),
        "cover_all": asked.query(),
        "anything_shown": bool(asked.names),
    }


def user_of(request: HttpRequest) -> User:
    user = request.user
    assert isinstance(user, AbstractUser | AnonymousUser)
    return user


def by_id(rows: Iterable[ImageRow]) -> dict[int, ImageRow]:
    return {row.pk: row for row in rows}
