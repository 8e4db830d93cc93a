"""Lists of the admin that stop counting at a thousand rows."""

import pytest
from django.contrib.auth.models import User

from wwd.base import admin_lists
from wwd.base.admin_lists import BoundedPaginator


@pytest.mark.django_db
def test_counting_stops_and_says_that_there_are_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin_lists, "MOST_ROWS", 3)
    made = [User.objects.create_user(f"user {number}") for number in range(5)]
    pages = BoundedPaginator(User.objects.order_by("pk"), 2)
    assert (pages.count, pages.num_pages, pages.more) == (3, 2, True)
    assert list(pages.page(1)) == made[:2]


def test_a_list_is_paged_as_it_is() -> None:
    pages = BoundedPaginator(["a", "b", "c"], 2)
    assert (pages.count, pages.more, list(pages.page(2))) == (3, False, ["c"])
