"""Every page that somebody without an account can see, in its states, in one language: what tests look at.

`walk` goes the ways of a contributor, a helper, an ambassador and a reviewer, in browsers without cookies. A new public
address or public template that it does not reach fails `test_boundaries.py`.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from django.utils import timezone
from django.utils.translation import override
from django.views import defaults

from collection.access import return_codes
from collection.access.form_tokens import Proof, read_token
from collection.dishes.write import save_dish
from collection.leaderboard.counters import update_leaderboard_counters
from collection.models import Ambassador, ConsentText, Contributor, Country, Dish, Opening, Photo, Source, Withdrawal
from collection.vocabularies.ingredients import index_ingredients
from collection.vocabularies.places import all_places
from collection.withdrawal.withdraw import confirm_withdrawals, withdraw_dish
from review.models import Campaign, CampaignText, ContentTag, Reviewer, SupportContact
from review.signed_links import back_address
from tests.collection.make import (
    ANSWERS,
    CONSENT,
    TICKS,
    make_contributor,
    make_dish,
    make_photo,
    make_photo_bytes,
    open_collection,
    stranger,
    tokens,
    unopened,
    upload,
)
from tests.review.make import FOOD, GOOD, first_image, form_of, make_campaign, make_invitation
from tests.review.phone import LEFT, PROOF
from wwd.base import errors
from wwd.base.unavailable import unavailable_response
from wwd.staff.resubmission import csrf_failure

NOWHERE = "/nowhere/"
SPOKEN_BY_REVIEW = ("en", "ar")
# As people write: in other scripts and directions than the page, with brackets and digits.
NAME, OTHER_NAME, WORDS = "ثريد (اللحم) 2", "Thieb bu jën (3)", "شاي, Brot"
TYPED = {**ANSWERS, "local_name": NAME, "languages": "العربية", "places": "Naija"}


@dataclass
class Walk:
    """Looks at one page after another in `language` and keeps each under a name."""

    language: str
    pages: dict[str, HttpResponse] = field(default_factory=dict)

    def keep(self, name: str, response: Any) -> str:
        assert name not in self.pages, name
        assert response.headers["Content-Type"].startswith("text/html"), name
        self.pages[name] = response
        return response.content.decode()

    def get(self, name: str, path: str, **query: str) -> str:
        return self.keep(name, stranger().get(self.address(path), query, headers=self.headers))

    def post(self, name: str, path: str, data: dict[str, Any]) -> str:
        response = stranger().post(self.address(path), data, headers=self.headers)
        assert response.status_code < 300 or response.status_code >= 400, name
        return self.keep(name, response)

    def send(self, name: str, page: str, path: str, /, **data: Any) -> str:
        """Sends the form of `page` whose address is `path`."""
        return self.post(name, path, {"proof": tokens(page)[self.address(path)], **data})

    def press(self, name: str, page: str, path: str, near: str, /, **data: Any) -> str:
        """Sends the one of several forms of a page of the review that holds `near`."""
        forms = [form for form in page.split("<form")[1:] if near in form and PROOF.search(form)]
        return self.post(name, path, {"proof": PROOF.findall(forms[0])[0], **data})

    def address(self, path: str) -> str:
        return path if path.startswith("/review/") else f"/{self.language}{path}"

    @property
    def headers(self) -> dict[str, str]:
        return {"Accept-Language": self.language}


@cache
def render_public_pages(language: str) -> dict[str, HttpResponse]:
    """`walk` in one language, once for all tests of a process. Needs a database; nothing of it is left there."""
    point = transaction.savepoint()
    try:
        return walk(language)[language]
    finally:
        transaction.savepoint_rollback(point)


def walk(*languages: str) -> dict[str, dict[str, HttpResponse]]:
    """Language → name → every face of the public pages. Rows that all languages may look at are made once."""
    ways = [Walk(language) for language in languages]
    closed(ways)
    empty(ways)
    for way in ways:
        contributor(way)
        helper(way)
        ambassador(way)
        own(way)
        if way.language in SPOKEN_BY_REVIEW:
            reviewer(way)
        wrong(way)
    public(ways)
    return {way.language: way.pages for way in ways}


def closed(ways: list[Walk]) -> None:
    """Before the collection is open, and after."""
    unopened()
    for way in ways:
        way.get("consent of a demonstration", "/describe/")
    open_collection(until=timezone.localdate() - timedelta(days=1))
    for way in ways:
        way.get("closed", "/describe/")
        way.post("closed with typing", "/dish/", TYPED)
    Opening.objects.all().delete()


def empty(ways: list[Walk]) -> None:
    open_collection(aliases=True, thanks="a book")
    ConsentText.objects.filter(language="en").update(recording="en.mp3", recording_bytes=345_678)
    for way in ways:
        for name, path in (
            ("start, empty", "/"),
            ("leaderboard, empty", "/leaderboard/"),
            ("dishes, empty", "/dishes/"),
            ("withdrawn, empty", "/withdrawn/"),
            ("mine, unknown", "/mine/"),
            ("phone", "/phone/"),
            ("translation", "/translation/"),
        ):
            way.get(name, path)
        way.get("leaderboard of today, empty", "/leaderboard/", when="today")
    make_dish(source=Source.DEMONSTRATION, state=Dish.State.ACCEPTED)
    index_ingredients(make_dish(ingredients="sumac, salt", state=Dish.State.ACCEPTED))
    for way in ways:
        way.get("start, demonstration", "/")


def contributor(way: Walk) -> None:
    """The way of one dish, with what can go wrong on it."""
    consent = way.get("consent", "/describe/")
    way.send("consent, errors", consent, "/describe/")
    again = {"question_0": "False", "question_1": "True", "question_2": "False"}
    way.send("consent, once more", consent, "/describe/", **CONSENT, **again)
    form = way.send("dish", consent, "/describe/", **CONSENT)
    way.send("dish, errors", form, "/dish/", local_name="---", languages="", places="", ingredients="a" * 4001)
    way.send("dish, ingredients", form, "/dish/", **{**TYPED, "ingredients": "s"}, suggest="new")
    way.send("dish, no ingredient", form, "/dish/", **{**TYPED, "ingredients": "qqq"}, suggest="new")
    way.post("dish, not known", "/dish/", {**TYPED, "proof": "x"})
    more = way.send("more", form, "/dish/", **TYPED)
    way.send("another or a correction", form, "/dish/", **{**TYPED, "local_name": OTHER_NAME})
    way.post("receipt", "/dish/", {**TYPED, "form": str(proof_on(form, way).form), "proof": "x"})
    way.send("more, errors", more, "/more/", english_name="a" * 201, kinds=["nothing"], time_of_day=["x"])
    way.post("kept", "/more/", {"drink": WORDS, "proof": "x"})
    photo = way.send("photo", more, "/more/", skip="1")
    way.send("photo, none", photo, "/photo/")
    way.send("photo, unreadable", photo, "/photo/", photo=upload(b"no picture"))
    caption = way.send("caption", photo, "/photo/", photo=upload(make_photo_bytes()))
    way.send("caption, errors", caption, "/caption/", caption="")
    thanks = way.send("thanks", caption, "/caption/", caption=WORDS, **TICKS)
    way.send("thanks, errors", thanks, "/about/", year_of_birth="xx", email="a@", alias="0123456789")
    way.send("thanks, told", thanks, "/about/", name="Awa", year_of_birth="١٩٩٠", agree="on")
    way.send("another dish", thanks, "/another/", place="1")
    mine = way.send("mine", thanks, "/mine/")
    way.send("mine, correct", mine, "/mine/", dish=str(Dish.objects.latest("pk").pk))
    way.send("finished", thanks, "/finish/")
    way.send("dish, after the turn", form, "/dish/", **{**TYPED, "local_name": "Fufu"})


def proof_on(page: str, way: Walk) -> Proof:
    return read_token(tokens(page)[way.address("/dish/")], "dish")


def helper(way: Walk) -> None:
    """Somebody writes for a person beside them."""
    aloud = way.get("aloud", "/beside/")
    way.send("aloud, errors", aloud, "/beside/")
    form = way.send("dish of somebody beside", aloud, "/beside/", heard="on", public="on")
    more = way.send("more, beside", form, "/dish/", **TYPED)
    photo = way.send("photo, beside", more, "/more/", skip="1")
    thanks = way.send("thanks, beside", photo, "/photo/", skip="1")
    way.send("slip", thanks, "/slip/")
    return_codes.revoke_return_codes(Contributor.objects.latest("created_at").pk)


def ambassador(way: Walk) -> None:
    until = timezone.localdate() + timedelta(days=30)
    invited = Ambassador.objects.create(label="Ama", country=Country.objects.get(pk="GHA"), until=until)
    path = f"/ambassador/{invited.invitation}/"
    page = way.get("invitation", path)
    token = PROOF.findall(page)[0]
    way.post("invitation, errors", path, {"proof": token})
    way.post("ambassador", path, {"proof": token, **CONSENT})
    way.get("invitation, used", path)
    way.get("ambassador, code", "/ambassador/")
    way.post("ambassador, wrong code", "/ambassador/", {"code": "1234"})


def own(way: Walk) -> None:
    """Coming back with the code, and every right."""
    way.get("return", "/return/")
    way.post("return, no code", "/return/", {"code": ""})
    way.post("return, wrong code", "/return/", {"code": "1234"})
    way.get("lost code", "/return/lost/")
    way.post("lost code, errors", "/return/lost/", {})
    way.post("lost code, done", "/return/lost/", {"receipt": "123456782", "name": NAME})
    person = make_contributor()
    way.post("return, nothing told", "/return/", {"code": return_codes.issue_return_code(person.pk, "contributor")})
    dish = make_dish(NAME, contributor=person)
    make_dish(OTHER_NAME, contributor=person, state=Dish.State.ACCEPTED)
    hidden = make_dish("Hidden", contributor=person)
    withdraw_dish(hidden, Withdrawal.Reason.LOST_CODE)
    page = way.post("own", "/return/", {"code": return_codes.issue_return_code(person.pk, "contributor")})

    def act(name: str, **button: Any) -> str:
        return way.send(name, page, "/return/dishes/", **button)

    act("own, correct", correct=dish.pk)
    act("own, withdraw?", withdraw=dish.pk)
    act("own, withdrawn", withdraw=dish.pk, sure="1")
    act("own, undone", undo=dish.pk)
    act("own, details?", details="1")
    act("own, details removed", details="1", sure="1")
    act("own, new code", new_code="1")
    act("own, everything?", everything="1")
    act("own, everything withdrawn", everything="1", sure="1")
    act("own, everything undone", undo_everything="1")


def public(ways: list[Walk]) -> None:
    """Full: as many places as there are, a dish that tells everything, photos, what was withdrawn."""
    dish = telling_dish()
    photo = make_photo(dish, "accepted")
    photo.caption = WORDS
    photo.save()
    places = [place.name for place in all_places()]
    made = [save_dish({"local_name": OTHER_NAME, "ingredients": "rice"}, places, [("Wolof", "wol")])]
    made += [make_dish(f"{OTHER_NAME} {number}") for number in range(45)]
    Dish.objects.filter(pk__in=[row.pk for row in made]).update(state=Dish.State.ACCEPTED)
    update_leaderboard_counters([dish.pk, *(row.pk for row in made)])
    gone = make_dish("Gone", state=Dish.State.ACCEPTED)
    withdraw_dish(gone, Withdrawal.Reason.OWN)
    confirm_withdrawals(Withdrawal.objects.filter(dish=gone))
    for way in ways:
        look_around(way, dish, photo)


def telling_dish() -> Dish:
    told = make_contributor()
    told.alias = "Tata Awa"
    told.save()
    chosen: dict[str, Any] = {"time_of_day": ["lunch"], "kinds": ["soup", "main_alone"], "occasions": "both"}
    answers: dict[str, Any] = {
        "english_name": "Bread with meat",
        "regions": "البصرة",
        "cultures": WORDS,
        "drink": WORDS,
    }
    answers |= {"time_of_day_more": "7", "kinds_more": "8", "utensils": "9", "occasions_more": "10"}
    answers |= {"recipe": "11", "more_details": NAME}
    return make_dish(NAME, "Naija", "العربية", contributor=told, state=Dish.State.ACCEPTED, **answers, **chosen)


def look_around(way: Walk, dish: Dish, photo: Photo) -> None:
    for name, path, query in (
        ("start", "/", {}),
        ("leaderboard", "/leaderboard/", {}),
        ("leaderboard of the month", "/leaderboard/", {"when": "month"}),
        ("leaderboard by name", "/leaderboard/", {"by": "name"}),
        ("dishes", "/dishes/", {}),
        ("dishes, second page", "/dishes/", {"page": "2"}),
        ("dishes of a place", "/dishes/", {"place": "Senegal"}),
        ("withdrawn", "/withdrawn/", {}),
        ("public dish", f"/dishes/{dish.number}/", {}),
        ("report a picture", f"/pictures/{photo.pk}/report/", {}),
    ):
        way.get(name, path, **query)
    report = f"/dishes/{dish.number}/report/"
    token = PROOF.findall(way.get("report", report))[0]
    way.post("report, errors", report, {"proof": token, "words": WORDS})
    way.post("report, arrived", report, {"proof": token, "reason": "wrong"})


def campaign_of(images: int) -> Campaign:
    made = make_campaign(images=images)
    SupportContact.objects.create(campaign=made, country="Nigeria", name="Dr. Ada", phone="+234 800 000", note="Hausa")
    ContentTag.objects.create(image=first_image(made), kind="insects")
    CampaignText.objects.create(campaign=made, language="en", title="A campaign", introduction="Words of staff.")
    return made


def reviewer(way: Walk) -> None:
    """A review; its pages speak the languages of the questionnaires."""
    way.get("review, start", "/review/")
    way.post("review, wrong code", "/review/", {"code": "1234"})
    way.get("review, no such invitation", "/review/nothing/")
    invitation = make_invitation(campaign_of(5))
    path = invitation.get_absolute_url()
    welcome = way.get("review, welcome", path)
    token = PROOF.findall(welcome)[0]
    way.post("review, welcome, errors", path, {"proof": token})
    covered = way.post("review, covered", path, {"proof": token, "country": "Nigeria", "role": "volunteer", **CONSENT})
    path += "pictures/"

    def press(name: str, page: str, do: str, near: str = 'class="judge"', /, **data: Any) -> str:
        return way.press(f"review, {name}", page, path, near, do=do, **data)

    press("shown", covered, "show")
    press("larger", covered, "larger")
    press("errors", covered, "answer", page="1")
    press("second questions", covered, "answer", page="1", shown="1", **form_of(FOOD))
    first = press("answered", covered, "answer", page="2", shown="1", **form_of(GOOD))
    press("answered otherwise", covered, "answer", page="2", shown="1", **form_of({**GOOD, "match": "none"}))
    press("back to the last one", first, "undo")
    skipped = press("skipped", first, "skip")
    left = LEFT.findall(skipped)[0]
    why = [form for form in skipped.split("<form")[1:] if "why" in form]
    way.post("review, why", path, {"proof": PROOF.findall(why[0])[0], "left": left, "why": "upsetting"})
    # Two that upset, one after the other: a rest is offered.
    rest = press("rest", skipped, "report")
    pause = press("pause", rest, "stop", 'value="stop"')
    mine = press("mine", pause, "me", 'value="me"')
    press("mine, note", mine, "note", "note", text=WORDS)
    press("mine, no note", mine, "note", "note", text="")
    press("refused", mine, "withdraw", "note")
    page = press("after the rest", rest, "on", 'value="on"')
    for number in range(5):
        if "judge" in page:
            page = press(f"skipped {number}", page, "skip")
    person = Reviewer.objects.latest("pk")
    code = return_codes.issue_return_code(person.pk, "reviewer")
    mine = way.post("review, mine by code", "/review/", {"code": code})
    press("new code", mine, "new-code", "new-code")
    press("gone", mine, "withdraw", "new-code", answers="keep")
    press("back again", mine, "undo-withdrawal", "new-code")
    way.get("review, back", back_address(person))
    way.get("review, back, wrong", "/review/back/x/")
    nothing = make_invitation(make_campaign(images=0))
    way.get("review, no images", nothing.get_absolute_url())


def wrong(way: Walk) -> None:
    """What stands where something went wrong."""
    way.get("404", NOWHERE)
    way.post("unreadable", "/dish/", {f"field{number}": "x" for number in range(1001)})
    asked = request_in(way.language)
    with override(way.language):
        way.keep("400", errors.bad_request(asked, BadRequest()))
        way.keep("413", errors.bad_request(asked, RequestDataTooBig()))
        way.keep("403", defaults.permission_denied(asked, PermissionDenied()))
        way.keep("403, cookies", csrf_failure(asked))
        asked.COOKIES[settings.CSRF_COOKIE_NAME] = "of another log-in"
        way.keep("403, form", csrf_failure(asked))
        way.keep("500", defaults.server_error(asked))
        way.keep("503", unavailable_response(asked))
        way.keep("503, with typing", unavailable_response(sent_in(way.language)))


def request_in(language: str) -> HttpRequest:
    asked = RequestFactory().get(f"/{language}/")
    asked.LANGUAGE_CODE = language
    return asked


def sent_in(language: str) -> HttpRequest:
    """A form whose typing was read before something went wrong."""
    asked = RequestFactory().post(f"/{language}/dish/", {**TYPED, "proof": "x"})
    asked.LANGUAGE_CODE = language
    assert asked.POST
    return asked
