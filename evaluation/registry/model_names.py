"""Names of models in filters: any spelling of a model's title or slug chooses it."""

from collections.abc import Sequence
from typing import NamedTuple

from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics.ordering import model_key
from evaluation.models import GeneratedImage, Model


def normalise_model_filter(table: TableSpec, filters: Filters) -> dict[str, str]:
    """The filters with the model as this table writes it: by its title in tables of reviews, else by its slug.

    Any spelling of either will do, such as DALL-E 2, Dalle2, dalle2; one that fits no model or several stays as it is.
    """
    found = dict(filters)
    if value := found.get("model", ""):
        titles = "reviews" in table.inputs
        models = [Named(*row, titles) for row in Model.objects.values_list("pk", "slug", "title")]
        meant = [model for model in models if model.means(value)]
        if chosen := pick_single_model(meant):
            found["model"] = chosen.name
    return found


def pick_single_model(meant: Sequence["Named"]) -> "Named | None":
    """The one model of those that have a name; of several the one whose images there are: a model that can be asked
    here and the one whose images were imported may be called alike."""
    if len(meant) > 1:
        made = set(
            GeneratedImage.objects.filter(model__in=[model.pk for model in meant]).values_list("model", flat=True)
        )
        meant = [model for model in meant if model.pk in made]
    return meant[0] if len(meant) == 1 else None


class Named(NamedTuple):
    """A model by its names; `titles`: whether the table writes its title."""

    pk: int
    slug: str
    title: str
    titles: bool

    @property
    def name(self) -> str:
        return self.title if self.titles else self.slug

    def means(self, text: str) -> bool:
        return model_key(text) in (model_key(self.slug), model_key(self.title))
