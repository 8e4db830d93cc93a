"""The figures of internet use: one per country, in the codes of our own list of places."""

from collection.vocabularies.places import all_places
from evaluation.novelty.internet_use import internet_use


def test_a_country_has_its_latest_figure_with_its_year() -> None:
    assert internet_use()["AFG"] == ("Afghanistan", 2020, 18.4)
    assert internet_use()["HKG"].country == "China, Hong Kong SAR"


def test_figures_are_shares_of_people_in_the_years_that_are_named() -> None:
    figures = internet_use().values()
    assert len(figures) == 206
    assert all(0 <= figure.percent <= 100 and 2015 <= figure.year <= 2021 for figure in figures)


def test_every_code_is_one_of_our_places() -> None:
    assert internet_use().keys() <= {place.code for place in all_places()}
