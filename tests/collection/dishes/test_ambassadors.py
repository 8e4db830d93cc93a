"""Describing for somebody beside one: consent in speech, codes of their own, invitations, limits."""

import html
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from collection.access.daily_quotas import PEOPLE, PEOPLE_OF_AMBASSADOR
from collection.access.form_tokens import Proof
from collection.access.return_codes import issue_return_code, person_for
from collection.dishes.receipts import format_receipt
from collection.models import Ambassador, Contributor, Country, Dish, FinishedTurn, Submission
from tests.collection.make import (
    ANSWERS,
    CONSENT,
    TOKEN,
    make_contributor,
    make_dish,
    make_steward,
    open_collection,
    page,
    stranger,
    tokens,
    unopened,
)

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

HEARD = {"heard": "on", "public": "on"}
CODE = re.compile(r"\b\d{4} \d{4} \d{4} \d{4}\b")
DISHES = ["Fufu", "ثريد", "खिचड़ी", "Ugali", "Poi"]


def make_ambassador(country: str = "GHA", days: int = 30, contributor: Contributor | None = None) -> Ambassador:
    until = timezone.localdate() + timedelta(days=days)
    opened = timezone.now() if contributor else None
    return Ambassador.objects.create(
        label="Ama of the market",
        country=Country.objects.get(pk=country),
        until=until,
        contributor=contributor,
        opened_at=opened,
    )


def helper_token(helper: Contributor | None = None) -> str:
    """The button *the next person* of this helper, before any text was shown."""
    return Proof.new("beside", helper.pk if helper else None).token


def aloud(token: str = "", **extra: str) -> str:
    client = stranger()
    if not token:
        return client.get("/beside/").content.decode()
    return page(client, "/beside/", {"proof": token, **extra})


def begin(shown: str, **ticks: str) -> str:
    return page(stranger(), "/beside/", {**(ticks or HEARD), "proof": tokens(shown)["/beside/"]})


def tell(form: str, name: str) -> str:
    """Dish, nothing more, no photo: the page that thanks."""
    client = stranger()
    third = page(client, "/dish/", {**ANSWERS, "local_name": name, "proof": tokens(form)["/dish/"]})
    fourth = page(client, "/more/", {"skip": "1", "proof": tokens(third)["/more/"]})
    return page(client, "/photo/", {"skip": "1", "proof": tokens(fourth)["/photo/"]})


def slip_of(thanks: str) -> str:
    return page(stranger(), "/slip/", {"proof": tokens(thanks)["/slip/"]})


def next_person(shown: str) -> str:
    """Presses *the next person* with everything that its form sends."""
    form = shown[shown.index('action="/beside/"') :]
    fields = re.findall(r'name="(proof|done)" value="([^"]+)"', form[: form.index("</form>")])
    return page(stranger(), "/beside/", dict(fields))


def code_on(text: str) -> str:
    return CODE.findall(text)[0]


def test_text_to_read_aloud_says_who_what_and_how_to_stop() -> None:
    text = html.unescape(aloud())
    for words in ("Kitchen Table Trust", "become public", "AI models", "stop at any time", "+233 20 000 0000"):
        assert words in text
    assert "Are you 18 years old or older, and do you agree?" in text


def test_draft_to_read_aloud_stands_beside_the_confirmed_text() -> None:
    text = stranger().get("/beside/", {"language": "ar"}).content.decode()
    assert 'class="aloud" lang="ar" dir="rtl"' in text and "Are you 18" in text and "A draft of a translation" in text
    person = page(stranger(), "/beside/", {**HEARD, "proof": tokens(text)["/beside/"]})
    assert "2 of 4" in person and str(Contributor.objects.get().consent_draft) == "1 (ar)"


def test_language_is_switched_without_losing_who_helps() -> None:
    helper = make_contributor()
    text = aloud(helper_token(helper))
    text = page(stranger(), "/beside/", {**HEARD, "language": "sw", "proof": tokens(text)["/beside/"]})
    assert "Maneno yako" in text and Contributor.objects.count() == 1
    begin(text)
    person = Contributor.objects.exclude(pk=helper.pk).get()
    assert person.entered_by == helper and str(person.consent_draft) == "1 (sw)"


def test_text_that_stands_no_more_is_shown_anew_to_the_same_helper() -> None:
    unopened()
    helper = make_contributor()
    text = aloud(helper_token(helper))
    open_collection()
    again = begin(text)
    assert "nothing was saved" in again and Contributor.objects.count() == 1
    begin(again)
    assert Contributor.objects.exclude(pk=helper.pk).get().entered_by == helper


@pytest.mark.parametrize("ticks", [{"heard": "on"}, {"public": "on"}, {"other": "on"}])
def test_nobody_is_entered_without_both_ticks(ticks: dict[str, str]) -> None:
    text = begin(aloud(), **ticks)
    assert "1 of 4" in text and 'class="error"' in text and Contributor.objects.count() == 0


def test_consent_in_speech_is_recorded_with_who_helped() -> None:
    helper = make_contributor()
    begin(aloud(helper_token(helper)))
    person = Contributor.objects.exclude(pk=helper.pk).get()
    assert (person.consent_way, person.entered_by, person.understood) == ("spoken", helper, [])
    assert person.consent is not None and person.consent_at is not None


def test_somebody_unknown_may_help_too() -> None:
    begin(aloud())
    assert Contributor.objects.get().entered_by is None


def test_helper_keeps_their_own_turn_and_the_phone_forgets_the_person(client: Client) -> None:
    first = client.get("/describe/").content.decode()
    page(client, "/describe/", {**CONSENT, "proof": tokens(first)["/describe/"]})
    helper = Contributor.objects.get()
    before = client.cookies["turn"].value
    shown = client.get("/beside/").content.decode()
    response = client.post("/beside/", {**HEARD, "proof": tokens(shown)["/beside/"]})
    assert client.cookies["turn"].value == before and response.headers["Clear-Site-Data"] == '"cache"'
    page(client, "/dish/", {**ANSWERS, "local_name": "Banku", "proof": tokens(response.content.decode())["/dish/"]})
    assert Dish.objects.get().contributor != helper and Dish.objects.get().contributor is not None
    assert "Banku" not in client.get("/mine/").content.decode()


def test_slip_shows_code_and_receipts_of_that_person_alone() -> None:
    helper = make_contributor()
    make_dish("Of the helper", contributor=helper)
    thanks = tell(begin(aloud(helper_token(helper))), "Fufu")
    assert not CODE.search(thanks)
    slip = slip_of(thanks)
    receipt = format_receipt(Submission.objects.get(purpose="dish").receipt)
    assert receipt in slip and "Fufu" in slip and "Of the helper" not in slip and "+233 20 000 0000" in slip
    assert person_for(code_on(slip), "contributor") == Dish.objects.get(local_name="Fufu").contributor_id


def test_slip_that_was_lost_on_its_way_shows_the_same_code_until_it_was_used() -> None:
    thanks = tell(begin(aloud()), "Fufu")
    code = code_on(slip_of(thanks))
    assert code_on(slip_of(thanks)) == code
    person_for(code, "contributor")
    again = slip_of(thanks)
    assert not CODE.search(again) and "cannot be shown again" in again


def test_slip_is_neither_compressed_nor_kept() -> None:
    thanks = tell(begin(aloud()), "Fufu")
    response = stranger().post("/slip/", {"proof": tokens(thanks)["/slip/"]}, headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in response.headers and response.headers["Cache-Control"] == "no-store"


def test_no_slip_for_who_describes_alone_or_is_nobody() -> None:
    reader = make_contributor()
    assert stranger().post("/slip/", {"proof": Proof.new("go", reader.pk).token}).status_code == 404
    assert "Nothing was saved" in page(stranger(), "/slip/", {"proof": "forged"})
    assert "Nothing was saved" in page(stranger(), "/slip/", {"proof": Proof.new("go").token})
    assert stranger().get("/slip/").status_code == 302


def test_next_person_ends_the_turn_of_the_one_before() -> None:
    form = begin(aloud())
    thanks = tell(form, "Fufu")
    assert "For somebody beside you" in next_person(thanks)
    person = Dish.objects.get().contributor_id
    assert person and FinishedTurn.objects.filter(person=person).exists()
    text = page(stranger(), "/dish/", {**ANSWERS, "local_name": "Changed", "proof": tokens(form)["/dish/"]})
    assert "nothing is saved yet" in text and Dish.objects.get().local_name == "Fufu"
    assert stranger().post("/slip/", {"proof": tokens(thanks)["/slip/"]}).content.decode().count("Fufu") == 0


def test_who_helped_cannot_reopen_or_withdraw_without_the_code() -> None:
    helper = make_contributor()
    tell(begin(aloud(helper_token(helper))), "Fufu")
    dish = Dish.objects.get()
    assert "Fufu" not in page(stranger(), "/mine/", {"proof": Proof.new("go", helper.pk).token})
    for address, purpose in (("/more/", "more"), ("/photo/", "photo"), ("/another/", "go"), ("/mine/", "go")):
        data = {"proof": Proof.new(purpose, helper.pk, dish.pk).token, "dish": dish.pk, "drink": "tea"}
        assert stranger().post(address, data).status_code == 404
    rights = {"proof": Proof.new("rights", helper.pk).token, "withdraw": dish.pk, "sure": "1"}
    assert stranger().post("/return/dishes/", rights).status_code in (200, 404)
    dish.refresh_from_db()
    assert (dish.state, dish.drink) == (Dish.State.WAITING, "")


def test_own_code_later_does_not_lead_on_in_the_name_of_the_helper() -> None:
    helper = make_contributor()
    thanks = tell(begin(aloud(helper_token(helper))), "Fufu")
    assert "The next person" in thanks
    Contributor.objects.exclude(pk=helper.pk).update(created_at=timezone.now() - timedelta(hours=25))
    person = Contributor.objects.exclude(pk=helper.pk).get()
    later = tell(page(stranger(), "/another/", {"proof": tokens(thanks)["/another/"]}), "Banku")
    assert "The next person" not in later and Dish.objects.filter(contributor=person).count() == 2


def test_five_elders_have_five_codes_and_withdrawing_one_leaves_four() -> None:
    ambassador = make_ambassador(contributor=make_contributor())
    shown, codes = aloud(helper_token(ambassador.contributor)), []
    for name in DISHES:
        slip = slip_of(tell(begin(shown), name))
        codes.append(code_on(slip))
        shown = next_person(slip)
    elders = Contributor.objects.filter(entered_by=ambassador.contributor)
    assert len(set(codes)) == elders.count() == 5
    assert {person_for(code, "contributor") for code in codes} == set(elders.values_list("pk", flat=True))
    withdraw_everything(codes[2])
    left = Dish.objects.live().values_list("local_name", flat=True)
    assert sorted(left) == sorted([*DISHES[:2], *DISHES[3:]])
    opened = page(stranger(), "/return/", {"code": codes[0]})
    assert DISHES[0] in opened and not any(name in opened for name in DISHES[1:])


def withdraw_everything(code: str) -> None:
    """With the digits as an Arabic keyboard types them."""
    typed = code.translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"))
    own = page(stranger(), "/return/", {"code": typed})
    sure = page(stranger(), "/return/dishes/", {"proof": tokens(own)["/return/dishes/"], "everything": "1"})
    token = TOKEN.search(sure)
    assert token is not None
    page(stranger(), "/return/dishes/", {"proof": token["proof"], "everything": "1", "sure": "1"})


def invitation_of(ambassador: Ambassador) -> str:
    return f"/ambassador/{ambassador.invitation}/"


def invitation_form(address: str) -> dict[str, str]:
    shown = stranger().get(address).content.decode()
    found = re.search(r'<form method="post"[^>]*><input type="hidden" name="proof" value="([^"]+)"', shown)
    assert found is not None
    return {**CONSENT, "proof": found[1]}


def test_invitation_makes_an_ambassador_who_comes_back_with_a_code() -> None:
    ambassador = make_ambassador()
    address = invitation_of(ambassador)
    assert "Ambassador for Ghana" in stranger().get(address).content.decode()
    assert Contributor.objects.count() == 0
    ready = page(stranger(), address, invitation_form(address))
    ambassador.refresh_from_db()
    contributor = ambassador.contributor
    assert contributor is not None and ambassador.opened_at is not None
    back = page(stranger(), "/ambassador/", {"code": code_on(ready)})
    assert "Ambassador for Ghana" in back
    form = begin(aloud(tokens(back)["/beside/"]))
    assert 'value="Ghana"' in form
    assert Contributor.objects.exclude(pk=contributor.pk).get().entered_by == contributor


def test_invitation_is_opened_once_and_twice_from_the_same_page() -> None:
    address = invitation_of(make_ambassador())
    mine, other = invitation_form(address), invitation_form(address)
    first, again = page(stranger(), address, mine), page(stranger(), address, mine)
    assert code_on(first) == code_on(again)
    late = page(stranger(), address, other)
    assert "was opened before" in late and not CODE.search(late)
    assert "was opened before" in stranger().get(address).content.decode()
    assert Contributor.objects.count() == 1


@pytest.mark.parametrize("ticks", [{"adult": ""}, {"agree": ""}])
def test_invitation_is_not_opened_without_both_ticks(ticks: dict[str, str]) -> None:
    ambassador = make_ambassador()
    address = invitation_of(ambassador)
    text = page(stranger(), address, {**invitation_form(address), **ticks})
    ambassador.refresh_from_db()
    assert 'class="error"' in text and ambassador.opened_at is None


@pytest.mark.parametrize("code", ["none", "x" * 200, "%00", "..%2f"])
def test_invitation_that_does_not_exist_is_not_there(code: str) -> None:
    assert stranger().get(f"/ambassador/{code}/").status_code == 404


def test_invitation_runs_out() -> None:
    assert stranger().get(invitation_of(make_ambassador(days=-1))).status_code == 404


def test_invitation_of_another_site_or_without_proof_opens_nothing() -> None:
    ambassador = make_ambassador()
    address = invitation_of(ambassador)
    page(stranger(), address, CONSENT)
    page(stranger(), address, invitation_form(address), **{"Sec-Fetch-Site": "cross-site"})
    ambassador.refresh_from_db()
    assert ambassador.opened_at is None


def test_invitation_waits_until_the_collection_is_open() -> None:
    unopened()
    ambassador = make_ambassador()
    assert "not open at the moment" in stranger().get(invitation_of(ambassador)).content.decode()
    open_collection()
    address = invitation_of(ambassador)
    assert CODE.search(page(stranger(), address, invitation_form(address)))


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("", "Write your return code."),
        ("1234", "a digit|of these is missing"),
        ("0000 0000 0000 0000", "Nobody has this code"),
        ("\x00", "Write your return code."),
    ],
)
def test_wrong_code_brings_no_ambassador_back(typed: str, sentence: str) -> None:
    text = html.unescape(page(stranger(), "/ambassador/", {"code": typed}))
    assert re.search(sentence, text) and "/beside/" not in text


def test_people_of_one_helper_within_a_day_have_a_limit_that_ambassadors_do_not_reach() -> None:
    helper = make_contributor()
    for _ in range(PEOPLE):
        make_contributor(entered_by=helper)
    shown = aloud(helper_token(helper))
    text = begin(shown)
    assert f"written for {PEOPLE} people within a day" in text and "checked" in text
    assert Contributor.objects.count() == PEOPLE + 1
    make_ambassador(contributor=helper)
    assert "2 of 4" in begin(shown) and PEOPLE_OF_AMBASSADOR > PEOPLE


def test_limits_are_raised_until_the_last_day_only() -> None:
    helper = make_contributor()
    for _ in range(PEOPLE):
        make_contributor(entered_by=helper)
    ambassador = make_ambassador(contributor=helper, days=0)
    assert "2 of 4" in begin(aloud(helper_token(helper)))
    Ambassador.objects.filter(pk=ambassador.pk).update(until=timezone.localdate() - timedelta(days=1))
    assert "people within a day" in begin(aloud(helper_token(helper)))


def test_two_people_may_be_served_from_one_cached_page() -> None:
    shown = aloud()
    forms = [begin(shown), begin(shown)]
    for form, name in zip(forms, ("Fufu", "Banku"), strict=True):
        tell(form, name)
    assert Dish.objects.values("contributor").distinct().count() == 2


def test_staff_name_an_ambassador_and_see_the_invitation_until_it_is_opened(client: Client) -> None:
    steward = make_steward("add_ambassador", "view_ambassador", "change_ambassador", "view_country")
    client.force_login(steward)
    until = timezone.localdate() + timedelta(days=9)
    client.post("/admin/collection/ambassador/add/", {"label": "Kofi", "country": "GHA", "until": until})
    ambassador = Ambassador.objects.get()
    assert (ambassador.named_by, ambassador.label, ambassador.until) == (steward, "Kofi", until)
    address = f"/admin/collection/ambassador/{ambassador.pk}/change/"
    assert invitation_of(ambassador) in client.get(address).content.decode()
    Ambassador.objects.update(opened_at=timezone.now(), contributor=make_contributor())
    assert invitation_of(ambassador) not in client.get(address).content.decode()


def test_staff_without_the_permission_name_nobody(client: Client) -> None:
    client.force_login(make_steward("view_ambassador"))
    assert client.post("/admin/collection/ambassador/add/", {"label": "Kofi"}).status_code == 403


def test_code_brought_by_another_site_shows_no_ambassador() -> None:
    contributor = make_contributor()
    make_ambassador(contributor=contributor)
    code = issue_return_code(contributor.pk, "contributor")
    headers = {"Sec-Fetch-Site": "cross-site"}
    text = page(stranger(), "/ambassador/", {"code": code}, **headers)
    assert "nothing was saved" in text and 'name="code"' in text and "Ghana" not in text


def test_next_person_ends_no_turn_of_somebody_who_wrote_for_themselves() -> None:
    person = make_contributor()
    done = {"proof": Proof.new("beside").token, "done": Proof.new("go", person.pk).token}
    assert "Read this aloud" in page(stranger(), "/beside/", done)
    assert not FinishedTurn.objects.exists()
