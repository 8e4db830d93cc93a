"""The end of a turn spends every form of it, whomever it was for and wherever *Finish* is pressed."""

import re

import pytest
from django.http import HttpResponse
from django.test import Client

from collection.access import return_codes
from collection.access.form_tokens import Proof
from collection.models import Contributor, Dish, FinishedTurn, ReturnCode
from tests.collection.make import ANSWERS, CONSENT, make_contributor, make_dish, page, stranger, tokens

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
HEARD = {"heard": "on", "public": "on"}
CODE = re.compile(r'class="code(?: big)?">([\d ]{19})<')


def token(html: str, action: str) -> str:
    return tokens(html)[action]


def agreed(client: Client) -> tuple[dict[str, str], str]:
    """The consent's form as it was sent, and the page of the dish."""
    form = {**CONSENT, "proof": token(client.get("/describe/").content.decode(), "/describe/")}
    return form, page(client, "/describe/", form)


def wrote_for_somebody(client: Client) -> dict[str, dict[str, str]]:
    """Address → the form that was sent there, for a person beside somebody whom nobody knows."""
    aloud = {**HEARD, "proof": token(client.get("/beside/").content.decode(), "/beside/")}
    dish = {**ANSWERS, "proof": token(page(client, "/beside/", aloud), "/dish/")}
    saved = page(client, "/dish/", dish)
    more = {"drink": "tea", "proof": token(saved, "/more/")}
    photo = {"skip": "1", "proof": token(page(client, "/more/", more), "/photo/")}
    thanks = page(client, "/photo/", photo)
    about = {"alias": "Mama", "agree": "on", "proof": token(thanks, "/about/")}
    slip = {"proof": token(thanks, "/slip/")}
    return {"/beside/": aloud, "/dish/": dish, "/more/": more, "/photo/": photo, "/about/": about, "/slip/": slip}


def test_finish_on_a_page_without_a_form_spends_every_form_of_somebody_written_for(client: Client) -> None:
    sent = wrote_for_somebody(client)
    assert 'action="/finish/"><' in client.get("/").content.decode()
    assert "Your turn is over" in page(client, "/finish/", {})
    before = (list(Dish.objects.values()), Contributor.objects.count())
    for address, form in sent.items():
        again = page(client, address, {**form, "local_name": "Fufu", "drink": "milk"})
        assert not CODE.search(again) and "Jollof" not in again and "Mama" not in again, address
    assert (list(Dish.objects.values()), Contributor.objects.count()) == before
    assert not Contributor.objects.exclude(alias="").exists()


def test_browser_without_cookies_is_offered_finish_where_a_form_names_somebody_and_nowhere_else() -> None:
    sent = wrote_for_somebody(stranger())
    for address in ("/", "/leaderboard/", "/describe/", "/beside/", "/return/", "/mine/"):
        text = stranger().get(address).content.decode()
        assert 'action="/finish/"' not in text or 'action="/finish/" hidden' in text, address
    said = page(stranger(), "/finish/", {})
    assert "nothing to forget" in said and "does not remember" not in said
    assert "Mama" in page(stranger(), "/about/", {**sent["/about/"], "email": "no"})
    said = page(stranger(), "/finish/", {"proof": sent["/slip/"]["proof"]})
    assert "The pages of this turn can show and change nothing any more." in said and "does not remember" not in said
    assert "Nothing was saved" in page(stranger(), "/about/", sent["/about/"])


def test_consent_that_was_sent_before_finish_makes_nobody_a_contributor(client: Client) -> None:
    form, shown = agreed(client)
    page(client, "/finish/", {"proof": token(shown, "/finish/")})
    for browser in (client, stranger()):
        again = page(browser, "/describe/", form)
        assert "What happens with what you tell" in again and "agree for yourself" in again
    assert Contributor.objects.count() == 1


def test_consent_read_aloud_is_spent_by_the_next_person() -> None:
    sent = wrote_for_somebody(stranger())
    done = {"proof": Proof.new("beside").token, "done": sent["/slip/"]["proof"]}
    assert "Read this aloud" in page(stranger(), "/beside/", done)
    assert "agree for yourself" in page(stranger(), "/beside/", sent["/beside/"])
    assert Contributor.objects.count() == 1


def test_helper_goes_on_after_the_next_person_and_finish_ends_both(client: Client) -> None:
    _form, shown = agreed(client)
    helper = Contributor.objects.get()
    own = {**ANSWERS, "proof": token(shown, "/dish/")}
    text = page(client, "/beside/", {**HEARD, "proof": token(client.get("/beside/").content.decode(), "/beside/")})
    saved = page(client, "/dish/", {**ANSWERS, "proof": token(text, "/dish/")})
    next_form = re.search(r'action="/beside/"><[^>]+value="([^"]+)">\s*<input[^>]+name="done" value="([^"]+)"', saved)
    assert next_form
    page(client, "/beside/", {"proof": next_form[1], "done": next_form[2]})
    assert "Tell us about the dish" in client.get("/describe/").content.decode()
    page(client, "/finish/", {})
    assert "1 of 4" in client.get("/describe/").content.decode()
    page(client, "/dish/", {**own, "local_name": "Mafé"})
    assert not Dish.objects.filter(contributor=helper).exists()


@pytest.mark.parametrize("address", ["/return/", "/ambassador/"])
def test_code_that_a_browser_sends_again_after_finish_opens_nothing(client: Client, address: str) -> None:
    contributor = make_contributor()
    make_dish("Thieb", contributor=contributor)
    code = return_codes.issue_return_code(contributor.pk, ReturnCode.Kind.CONTRIBUTOR)
    form = {"code": code, "proof": token(client.get(address).content.decode(), address)}
    shown = page(client, address, form)
    page(client, "/finish/", {"proof": token(shown, "/finish/")})
    again = page(client, address, form)
    assert code not in again and "Thieb" not in again and 'name="code"' in again
    assert "Thieb" in page(client, "/return/", {"code": code})


def test_finish_sent_again_does_not_end_a_later_turn(client: Client) -> None:
    _form, shown = agreed(client)
    finish = {"proof": token(shown, "/finish/")}
    page(client, "/finish/", finish)
    contributor = Contributor.objects.get()
    code = return_codes.issue_return_code(contributor.pk, ReturnCode.Kind.CONTRIBUTOR)
    page(client, "/return/", {"code": code})
    page(stranger(), "/finish/", finish)
    assert "Tell us about the dish" in client.get("/describe/").content.decode()


def test_turn_is_named_on_every_page_after_somebody_was_written_for_without_saying_who(client: Client) -> None:
    wrote_for_somebody(client)
    person = Dish.objects.get().contributor_id
    assert person is not None and client.cookies
    assert all(person.hex not in cookie.value for cookie in client.cookies.values())
    assert "does not remember you" in client.get("/mine/").content.decode()


def test_page_that_depends_on_who_is_known_is_for_one_browser(client: Client) -> None:
    anonymous: HttpResponse = client.get("/leaderboard/")  # type: ignore[assignment]
    assert "Cookie" in anonymous.headers["Vary"]
    agreed(client)
    assert "private" in client.get("/leaderboard/").headers["Cache-Control"]


def test_token_from_before_there_were_turns_counts_until_its_person_finishes() -> None:
    from django.core import signing

    from collection.access.form_tokens import SALT, decode_token

    contributor = make_contributor()
    made = Proof.new("dish", contributor.pk)
    old = signing.dumps([made.purpose, made.form.hex, made.person.hex, "", made.at], salt=SALT)
    assert decode_token(old) == made
    page(stranger(), "/finish/", {"proof": old})
    assert FinishedTurn.objects.get().person == contributor.pk
    page(stranger(), "/dish/", {**ANSWERS, "proof": old})
    assert not Dish.objects.exists()


def test_code_stands_beside_the_receipt_for_its_person_and_nobody_else(client: Client) -> None:
    _form, shown = agreed(client)
    form = {**ANSWERS, "proof": token(shown, "/dish/")}
    response = client.post("/dish/", form)
    saved = response.content.decode()
    found = CODE.search(saved)
    assert "Your dish is saved" in saved and found and response.headers["Cache-Control"] == "no-store"
    assert CODE.search(page(client, "/dish/", form)), "lost on its way, the same person sees it again"
    dish = Dish.objects.get()
    # A cookie alone shows no code.
    for address, typed in (("/more/", {"drink": "tea"}), ("/about/", {"name": "Ama"})):
        assert not CODE.search(page(client, address, {"dish": str(dish.pk), **typed})), address
    page(client, "/finish/", {})
    assert not CODE.search(page(client, "/dish/", form))
    assert return_codes.person_for(found[1], "contributor") == dish.contributor_id


def test_somebody_beside_a_helper_gets_the_slip_from_the_page_of_the_receipt() -> None:
    client = stranger()
    text = page(client, "/beside/", {**HEARD, "proof": token(client.get("/beside/").content.decode(), "/beside/")})
    saved = page(client, "/dish/", {**ANSWERS, "proof": token(text, "/dish/")})
    assert not CODE.search(saved) and "Show their paper slip" in saved
    assert CODE.search(page(client, "/slip/", {"proof": token(saved, "/slip/")}))
