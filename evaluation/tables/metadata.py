"""What a stored table keeps about itself beside its numbers: values to choose from, the run, circumstances, counts.

Computed with the table, so that a page that shows it need not count anything. Plain values that JSON holds:
`options` (filter → values), `run` (slug, study, version, imported, finished, definition), `circumstances` (name →
value → how many outcomes), `counted` (what → how many).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from evaluation.contracts.study import OutcomeData
from evaluation.contracts.table import MOST_OPTIONS, NARROWING, PROMPT, Filters, TableMetadata, TableSpec
from evaluation.metrics.dimensions import DIMENSION_NAMES
from evaluation.metrics.ordering import sort_group_values
from evaluation.metrics.tidy import TidyTable

# What differs from call to call says nothing about how a table was made.
MOST_KINDS = 12
# So many circumstances that differ are held before they are added up.
MOST_HELD = 10_000

describers: dict[str, Callable[[TableSpec, Filters], TableMetadata]] = {}


def register_describer(
    inputs: str,
) -> Callable[[Callable[[TableSpec, Filters], TableMetadata]], Callable[[TableSpec, Filters], TableMetadata]]:
    """Registers what describes all tables that are computed from `inputs` ("reviews")."""

    def register(
        describe: Callable[[TableSpec, Filters], TableMetadata],
    ) -> Callable[[TableSpec, Filters], TableMetadata]:
        describers[inputs] = describe
        return describe

    return register


def describe_table(spec: TableSpec, filters: Filters, made: TidyTable) -> TableMetadata:
    """All that is known about `made`, the table before filters on its columns kept some of its rows."""
    found: dict[str, Any] = dict(made.about)
    options = {**found.get("options", {}), **columns_of(made, spec.filters)}
    for name, describe in describers.items():
        if name in spec.inputs:
            described = describe(spec, filters)
            options = {**described.get("options", {}), **options}
            found = {**described, **found}
    return {**found, "options": {name: values for name, values in options.items() if name in spec.filters}}


def columns_of(table: TidyTable, accepted: Iterable[str]) -> dict[str, list[str]]:
    """Filters that are columns → the values of their rows."""
    names = [name for name in accepted if name in table.columns]
    return {name: sort_group_values((row.groups[name] for row in table.rows), name)[:MOST_OPTIONS] for name in names}


class Watched:
    """The outcomes that `filters` choose, one after the other, and what was seen of all of them on the way.

    Many share their labels and circumstances: each mapping is looked into once, or counted and looked into at the end.
    """

    def __init__(self, found: Iterable[OutcomeData], filters: Filters) -> None:
        self.found, self.filters = found, filters
        self.options: dict[str, set[str]] = {name: set() for name in NARROWING}
        self.circumstances: dict[str, Counter[str]] = {}
        self.counted: Counter[str] = Counter()
        self.clusters: set[str] = set()
        self.photographs = False
        # Kept with their ids, so that no other mapping can get the same one meanwhile.
        self.labels: dict[int, Mapping[str, tuple[str, ...]]] = {}
        self.under: dict[int, tuple[Mapping[str, Any], int]] = {}

    def __iter__(self) -> Iterator[OutcomeData]:
        for row in self.found:
            self.add_outcome(row)
            # What is about no subject, such as the vectors of words, belongs to every choice.
            if not row.subject or all(self.chooses(row, name, value) for name, value in self.filters.items()):
                self.note(row)
                yield row

    def chooses(self, row: OutcomeData, name: str, value: str) -> bool:
        """Whether a filter leaves an outcome in. Photographs have no prompt: they stay beside the images of any."""
        if name == PROMPT and row.photograph:
            self.photographs = True
            return True
        return value in values_of(row, name)

    def add_outcome(self, row: OutcomeData) -> None:
        """Notes what filters could choose."""
        if row.prompt:
            self.options[PROMPT].add(row.prompt)
        if id(row.labels) not in self.labels:
            self.labels[id(row.labels)] = row.labels
            self.offer(row.labels)

    def offer(self, labels: Mapping[str, tuple[str, ...]]) -> None:
        """Notes labels that filters could choose."""
        for name in DIMENSION_NAMES:
            self.options[name].update(labels.get(name, ()))

    def note(self, row: OutcomeData) -> None:
        self.counted[row.state] += 1
        self.clusters.add(row.cluster)
        held, n = self.under.get(id(row.circumstances), (row.circumstances, 0))
        self.under[id(row.circumstances)] = held, n + 1
        if len(self.under) > MOST_HELD:
            self.add_up()

    def add_up(self) -> None:
        """Counts what the circumstances say, in the order in which they came."""
        for circumstances, n in self.under.values():
            for name, value in circumstances.items():
                seen = self.circumstances.setdefault(name, Counter())
                if len(seen) <= MOST_KINDS and isinstance(value, str | int | bool):
                    seen[str(value)] += n
        self.under.clear()

    def build_metadata(self) -> TableMetadata:
        """See the module."""
        self.add_up()
        return {
            "options": {
                name: sort_group_values(values, name)[:MOST_OPTIONS] for name, values in self.options.items() if values
            },
            "circumstances": {
                name: dict(seen.most_common())
                for name, seen in sorted(self.circumstances.items())
                if 0 < len(seen) <= MOST_KINDS
            },
            "counted": {"outcomes": self.counted.total(), **self.counted, "clusters": len(self.clusters)},
        }


def values_of(row: OutcomeData, name: str) -> tuple[str, ...]:
    """The values of an outcome that a filter may name."""
    if name == PROMPT:
        return (row.prompt,) if row.prompt else ()
    return row.labels.get(name, ())
