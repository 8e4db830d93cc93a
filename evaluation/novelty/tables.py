"""`novelty.summary` and `novelty.pairs`: which dishes a reference list lacks."""

from collections.abc import Iterable, Iterator, Sequence

from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics.inference.proportion import chance_alone
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.models import ReferenceDish
from evaluation.novelty.counting import INPUTS, Compared, Described, load_dishes_and_reference, match_dishes_by_rule
from evaluation.novelty.matching import RULES, SAME_NAME, Match

ALL = "all"
SOURCE = "World Wide recipe §2.2.1, App. D"
RULES_NOTE = (
    "Rules: substring, as in the paper (a name of either lies within a name or alias of the other, case ignored); "
    "substring_3, the same without names of fewer than three signs; same_name, ours (the same name, folded for its "
    "script, in any order of words, or spelled with one or two letters otherwise where the countries agree)."
)
PAPER_NOTE = (
    "The paper counts 462 new dishes of 765, elsewhere 415, against WorldCuisines as it was then. Neither number comes "
    "out of the files released since: short aliases there, one letter among them, lie within nearly every name."
)
WHOLE = "A list and a collection are no samples of all dishes: Wilson’s interval says what chance alone would do."
MOST_PAIRS = 5


def compute_novelty_summary(filters: Filters) -> TidyTable:
    """How many dishes the reference lacks, by each rule, per continent; a dish of two continents counts in both."""
    found = load_dishes_and_reference(filters)
    rules = (filters["rule"],) if "rule" in filters else RULES
    rows: list[TidyRow] = []
    for rule, by_dish in match_dishes_by_rule(found, rules).items():
        for continent, dishes in by_continent(found.dishes):
            new = sum(not by_dish[dish.entry.key] for dish in dishes)
            groups = {"rule": rule, "continent": continent}
            rows += [
                TidyRow(groups, metric, estimate) for metric, estimate in estimate_new_dishes(new, len(dishes)).items()
            ]
    return build_novelty_table(SUMMARY, rows, found, RULES_NOTE, PAPER_NOTE, WHOLE)


def estimate_new_dishes(new: int, n: int) -> dict[str, Estimate]:
    """Number and share of what is new among `n` dishes."""
    interval = chance_alone(new, n)
    share = Estimate(new / n, n, n, interval.low, interval.high, interval.method, interval.reason)
    return {"new": Estimate(new, n, n, reason="a count: no interval is claimed"), "share_new": share}


def by_continent(dishes: Sequence[Described]) -> Iterator[tuple[str, list[Described]]]:
    """Continent → its dishes, then all of them; nothing where there are no dishes."""
    for continent in sorted({name for dish in dishes for name in dish.continents}):
        yield continent, [dish for dish in dishes if continent in dish.continents]
    if dishes:
        yield ALL, list(dishes)


def list_matched_pairs(filters: Filters) -> TidyTable:
    """Which dish was found as what: to look at, up to five pairs of each dish."""
    found = load_dishes_and_reference(filters)
    rule = filters.get("rule", SAME_NAME)
    names = (
        {}
        if found.reference is None
        else dict(ReferenceDish.objects.filter(reference=found.reference).values_list("position", "name"))
    )
    rows: list[TidyRow] = []
    for by_dish in match_dishes_by_rule(found, (rule,)).values():
        for dish in found.dishes:
            held = by_dish[dish.entry.key]
            rows += [pair_row(rule, dish, match, names[int(match.key)], len(held)) for match in held[:MOST_PAIRS]]
    note = f"Of the rule {rule}; the filter rule shows another one. Up to {MOST_PAIRS} pairs of a dish are listed."
    return build_novelty_table(PAIRS, rows, found, note, RULES_NOTE)


def pair_row(rule: str, dish: Described, match: Match, entry: str, many: int) -> TidyRow:
    groups = {
        "rule": rule,
        "dish": f"{dish.name} ({dish.entry.key})",
        "country": ", ".join(dish.places),
        "name": match.name,
        "entry": entry,
        "entry_name": match.other,
        "how": match.how if match.shared_country else f"{match.how}, other countries",
    }
    return TidyRow(groups, "entries", Estimate(many, 1, 1, reason="a count: no interval is claimed"))


def build_novelty_table(spec: TableSpec, rows: Iterable[TidyRow], found: Compared, *notes: str) -> TidyTable:
    return TidyTable(spec.name, spec.version, spec.columns, tuple(rows), (*found.notes, *notes), found.demonstration)


SUMMARY = TableSpec(
    name="novelty.summary",
    title="Dishes that a reference list lacks",
    source=SOURCE,
    version="2",
    columns=("rule", "continent"),
    metrics={
        "new": "Dishes of which no name was found in the list by this rule; n are all dishes.",
        "share_new": "The same as a share of all dishes.",
    },
    inputs=INPUTS,
    filters=("reference", "rule", "continent"),
    choices={"rule": RULES},
    undrawn=("new",),
    compute=compute_novelty_summary,
)
PAIRS = TableSpec(
    name="novelty.pairs",
    title="What dishes were found as in a reference list",
    source=SOURCE,
    version="1",
    columns=("rule", "dish", "country", "name", "entry", "entry_name", "how"),
    metrics={"entries": "Entries of the list that this dish was found as."},
    inputs=INPUTS,
    filters=("reference", "rule", "dish"),
    choices={"rule": RULES},
    figure=False,
    compute=list_matched_pairs,
)
