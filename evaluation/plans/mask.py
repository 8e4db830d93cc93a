"""Masked mode: models, and places where wished, are A, B, C until the analyses of a plan ran.

`mask_for(name, filters)` gives what hides the names in one table's numbers; without a masked plan about its data it
hides nothing. The mask holds for everybody who reads tables, also on the command line. What it cannot hide: the
numbers themselves, and what people know of the runs that they started.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from evaluation.contracts.table import Filters, TableMetadata, TableSpec
from evaluation.metrics.dimensions import MASKED_DIMENSIONS
from evaluation.metrics.ordering import in_order
from evaluation.metrics.tidy import TidyRow, TidyTable
from evaluation.models import Plan, PlanAct
from evaluation.plans.evidence import Data, data_of, has_overlapping_data, of_table
from evaluation.plans.mask_names import Names, column_of, kind_of
from evaluation.plans.mask_pairs import order_masked_pair
from evaluation.plans.mask_text import Words
from evaluation.plans.plan_status import frozen_plans
from evaluation.registry.lookup import find_table_spec

PLACES = ("country", "continent")
LIFTED = (PlanAct.Kind.UNMASKED, PlanAct.Kind.EARLY)


class MaskedNameNotFound(ValueError):
    """A value that the mask does not know; the text reveals nothing of what it knows."""


@dataclass(frozen=True)
class Mask:
    """Hides names as `plan` wishes; hides nothing where it is None. `places`: countries, continents, regions too."""

    plan: Plan | None = None
    places: bool = False

    @property
    def active(self) -> bool:
        return self.plan is not None

    def hides(self, column: str) -> bool:
        """Whether the values of this column are hidden."""
        return self.active and kind_of(column, places=self.places) is not None

    def name(self, column: str, value: str) -> str:
        """The name that `value` of a column is shown by."""
        return self._names.shown(column, value) if self.hides(column) and value else value

    def real(self, column: str, shown: str, *, titles: bool = True) -> str:
        """The value behind a shown name; models by their title, else by their slug. Raises MaskedNameNotFound."""
        if not self.hides(column) or not shown:
            return shown
        found = self._names.value(column, shown)
        if found is None:
            raise MaskedNameNotFound(f"While names are masked, {column} is chosen by its masked name, such as A.")
        return found if column != "model" or not titles else self._names.titles.get(found, found)

    def text(self, text: str) -> str:
        """`text` without any name that is hidden, as whole as it can be."""
        return self._words.hidden(text) if self.active else text

    def plain(self, texts: Iterable[str]) -> list[str]:
        """Those of `texts` that hold no hidden name: runs to choose from are often called by their model."""
        return [text for text in texts if self.text(text) == text]

    def filters(self, spec: TableSpec, shown: Filters) -> dict[str, str]:
        """The filters behind those of an address. Tables of reviews name models by title, others by slug."""
        titles = "reviews" in spec.inputs
        return {name: self.real(name, value, titles=titles) for name, value in shown.items()}

    def table(self, table: TidyTable) -> TidyTable:
        """`table` with its names hidden in cells, notes, reasons and extra, in the order of the shown names."""
        if self.plan is None:
            return table
        self._names.learn(row.groups for row in table.rows)
        rows = [order_masked_pair(self._row(row)) for row in table.rows]
        metrics = list(dict.fromkeys(row.metric for row in table.rows))
        extra = {self.text(key): self.text(v) if isinstance(v, str) else v for key, v in table.extra.items()}
        return replace(
            table,
            rows=in_order(rows, table.columns, metrics),
            notes=(describe_mask(self.plan, self.places, table.columns), *self._words.notes(table.notes)),
            about=mask_metadata(table.about, self),
            extra=dict(sorted(extra.items())),
        )

    def _row(self, row: TidyRow) -> TidyRow:
        estimate = row.estimate
        groups = {}
        for column, value in row.groups.items():
            named = column_of(row.groups, column)
            groups[column] = self.name(named, value) if self.hides(named) else self.text(value)
        shown = replace(estimate, reason=self.text(estimate.reason), method=self.text(estimate.method))
        return replace(row, groups=groups, estimate=shown)

    @cached_property
    def _names(self) -> Names:
        assert self.plan is not None
        return Names(self.plan, self.places)

    @cached_property
    def _words(self) -> Words:
        return Words(self._names)


NO_MASK = Mask()


def describe_mask(plan: Plan, places: bool, columns: Sequence[str] = ()) -> str:
    """The sentence that is first under a masked table; dimensions other than places are named where it has them."""
    named = [each.several for name, each in MASKED_DIMENSIONS.items() if name in (*PLACES, *columns)]
    what = f"Models, {', '.join(named[:-1])} and {named[-1]}" if places else "Models"
    return (
        f"{what} are masked until the analyses of the plan “{plan.title}” ran: their names are drawn at random and "
        "are no order. Real photographs, which are no model, keep their name."
    )


def masked_plans(plans: Sequence[Plan]) -> list[Plan]:
    """Those frozen plans whose mask nobody lifted."""
    masked = [plan for plan in plans if plan.masked]
    if not masked:
        return []
    lifted = set(PlanAct.objects.filter(plan__in=masked, kind__in=LIFTED).values_list("plan", flat=True))
    return [plan for plan in masked if plan.pk not in lifted]


def plans_over(spec: TableSpec, filters: Filters, plans: Sequence[Plan]) -> list[Plan]:
    """The masked plans about any of the data of a table, the oldest first."""
    data = of_table(spec, filters)
    return [plan for plan in masked_plans(plans) if has_overlapping_data(data, data_of(plan.evidence))]


def mask_for(name: str, filters: Filters, plans: Sequence[Plan] | None = None) -> Mask:
    """The mask of the table `name` with these filters. `plans`: the frozen plans, where they are read already.

    Where several plans mask the same data, the oldest gives the names, and places are hidden if any wishes it.
    """
    over = plans_over(find_table_spec(name), filters, frozen_plans() if plans is None else plans)
    return Mask(over[0], any(plan.mask_places for plan in over)) if over else NO_MASK


def masks_run(study: str, slug: str) -> bool:
    """Whether a plan masks what comes out of a run: then its page shows no numbers beside the names of models."""
    run = [Data("units", study, slug)]
    return any(has_overlapping_data(run, data_of(plan.evidence)) for plan in masked_plans(frozen_plans()))


def mask_of_models(plans: Sequence[Plan] | None = None) -> Mask:
    """The mask of pages about images of any run or campaign: that of the oldest masked plan, if there is one."""
    masked = masked_plans(frozen_plans() if plans is None else plans)
    return Mask(masked[0], any(plan.mask_places for plan in masked)) if masked else NO_MASK


def mask_metadata(found: TableMetadata, mask: Mask) -> TableMetadata:
    """`found` without names that a plan hides. What a run was made with would tell its model, so it is left out."""
    kept = {key: value for key, value in found.items() if key in ("options", "counted", "questionnaire")}
    hidden = {
        name: sorted(mask.name(name, value) for value in values) if mask.hides(name) else [*map(mask.text, values)]
        for name, values in found.get("options", {}).items()
    }
    return {**kept, "options": hidden}
