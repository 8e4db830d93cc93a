"""The leaderboard's page: a list that numbers itself as browsers do, so that full ones stay small."""

import re

import pytest
from django.test import Client

from collection.leaderboard.read import build_leaderboard
from collection.models import Tally
from tests.collection.make import make_dish

ROW = re.compile(r'<li class="w(\d+)"(?: value="(\d+)")?><bdi dir="auto"[^>]*>([^<]+)</bdi>')


@pytest.mark.django_db
@pytest.mark.parametrize(
    "numbers", [(9, 7, 5, 4), (9, 9, 9, 4, 3), (9, 7, 7, 4, 3, 3, 2), (5, 5), (9, 4, 4, 4), (8,), (9, 7, 7, 6, 5, 5, 4)]
)
def test_a_browser_numbers_the_places_by_their_ranks(numbers: tuple[int, ...], client: Client) -> None:
    places = ("Chad", "Fiji", "Iran", "Kenya", "Mali", "Oman", "Peru")
    for place, dishes in zip(places, numbers, strict=False):
        make_dish(country=place, state="accepted")
        Tally.objects.filter(name__label=place, period="ever").update(dishes=dishes)
    shown, number = [], 0
    for width, value, place in ROW.findall(client.get("/leaderboard/").content.decode()):
        number = int(value) if value else number + 1
        shown.append((number, place, int(width)))
    assert shown == [(row.rank, row.place, row.width) for row in build_leaderboard().rows]
    assert len(shown) == len(numbers)
