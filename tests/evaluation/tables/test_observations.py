"""Columns of observations: labels in few bytes, cells, filters, stacks; and none where there is nothing."""

import numpy as np
import pytest

from evaluation import studies
from evaluation.metrics.observations import Labels, Observations, hash_labels, none_of, stack_observations
from evaluation.registry import lookup
from evaluation.registry.names import TABLES
from evaluation.tables import observe
from tests.evaluation.failing_study import Fragile
from tests.evaluation.table_observations import declares, observed

CONTINENTS = [("Africa",), ("Africa", "Asia"), (), ("Asia",)]


def make_observations(*continents: tuple[str, ...], group: str = "taste") -> Observations:
    n = len(continents)
    return Observations(
        values={"net": np.arange(n, dtype=np.float64)},
        groups={"continent": Labels.of(continents), "group": Labels.same(group, n)},
        dishes=hash_labels(f"dish:{number}" for number in range(n)),
        raters=None,
        images=np.arange(1, n + 1, dtype=np.int64),
        units=none_of(n),
        reviews=none_of(n),
    )


def test_labels_are_the_sequence_that_they_were_made_of() -> None:
    labels = Labels.of(CONTINENTS)
    assert list(labels) == CONTINENTS
    assert list(labels[1:]) == CONTINENTS[1:]
    assert labels.values == ("Africa", "Asia")
    assert labels.holding("Asia").tolist() == [False, True, False, True]
    assert list(labels.only("Asia")) == [("Africa",), ("Asia",), (), ("Asia",)]
    assert labels.picked(np.array([True, False, False, False])).values == ("Africa",)


def test_a_filter_on_a_column_keeps_a_cell_and_nothing_else_of_that_column() -> None:
    kept = make_observations(*CONTINENTS).only({"continent": "Asia"})
    assert (kept.images.tolist(), list(kept.groups["continent"])) == ([2, 4], [("Asia",), ("Asia",)])
    assert kept.values["net"].tolist() == [1.0, 3.0]


def test_plain_sequences_are_labels_too() -> None:
    """A study need not know `Labels`: tuples will do."""
    made = make_observations(("Africa",), ("Asia",))
    plain = Observations(**{**vars(made), "groups": {"continent": [("Africa",), ("Asia",)]}})
    assert plain.within({"continent": "Asia"}).tolist() == [False, True]


def test_a_stack_keeps_the_labels_of_its_parts() -> None:
    both = stack_observations(
        [make_observations(("Africa",)), make_observations(("Asia", "Europe"), (), group="style")]
    )
    assert list(both.groups["continent"]) == [("Africa",), ("Asia", "Europe"), ()]
    assert list(both.groups["group"]) == [("taste",), ("style",), ("style",)]
    assert both.dishes[0] == both.dishes[1] != both.dishes[2]


def test_a_dish_has_the_same_number_in_every_run() -> None:
    assert hash_labels(["dish:1", "dish:2", "dish:1"]).tolist() == [
        *hash_labels(["dish:1", "dish:2"]),
        *hash_labels(["dish:1"]),
    ]
    assert hash_labels(["dish:1"])[0] == 4973010738597561108


@pytest.mark.django_db
@pytest.mark.parametrize("name", [name for name in TABLES if declares(lookup.find_table_spec(name))])
def test_an_empty_install_has_no_observations(name: str) -> None:
    assert len(observed(name)) == 0
    assert len(observed(name, **({"run": "none"} if lookup.find_table_spec(name).study else {"country": "Kenya"}))) == 0


@pytest.mark.django_db
def test_tables_of_other_numbers_have_none() -> None:
    assert observe.observe_table(lookup.find_table_spec("association.top"), {}) is None


@pytest.mark.parametrize("slug", studies.STUDIES)
def test_a_study_makes_no_table_that_it_does_not_name(slug: str) -> None:
    with pytest.raises(ValueError, match=f"{slug} has no table 'nothing'"):
        studies.load_study(slug).summarise("nothing", [], {})


def test_numbers_of_a_study_are_means_of_nothing_unless_it_says_of_what() -> None:
    assert Fragile().observe("scores", [], {}) is None
