"""Limits that nobody can turn against others: what is right passes, hiding has a brake, 400 in an evening."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from collection.access import alarms, attempt_limits, daily_quotas, request_info, return_codes
from collection.access.form_tokens import Proof
from collection.access.request_info import Circumstances, in_a_crowd
from collection.access.return_codes import TooManyAttemptsError, issue_return_code, person_for
from collection.check_digits import check_digit
from collection.consent.record import consent_for
from collection.dishes import report_limits
from collection.dishes.reports import MOST_OPEN, Target, decide_reports, file_report, undo_network
from collection.dishes.submit import submit_dish, submit_photo
from collection.models import Contributor, Dish, Photo, Report, Submission, Tries, Withdrawal
from collection.photos.process import PhotoError, prepare_photo
from collection.withdrawal.withdraw import WRONG_OF_A_NETWORK, WRONG_OF_A_RECEIPT, hide_by_receipt
from tests.collection.access.test_takeback import CONTENT
from tests.collection.make import (
    ANSWERS,
    CONSENT,
    dish_form,
    make_contributor,
    make_dish,
    make_photo,
    make_photo_bytes,
    make_steward,
    page,
    stranger,
    tokens,
    upload,
)

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
NETWORKS = [f"{number:024x}" for number in range(100)]
Clock = Callable[[timedelta], None]


@pytest.fixture
def pass_time(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that stands still until it is told to go on."""
    at = [datetime(2026, 11, 28, 17, 0, tzinfo=UTC)]
    monkeypatch.setattr(timezone, "now", lambda: at[0])

    def go_on(passed: timedelta) -> None:
        at[0] += passed

    return go_on


def wrong_code(number: int) -> str:
    return f"{number:015d}" + check_digit(f"{number:015d}")


def public_dishes(number: int) -> list[Dish]:
    person = make_contributor()
    return [make_dish(f"Dish {n}", state=Dish.State.ACCEPTED, contributor=person) for n in range(number)]


def sent_dish(name: str = "Thiéb") -> tuple[Dish, str]:
    words = {**CONTENT, "words": {"local_name": name, "ingredients": "rice"}}
    entry = submit_dish(Proof.new("dish", make_contributor().pk), words)
    assert entry.submission.dish
    return entry.submission.dish, entry.submission.receipt


def state_of(dish: Dish) -> str:
    dish.refresh_from_db()
    return dish.state


# Codes.


@pytest.mark.parametrize("kind", ["contributor", "reviewer"])
def test_a_right_code_passes_however_many_wrong_ones_came_before(kind: str) -> None:
    person = make_contributor().pk
    code = issue_return_code(person, kind)
    asked = 0
    for number in range(attempt_limits.FREE + 20):
        try:
            assert person_for(wrong_code(number), kind, NETWORKS[0]) is None
        except TooManyAttemptsError as error:
            asked += 1
            assert 0 < error.seconds <= attempt_limits.LONGEST_WAIT
    assert asked == 20
    assert person_for(code, kind, NETWORKS[0]) == person_for(code, kind, NETWORKS[1]) == person


def test_wrong_codes_of_one_network_make_no_other_network_wait() -> None:
    for number in range(attempt_limits.FREE + 5):
        try:
            person_for(wrong_code(number), "contributor", NETWORKS[0])
        except TooManyAttemptsError:
            continue
    assert person_for(wrong_code(999), "contributor", NETWORKS[1]) is None


def test_wait_is_told_with_its_seconds_on_every_page_that_takes_a_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt_limits, "wait_after", lambda number, free=0: 2)
    monkeypatch.setattr(return_codes, "wait_after", lambda number, free=0: 2)
    for address in ("/return/", "/ambassador/", "/review/"):
        response = stranger().post(address, {"code": wrong_code(7)})
        assert (response.status_code, response.headers["Retry-After"]) == (429, "2"), address
        assert "wait 2 seconds" in response.content.decode(), address
        assert wrong_code(7) in response.content.decode(), address


def test_a_wait_never_grows_beyond_a_minute_and_ends(pass_time: Clock) -> None:
    assert [attempt_limits.wait_after(number, 3) for number in (0, 3, 4, 5, 6, 100_000)] == [0, 0, 2, 4, 8, 60]
    for _ in range(10):
        attempt_limits.count_try("something")
    assert attempt_limits.left_to_wait("something", 3) == 60
    pass_time(timedelta(hours=-2))
    assert attempt_limits.left_to_wait("something", 3) == 0
    pass_time(timedelta(hours=2, seconds=50))
    assert attempt_limits.left_to_wait("something", 3) == 10
    pass_time(timedelta(seconds=10))
    assert attempt_limits.left_to_wait("something", 3) == 0


def test_rows_of_tries_hold_no_network_and_no_code() -> None:
    person_for(wrong_code(1), "contributor", NETWORKS[5])
    stored = str(list(Tries.objects.values_list()))
    assert NETWORKS[5] not in stored and wrong_code(1) not in stored


# Hiding.


def test_one_network_hides_a_few_dishes_and_the_rest_waits_for_a_steward() -> None:
    dishes = public_dishes(47)
    for dish in dishes:
        form = {"proof": Proof.new("report", target=f"dish:{dish.pk}").token, "reason": "mine"}
        assert "Your report arrived" in page(stranger(), f"/dishes/{dish.number}/report/", form)
    assert Dish.objects.filter(state=Dish.State.HIDDEN).count() == report_limits.FEW
    assert Report.objects.filter(queued=True, state="open").count() == 47 - report_limits.FEW


def test_many_networks_hide_no_more_than_the_brake_lets() -> None:
    dishes = public_dishes(60)
    for number, dish in enumerate(dishes):
        file_report(Target(dish), "person", "", NETWORKS[number])
    (_hour, _share, least, _most), (_day, *_rest) = report_limits.BRAKES
    assert Dish.objects.filter(state=Dish.State.HIDDEN).count() == least


def test_the_next_hour_hides_a_little_more_and_a_day_has_its_own_brake(pass_time: Clock) -> None:
    dishes = iter(public_dishes(60))
    for hour in range(8):
        for network in range(6):
            file_report(Target(next(dishes)), "person", "", NETWORKS[hour * 6 + network])
        pass_time(timedelta(hours=1))
    assert Dish.objects.filter(state=Dish.State.HIDDEN).count() == report_limits.BRAKES[1][2]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_reports_at_the_same_moment_do_not_hide_more_than_the_brake_lets() -> None:
    dishes = public_dishes(8)

    def send(dish: Dish) -> None:
        file_report(Target(dish), "mine", "", NETWORKS[0])
        connection.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(send, dishes))
    assert Dish.objects.filter(state=Dish.State.HIDDEN).count() == report_limits.FEW


def test_decided_reports_free_the_brake_for_others(pass_time: Clock) -> None:
    dishes = public_dishes(20)
    for number, dish in enumerate(dishes[:5]):
        file_report(Target(dish), "person", "", NETWORKS[number])
    assert file_report(Target(dishes[5]), "person", "", NETWORKS[9]).queued  # type: ignore[union-attr]
    decide_reports(Report.objects.filter(hid=True), User.objects.create_user("s"), uphold=True)
    assert file_report(Target(dishes[6]), "person", "", NETWORKS[9]).hid  # type: ignore[union-attr]


def test_a_flood_of_reports_from_one_network_leaves_room_for_those_of_another() -> None:
    dish = public_dishes(1)[0]
    for _ in range(MOST_OPEN + 5):
        file_report(Target(dish), "wrong", "", NETWORKS[0])
    assert Report.objects.count() == MOST_OPEN
    entered = file_report(Target(dish), "insulting", "", NETWORKS[1])
    assert entered and entered.network == NETWORKS[1]


def test_a_queued_report_hides_once_a_steward_says_so() -> None:
    dishes = public_dishes(report_limits.FEW + 1)
    for dish in dishes:
        file_report(Target(dish), "person", "", NETWORKS[0])
    assert state_of(dishes[-1]) == "accepted"
    decide_reports(Report.objects.filter(queued=True), User.objects.create_user("s"), uphold=True)
    assert state_of(dishes[-1]) == "hidden"


def test_all_reports_of_a_network_are_shown_and_undone_in_one_act(client: Client) -> None:
    dishes = public_dishes(6)
    photo = make_photo(dishes[5], Photo.State.ACCEPTED)
    for dish in dishes[:2]:
        file_report(Target(dish), "mine", "spam words", NETWORKS[0])
    file_report(Target(dishes[5], photo), "person", "", NETWORKS[0])
    file_report(Target(dishes[3]), "person", "", NETWORKS[0])
    file_report(Target(dishes[4]), "person", "honest", NETWORKS[1])
    client.force_login(make_steward("view_report", "change_report", "change_withdrawal", "view_dish"))
    text = client.get("/admin/undo-reports/").content.decode()
    assert NETWORKS[0] in text and NETWORKS[1] in text
    text = client.get("/admin/undo-reports/", {"network": NETWORKS[0]}).content.decode()
    assert "4 open reports" in text and "spam words" in text and "honest" not in text
    assert Dish.objects.filter(state="hidden").count() == 3, "looking changes nothing"
    text = client.post("/admin/undo-reports/", {"network": NETWORKS[0]}, follow=True).content.decode()
    assert "4 reports are undone" in text
    photo.refresh_from_db()
    assert photo.state == Photo.State.ACCEPTED
    assert [state_of(dish) for dish in dishes] == ["accepted"] * 4 + ["hidden", "accepted"]
    assert set(Report.objects.filter(network=NETWORKS[0]).values_list("state", flat=True)) == {"undone"}
    again = file_report(Target(dishes[0]), "mine", "true this time", NETWORKS[2])
    assert again and again.hid, "nobody looked at each: the same reason hides again"


def test_what_a_network_hid_with_receipts_is_undone_with_its_reports() -> None:
    dish, receipt = sent_dish()
    assert hide_by_receipt(receipt, "Thiéb", NETWORKS[0]) and state_of(dish) == "withdrawn"
    assert undo_network(NETWORKS[0], User.objects.create_user("s")) == 1
    assert state_of(dish) == "waiting"


@pytest.mark.parametrize("missing", ["change_report", "change_withdrawal"])
def test_undoing_a_network_needs_both_permissions(client: Client, missing: str) -> None:
    may = {"view_report", "change_report", "change_withdrawal"} - {missing}
    client.force_login(make_steward(*may))
    assert client.get("/admin/undo-reports/").status_code == 403
    assert client.post("/admin/undo-reports/", {"network": NETWORKS[0]}).status_code == 403


def test_no_network_means_no_reports(client: Client) -> None:
    file_report(Target(public_dishes(1)[0]), "person", "", "")
    client.force_login(make_steward("change_report", "change_withdrawal"))
    for network in ("", "unknown", "\x00", "x" * 500):
        assert client.get("/admin/undo-reports/", {"network": network}).status_code == 200
        client.post("/admin/undo-reports/", {"network": network})
    assert Report.objects.get().state == "open"


def test_stewards_see_a_banner_and_others_do_not(client: Client) -> None:
    for dish in public_dishes(report_limits.FEW + 1):
        file_report(Target(dish), "person", "", NETWORKS[0])
    said = "More was reported than strangers can hide at once: 1 report waits"
    client.force_login(make_steward("change_report", "view_dish"))
    assert said in client.get("/admin/").content.decode()
    assert said in client.get("/admin/evaluation/overview/").content.decode()
    client.force_login(make_steward("view_dish"))
    assert said not in client.get("/admin/").content.decode()


# Receipt numbers.


def test_a_right_receipt_passes_however_many_wrong_ones_came_before() -> None:
    dish, receipt = sent_dish()
    for number in range(WRONG_OF_A_NETWORK + 300):
        assert not hide_by_receipt(f"{number:08d}" + check_digit(f"{number:08d}"), "x", NETWORKS[0])
    assert hide_by_receipt(receipt, "Thiéb", NETWORKS[1]) and state_of(dish) == "withdrawn"


@pytest.mark.parametrize(("wrong", "of"), [(WRONG_OF_A_RECEIPT, "name"), (WRONG_OF_A_NETWORK, "number")])
def test_after_guesses_a_right_receipt_is_kept_for_a_steward(wrong: int, of: str) -> None:
    dish, receipt = sent_dish()
    for number in range(wrong):
        other = f"{number:08d}" + check_digit(f"{number:08d}")
        hide_by_receipt(receipt if of == "name" else other, f"Name {number}", NETWORKS[0])
    for _ in range(2):
        assert hide_by_receipt(receipt, "Thiéb", NETWORKS[0])
    assert (state_of(dish), Withdrawal.objects.count()) == ("waiting", 0)
    asked = Report.objects.get()
    assert (asked.reason, asked.queued, asked.state) == ("lost", True, "open")
    decide_reports([asked], User.objects.create_user("s"), uphold=True)
    assert state_of(dish) == "withdrawn" and Withdrawal.objects.get().erase_after is not None


def test_receipts_and_reports_share_one_brake() -> None:
    for dish in public_dishes(report_limits.FEW):
        file_report(Target(dish), "person", "", NETWORKS[0])
    dish, receipt = sent_dish()
    hide_by_receipt(receipt, "Thiéb", NETWORKS[0])
    assert state_of(dish) == "waiting" and Report.objects.filter(reason="lost").count() == 1


def test_the_page_says_the_same_whatever_becomes_of_a_receipt() -> None:
    _dish, receipt = sent_dish()
    texts = set()
    for number in range(8):
        name = "Thiéb" if number in (0, 7) else "wrong"
        texts.add(page(stranger(), "/return/lost/", {"receipt": receipt, "name": name}))
    assert len(texts) == 1


# Quotas.


def test_a_dish_takes_ten_photos_and_says_so() -> None:
    contributor = make_contributor()
    dish = make_dish(contributor=contributor)
    for number in range(daily_quotas.PHOTOS_OF_A_DISH):
        make_photo(dish, data=make_photo_bytes((40 + number, 30)))
    proof = Proof.new("photo", contributor.pk, dish.pk).token
    text = page(stranger(), "/photo/", {"proof": proof, "photo": upload(make_photo_bytes())})
    assert "This dish has 10 photos" in text and Photo.objects.count() == 10
    with pytest.raises(PhotoError), transaction.atomic():
        daily_quotas.take_photo(dish)
    other = make_dish("Mafé", contributor=contributor)
    proof = Proof.new("photo", contributor.pk, other.pk).token
    assert "This dish has" not in page(stranger(), "/photo/", {"proof": proof, "photo": upload(make_photo_bytes())})


def test_the_tenth_photo_sent_twice_is_the_same_one() -> None:
    contributor = make_contributor()
    dish = make_dish(contributor=contributor)
    for number in range(daily_quotas.PHOTOS_OF_A_DISH - 1):
        make_photo(dish, data=make_photo_bytes((40 + number, 30)))
    form = {"proof": Proof.new("photo", contributor.pk, dish.pk).token}
    texts = [page(stranger(), "/photo/", {**form, "photo": upload(make_photo_bytes())}) for _ in range(2)]
    assert all("This dish has" not in text for text in texts) and Photo.objects.count() == 10


def test_a_script_that_makes_people_is_marked_and_nobody_is_refused(pass_time: Clock) -> None:
    for _ in range(request_info.CROWD + 10):
        client = stranger()
        text = client.get("/describe/").content.decode()
        text = page(client, "/describe/", {**CONSENT, "proof": tokens(text)["/describe/"]})
        assert "/dish/" in tokens(text)
    assert Contributor.objects.filter(crowd=True).count() == 10
    marked = Contributor.objects.filter(crowd=True).latest("created_at")
    page(stranger(), "/dish/", dish_form(marked))
    found = [alarm.text for alarm in alarms.list_alarms(make_steward("change_report"))]
    assert found == [found[0]] and "1 dish waits of people who came many at once" in found[0]


def test_an_evening_of_400_people_behind_one_prefix_refuses_nobody(pass_time: Clock) -> None:
    """Four hours: each agrees, tells one to three dishes, some send photos, mistype a code; one network."""
    network = NETWORKS[0]
    here = Circumstances("mobile", network)
    for number in range(400):
        person = make_contributor(crowd=in_a_crowd(network))
        code = issue_return_code(person.pk, "contributor")
        for _ in range(1 + number % 3 // 2):
            dish = submit_dish(Proof.new("dish", person.pk), CONTENT, here).submission.dish
        assert dish
        if number % 8 == 0:
            daily_quotas.take_photo(dish)
        if number % 10 == 0:
            assert person_for(wrong_code(number), "contributor", network) is None
        if number % 5 == 0:
            assert person_for(code, "contributor", network) == person.pk
        if number % 40 == 0:
            by_page(number)
        pass_time(timedelta(seconds=36))
    assert not Contributor.objects.filter(crowd=True).exists()
    assert Submission.objects.filter(purpose="dish").count() >= 500
    assert alarms.list_alarms(make_steward("change_report")) == []


def by_page(number: int) -> None:
    """One person through the pages from the first to the dish, with a wrong code between; all from 127.0.0.1."""
    client = stranger()
    text = client.get("/describe/").content.decode()
    text = page(client, "/describe/", {**CONSENT, "proof": tokens(text)["/describe/"]})
    assert "Nobody has this code" in page(client, "/return/", {"code": wrong_code(number)})
    saved = page(client, "/dish/", {**ANSWERS, "proof": tokens(text)["/dish/"]})
    assert "Your dish is saved" in saved


def test_dishes_of_people_who_come_many_at_once_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Consent and dish in one form, as a page from the cache sends them."""
    monkeypatch.setattr(request_info, "CROWD", 1)
    for _ in range(2):
        proof = Proof.new("dish", target=consent_for().mark)
        assert "Your dish is saved" in page(stranger(), "/dish/", {**ANSWERS, **CONSENT, "proof": proof.token})
    marked = [request_info.IN_A_CROWD in row.flags for row in Submission.objects.order_by("created_at")]
    assert marked == [False, True]


def test_photo_that_came_beside_the_last_one_is_refused_and_leaves_no_file() -> None:
    contributor = make_contributor()
    dish = make_dish(contributor=contributor)
    for number in range(daily_quotas.PHOTOS_OF_A_DISH):
        make_photo(dish, data=make_photo_bytes((40 + number, 30)))
    before = default_storage.listdir("photos")[1]
    with pytest.raises(PhotoError, match="This dish has 10 photos"):
        submit_photo(Proof.new("photo", contributor.pk, dish.pk), contributor, dish, prepare_photo(make_photo_bytes()))
    assert default_storage.listdir("photos")[1] == before and Photo.objects.count() == 10


def test_reports_of_one_network_are_undone_where_somebody_else_reported_the_same() -> None:
    alone, both = public_dishes(2)
    for dish, network in ((alone, NETWORKS[0]), (both, NETWORKS[0])):
        file_report(Target(dish), "person", "", network)
    Report.objects.create(dish=both, reason="mine", network=NETWORKS[1], hid=True)
    assert undo_network(NETWORKS[0], None) == 2
    assert (state_of(alone), state_of(both)) == ("accepted", "hidden")
