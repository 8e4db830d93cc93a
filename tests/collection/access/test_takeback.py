"""Abuse: networks as hashes, flags that refuse nobody, a crowd behind one address, and taking back what came."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client, RequestFactory, override_settings
from django.utils import timezone

from collection.access import request_info as seen_here
from collection.access.daily_quotas import QuotaReachedError
from collection.access.form_tokens import Proof
from collection.access.request_info import Circumstances, collect_request_circumstances, forget_networks, network_of
from collection.dishes import takeback
from collection.dishes.submit import submit_dish
from collection.leaderboard.read import build_leaderboard
from collection.models import Dish, NetworkKey, Submission, TakeBack
from tests.collection.leaderboard.test_leaderboard import from_scratch, held, people_from_scratch, people_held
from tests.collection.make import ANSWERS, CONSENT, dish_form, make_contributor, make_steward, page, stranger, tokens

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
CONTENT = {
    "words": {"local_name": "Jollof", "ingredients": "rice"},
    "places": ["Senegal"],
    "languages": [("Wolof", "wol")],
}


def network(address: str, **headers: str) -> str:
    return network_of(RequestFactory().get("/", REMOTE_ADDR=address, headers=headers))


def test_a_network_is_a_hash_of_its_prefix_with_the_key_of_the_month() -> None:
    assert network("41.202.10.7") == network("41.202.10.250") == network("::ffff:41.202.10.9")
    assert network("41.202.11.7") != network("41.202.10.7")
    assert network("2001:db8:1:2::1") == network("2001:db8:1:ffff::9") != network("2001:db8:2::1")
    assert len(network("41.202.10.7")) == 24 and network("41.202.10.7")[:2] + "x" != "41"
    assert network("unknown") == ""
    before = network("41.202.10.7")
    NetworkKey.objects.all().delete()
    seen_here._month_keys.clear()
    assert network("41.202.10.7") != before


def test_behind_a_proxy_only_what_the_proxy_added_counts() -> None:
    with override_settings(BEHIND_TLS_PROXY=True):
        forged = network("10.0.0.1", **{"X-Forwarded-For": "1.2.3.4, 41.202.10.7"})
        assert forged == network("10.0.0.1", **{"X-Forwarded-For": "9.9.9.9, 41.202.10.8"})
    assert network("41.202.10.7", **{"X-Forwarded-For": "1.2.3.4"}) == forged


def test_old_hashes_and_their_keys_are_thrown_away() -> None:
    submit_dish(Proof.new("dish", make_contributor().pk), CONTENT, Circumstances("mobile", network("41.202.10.7")))
    assert forget_networks() == 0
    long_ago = timezone.now() - timedelta(days=100)
    Submission.objects.update(created_at=long_ago)
    NetworkKey.objects.update(month=long_ago.date().replace(day=1))
    assert forget_networks() == 1
    assert Submission.objects.get().network == "" and not NetworkKey.objects.exists()


def test_what_looks_odd_is_flagged_and_taken_all_the_same() -> None:
    client = stranger()
    first = client.get("/describe/").content.decode()
    second = page(client, "/describe/", {**CONSENT, "proof": tokens(first)["/describe/"]})
    page(client, "/dish/", {**ANSWERS, "website": "http://spam", "proof": tokens(second)["/dish/"]})
    assert set(Submission.objects.get().flags) == {"trap", "quick"}
    assert Dish.objects.get().state == "waiting"
    slow = Proof.new("dish", make_contributor().pk)
    calm = Proof(slow.purpose, slow.form, slow.person, slow.target, slow.at - 60_000)
    assert collect_request_circumstances(RequestFactory().post("/dish/", ANSWERS), calm).flags == ()


def test_three_hundred_dishes_by_a_hundred_people_behind_one_address_pass() -> None:
    client = stranger()
    for person in range(100):
        contributor = make_contributor()
        for _ in range(3):
            proof = Proof.new("dish", contributor.pk)
            # Every tenth person through the page: `--long` sends all of them so.
            if person % 10:
                submit_dish(proof, CONTENT, Circumstances("mobile", network("127.0.0.1")))
            else:
                page(client, "/dish/", {**ANSWERS, "proof": proof.token})
    assert Dish.objects.count() == 300
    assert Submission.objects.values("network").distinct().count() == 1


def test_one_person_does_not_send_three_hundred() -> None:
    client, contributor = stranger(), make_contributor()
    answers = [page(client, "/dish/", dish_form(contributor, local_name=f"Dish {number}")) for number in range(41)]
    refused = [text for text in answers if "You have described 40 dishes within a day" in text]
    assert refused == answers[40:] and 'value="Dish 40"' in refused[0]
    for _ in range(259):
        with pytest.raises(QuotaReachedError):
            submit_dish(Proof.new("dish", contributor.pk), CONTENT)
    assert Dish.objects.count() == 40


@pytest.mark.long
def test_an_evening_of_a_hundred_people_by_the_pages_alone_and_its_hour_taken_back(client: Client) -> None:
    """300 dishes from one address, all steps by the pages; then the hour is shown, hidden and shown again."""
    for person in range(100):
        phone = Client()
        text = phone.get("/describe/").content.decode()
        text = page(phone, "/describe/", {**CONSENT, "proof": tokens(text)["/describe/"]})
        for number in range(3):
            words = {**ANSWERS, "local_name": f"Dish {person} {number}"}
            saved = page(phone, "/dish/", {**words, "proof": tokens(text)["/dish/"]})
            assert "Your dish is saved" in saved and "Your receipt number" in saved
            text = phone.get("/describe/").content.decode()
    assert Dish.objects.count() == 300
    assert Submission.objects.values("network").distinct().count() == 1
    first, second = make_steward("change_dish"), make_steward("change_dish")
    accept(list(Dish.objects.order_by("pk")[::2]), first)
    before, people = held(), people_held()
    client.force_login(first)
    choice = last_hour()
    text = client.get("/admin/takeback/", choice).content.decode()
    assert "300 dishes" in text and "100 people" in text and "150 of them public" in text
    client.post("/admin/takeback/", {**choice, "do": "ask", "reason": "one evening"})
    row = TakeBack.objects.get()
    client.force_login(second)
    client.post("/admin/takeback/", {"do": "confirm", "row": row.pk})
    assert states() == ["hidden"] * 300 and held() == from_scratch() == {} and people_held() == {}
    client.post("/admin/takeback/", {"do": "undo", "row": row.pk})
    assert states() == ["accepted", "waiting"] * 150
    assert held() == from_scratch() == before and people_held() == people_from_scratch() == people


def last_hour() -> dict[str, str]:
    now = timezone.now()
    return {"begin": (now - timedelta(hours=1)).isoformat(), "end": (now + timedelta(minutes=1)).isoformat()}


@pytest.fixture
def evening() -> list[Dish]:
    """Six dishes of three people within an hour from one network, two of them accepted; one of somebody else."""
    people = [make_contributor() for _ in range(3)]
    for person in people * 2:
        submit_dish(Proof.new("dish", person.pk), CONTENT, Circumstances("mobile", network("41.202.10.7")))
    submit_dish(Proof.new("dish", make_contributor().pk), CONTENT, Circumstances("mobile", network("9.9.9.9")))
    return list(Dish.objects.order_by("pk"))


def states() -> list[str]:
    return list(Dish.objects.order_by("pk").values_list("state", flat=True))


def accept(dishes: list[Dish], steward: User) -> None:
    from collection.dishes.curation import decide_dishes

    decide_dishes(Dish.objects.filter(pk__in=[dish.pk for dish in dishes]), "accepted", steward)


def test_a_network_is_shown_hidden_and_shown_again(evening: list[Dish]) -> None:
    steward = make_steward("change_dish")
    choice = {"network": network("41.202.10.8")}
    found = takeback.preview_takeback(choice)
    assert (found.dishes, found.people, found.accepted) == (6, 3, 0)
    row = takeback.request_takeback(choice, "spam", steward)
    assert states() == ["hidden"] * 6 + ["waiting"]
    assert takeback.undo_takeback(row, steward) == 6
    assert states() == ["waiting"] * 7
    with pytest.raises(takeback.TakeBackError):
        takeback.undo_takeback(row, steward)


def test_an_hour_is_shown_hidden_by_two_stewards_and_shown_again_and_the_counters_agree(evening: list[Dish]) -> None:
    first, second = make_steward("change_dish"), make_steward("change_dish")
    accept(evening[:2], first)
    # Before it is counted: two hours ago may have been yesterday.
    evening[-1].created_at = timezone.now() - timedelta(hours=2)
    evening[-1].save(update_fields=["created_at"])
    accept(evening[-1:], first)
    before, people = held(), people_held()
    assert before == from_scratch() and build_leaderboard().rows[0].dishes == 3
    choice = last_hour()
    found = takeback.preview_takeback(choice)
    assert (found.dishes, found.people, found.accepted) == (6, 3, 2)
    assert {dish.pk for dish in found.shown} == {dish.pk for dish in evening[:-1]}
    row = takeback.request_takeback(choice, "one evening", first)
    assert row.state == TakeBack.State.ASKED and states() == ["accepted"] * 2 + ["waiting"] * 4 + ["accepted"]
    with pytest.raises(takeback.TakeBackError, match="second steward"):
        takeback.confirm_takeback(row, first)
    takeback.confirm_takeback(row, second)
    assert states() == ["hidden"] * 6 + ["accepted"]
    assert build_leaderboard().rows[0].dishes == 1
    assert held() == from_scratch() != before and people_held() == people_from_scratch()
    row.refresh_from_db()
    assert takeback.undo_takeback(row, first) == 6
    assert states() == ["accepted"] * 2 + ["waiting"] * 4 + ["accepted"]
    assert held() == from_scratch() == before and people_held() == people_from_scratch() == people


def test_a_dish_that_became_public_meanwhile_is_not_hidden_by_one_steward(
    evening: list[Dish], monkeypatch: pytest.MonkeyPatch
) -> None:
    steward = make_steward("change_dish")
    seen = takeback.preview_takeback

    def preview(choice: Any) -> takeback.Preview:
        found = seen(choice)
        accept(evening[:1], steward)
        return found

    monkeypatch.setattr(takeback, "preview_takeback", preview)
    takeback.request_takeback({"contributor": str(evening[0].contributor_id)}, "x", steward)
    assert states() == ["accepted", "waiting", "waiting", "hidden", "waiting", "waiting", "waiting"]


def test_what_was_decided_since_stays(evening: list[Dish]) -> None:
    steward = make_steward("change_dish")
    row = takeback.request_takeback({"contributor": str(evening[0].contributor_id)}, "x", steward)
    Dish.objects.filter(pk=evening[0].pk).update(state="rejected")
    assert takeback.undo_takeback(row, steward) == 1
    assert states()[0] == "rejected"


@pytest.mark.parametrize(
    "choice",
    [{}, {"contributor": "nobody"}, {"begin": "yesterday"}, {"helper": "1;DROP"}, {"begin": ""}, {"unknown": "x"}],
)
def test_a_choice_that_says_nothing_is_refused_with_a_sentence(choice: dict[str, str]) -> None:
    with pytest.raises(takeback.TakeBackError):
        takeback.preview_takeback(choice)


def test_the_page_shows_first_and_asks_a_second_steward(evening: list[Dish], client: Client) -> None:
    first, second = make_steward("change_dish", "view_dish"), make_steward("change_dish", "view_dish")
    accept(evening[:1], first)
    client.force_login(first)
    choice: dict[str, Any] = {"contributor": str(evening[0].contributor_id)}
    text = client.get("/admin/takeback/", choice).content.decode()
    assert "2 dishes" in text and "1 person" in text and "Ask a second steward" in text
    text = client.post("/admin/takeback/", {**choice, "do": "ask", "reason": "a test"}, follow=True).content.decode()
    assert "A second steward must agree" in text
    row = TakeBack.objects.get()
    text = client.post("/admin/takeback/", {"do": "confirm", "row": row.pk}, follow=True).content.decode()
    assert "somebody else must agree" in text
    client.force_login(second)
    look = re.search(r'href="\?(contributor=[^"]+)"', client.get("/admin/takeback/").content.decode())
    assert look and "2 dishes" in client.get(f"/admin/takeback/?{look[1]}").content.decode()
    client.post("/admin/takeback/", {"do": "confirm", "row": row.pk})
    assert states()[0] == "hidden"
    client.post("/admin/takeback/", {"do": "undo", "row": row.pk})
    assert states()[0] == "accepted"
    for wrong in ({"do": "undo", "row": "x"}, {"do": "nothing", "row": row.pk}, {}):
        assert client.post("/admin/takeback/", wrong).status_code in (302, 404)
    for field in ("begin", "network", "contributor"):
        assert client.get(f"/admin/takeback/?{field}=%00").status_code == 200
        assert client.post("/admin/takeback/", {"do": "ask", field: "\0", "reason": "\0"}).status_code == 302


def test_only_stewards_reach_it(client: Client) -> None:
    assert client.get("/admin/takeback/").status_code == 302
    client.force_login(make_steward("view_dish"))
    assert client.get("/admin/takeback/").status_code == 403
    assert client.post("/admin/takeback/", {"do": "ask"}).status_code == 403


def test_a_helper_takes_everybody_along_whom_they_described_for() -> None:
    helper = make_contributor()
    people = [helper, make_contributor(entered_by=helper), make_contributor(entered_by=helper), make_contributor()]
    for person in people:
        submit_dish(Proof.new("dish", person.pk), CONTENT)
    takeback.request_takeback({"helper": str(helper.pk)}, "all the same words", make_steward("change_dish"))
    assert states() == ["hidden"] * 3 + ["waiting"]


def test_what_cannot_be_taken_back_gets_its_sentence(evening: list[Dish], monkeypatch: pytest.MonkeyPatch) -> None:
    steward, second = make_steward("change_dish"), make_steward("change_dish")
    choice = {"network": network("41.202.10.8")}
    with pytest.raises(takeback.TakeBackError, match="Write why"):
        takeback.request_takeback(choice, " ", steward)
    with pytest.raises(takeback.TakeBackError, match="No dish of this choice"):
        takeback.request_takeback({"network": "f" * 24}, "x", steward)
    row = takeback.request_takeback(choice, "x", steward)
    with pytest.raises(takeback.TakeBackError, match="decided already"):
        takeback.confirm_takeback(row, second)
    takeback.undo_takeback(row, steward)
    monkeypatch.setattr(takeback, "MOST_DISHES", 5)
    with pytest.raises(takeback.TakeBackError, match="more than 5 dishes"):
        takeback.preview_takeback(choice)
    assert states() == ["waiting"] * 7


def test_the_page_hides_what_is_not_public_at_once_and_says_what_cannot_be_shown(
    evening: list[Dish], client: Client
) -> None:
    client.force_login(make_steward("change_dish", "view_dish"))
    assert "begin=yesterday" not in client.get("/admin/takeback/", {"begin": "yesterday"}).content.decode()
    choice = {"contributor": str(evening[0].contributor_id)}
    said = client.post("/admin/takeback/", {**choice, "do": "ask", "reason": "spam"}, follow=True).content.decode()
    assert "2 dishes are hidden." in said and states().count("hidden") == 2
