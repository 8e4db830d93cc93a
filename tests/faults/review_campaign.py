"""The campaign of the simulation, built inside the server's own environment."""

from collections.abc import Sequence

from review.campaigns import add_invitation, prepare
from tests.review.make import make_campaign, make_image


def build(countries: Sequence[str], people: int, pictures: Sequence[int], wanted: int) -> list[str]:
    """Pictures for each country, so many by each model; the code of an invitation for one person, countries in turn."""
    campaign = make_campaign(images=0, wanted=wanted)
    for country in countries:
        for number, many in enumerate(pictures):
            prepare(campaign, [make_image(f"painter-{number}", country=country) for _ in range(many)])
    return [add_invitation(campaign, limit=1).code for _ in range(people * len(countries))]
