"""A dish that has everything is withdrawn: afterwards its words are found in no row and no file."""

import json
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.files.storage import default_storage
from django.db import connection
from django.db.models import Model
from django.utils import timezone

from collection.access import return_codes
from collection.dishes.curation import decide_dishes, decide_photos
from collection.dishes.write import set_places
from collection.models import AboutYou, Contributor, Dish, Photo, PhotoLink, Report, Submission, Withdrawal
from collection.photos import chunked_upload
from collection.withdrawal import erase
from collection.withdrawal.withdraw import restore_withdrawn_dish, withdraw_dish
from evaluation.contracts.study import Result
from evaluation.models import EarlierOutcome, Embedding, GeneratedImage, Outcome, StoredTable, Subject, Unit
from evaluation.runner import count_units_by_state, create_run, import_run, process_run
from evaluation.runner.catalogue import subject_data
from evaluation.runner.leases import finish_units, lease_units
from evaluation.runner.loop import sweep_runs
from evaluation.subjects import subject_for
from evaluation.tables import compute, read
from evaluation.tables.outcomes import iterate_outcomes
from evaluation.tables.scrubbing import own_words, scrub_tables
from review import signed_links
from review.assignment import reserve_image
from review.campaigns.service import prepare_campaign_images
from review.models import Assignment, Campaign, CampaignImage, ContentTag, Review, ReviewChange
from tests.collection.make import (
    CONSENT,
    TICKS,
    make_contributor,
    make_dish,
    make_photo_bytes,
    make_steward,
    open_collection,
    page,
    stranger,
    tokens,
    upload,
)
from tests.evaluation.make import make_image, make_model, plan, vector_result
from tests.review.make import make_campaign, make_country, make_reviewer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.embedded]
WORD = "Zorblatu"
# Words of more than one dish: their vector stays.
SHARED = "a bowl of soup"
FINAL = ("done", "refused", "filtered", "empty")
ARABIC = "زوربلاتو"
NAME = f"{WORD} {ARABIC}"
FREE_TEXT_FIELDS = {
    "local_name": NAME,
    "languages": f"{WORD}ish",
    "places": "Nigeria",
    "places_more": f"{WORD}land",
    "ingredients": f"rice, {WORD} root",
}
MORE = {"english_name": f"{WORD} stew", "regions": f"{WORD} hills", "recipe": f"{WORD} recipe", "drink": WORD}


@pytest.fixture(autouse=True)
def opened(transactional_db: None) -> None:
    open_collection()


def tell_all() -> tuple[Dish, str]:
    """The whole journey on one phone: dish, more, correction, photo, about oneself. Returns the return code too."""
    consent = stranger().get("/describe/").content.decode()
    form = page(stranger(), "/describe/", {**CONSENT, "proof": tokens(consent)["/describe/"]})
    more = page(stranger(), "/dish/", {**FREE_TEXT_FIELDS, "proof": tokens(form)["/dish/"]})
    photo = page(stranger(), "/more/", {**MORE, "proof": tokens(more)["/more/"]})
    page(stranger(), "/more/", {**MORE, "drink": f"other {WORD}", "proof": tokens(more)["/more/"]})
    caption = page(stranger(), "/photo/", {"proof": tokens(photo)["/photo/"], "photo": upload(make_photo_bytes())})
    thanks = page(
        stranger(), "/caption/", {**TICKS, "caption": f"A bowl of {WORD}", "proof": tokens(caption)["/caption/"]}
    )
    about = {"alias": f"{WORD} cook", "name": WORD, "nationalities": f"{WORD}land", "agree": "on"}
    page(stranger(), "/about/", {**about, "proof": tokens(thanks)["/about/"]})
    dish = Dish.objects.get(local_name=NAME)
    PhotoLink.objects.create(dish=dish, url=f"https://example.org/{WORD}", caption=WORD)
    Report.objects.create(dish=dish, reason="wrong", words=f"{WORD} is wrong")
    chunked_upload.store_photo_part(dish, chunked_upload.Part("a" * 64, 0, WORD.encode()))
    return dish, thanks.partition('<span class="code big">')[2].partition("<")[0]


def accept(dish: Dish) -> None:
    steward = make_steward()
    decide_dishes(Dish.objects.filter(pk=dish.pk), Dish.State.ACCEPTED, steward)
    decide_photos(Photo.objects.filter(dish=dish), Photo.State.ACCEPTED)
    dish.refresh_from_db()
    kind = ContentType.objects.get_for_model(Dish)
    LogEntry.objects.create(
        user=steward, content_type=kind, object_id=str(dish.pk), object_repr=str(dish), action_flag=CHANGE
    )


def generate(dish: Dish) -> list[GeneratedImage]:
    """Images of all accepted dishes; those of `dish` are returned."""
    run = create_run("generation", {"model": "sketch", "images_per_subject": 2}, slug="drawn")
    process_run(run.pk, "worker")
    GeneratedImage.objects.filter(subject__dish=dish).update(prompt_revised=f"A revised {WORD}")
    return list(GeneratedImage.objects.filter(subject__dish=dish).order_by("pk"))


def embed_and_ask(dish: Dish, images: list[GeneratedImage]) -> None:
    """Vectors of the images and of the name, an answer in words, one that failed."""
    model, subject = make_model("encoder", role="encoder"), subject_data(subject_for(dish))
    given = [
        (plan(f"text of {WORD}", model, subject, text=NAME), vector_result(f"text of {WORD}", 1, 2, text=NAME)),
        (
            plan("ask", model, subject, question=f"What is {WORD}?"),
            Result("ask", text=f"{WORD}: soup"),
        ),
        (plan("fail", model, subject, question=NAME), Result("fail", "failed", reason=f"{WORD} unknown")),
    ]
    for image in images:
        key = f"image:{image.pk}"
        given.append((plan(key, model, subject, image=image.pk), vector_result(key, 1, 2, image_id=image.pk)))
    import_run("association", "elsewhere", {}, given)


def review(images: list[GeneratedImage]) -> Campaign:
    """A campaign in which each image is judged once, in one's own words, and corrected."""
    make_country()
    campaign = make_campaign(images=0)
    prepare_campaign_images(campaign, images)
    reviewer = make_reviewer(campaign)
    for shown in CampaignImage.objects.filter(image__in=images):
        row = Review.objects.create(reviewer=reviewer, image=shown, food=True, answers={"words": f"not {WORD}"})
        ReviewChange.objects.create(review=row, before={"words": f"perhaps {WORD}"})
        Assignment.objects.create(reviewer=reviewer, image=shown, until=timezone.now(), state=Assignment.State.ANSWERED)
        ContentTag.objects.create(image=shown, kind=ContentTag.Kind.values[0])
    return campaign


def units_in_every_state(dish: Dish) -> None:
    """Units about the dish in every state, tried before, and a vector of words that a unit of another dish uses too."""
    model, subject = make_model("asked", role="chat"), subject_data(subject_for(dish))
    other = subject_data(subject_for(make_dish("Soup")))
    states: list[str] = [*FINAL, "failed"]
    given = [
        (plan(state, model, subject, question=f"{WORD} {state}?"), Result(state, state, text=WORD, reason=WORD))  # type: ignore[arg-type]
        for state in states
    ]
    encoder = make_model("encoder", role="encoder")
    for name, whose in (("shared", subject), ("theirs", other)):
        given.append((plan(name, encoder, whose, text=SHARED), vector_result(name, 3, 4, text=SHARED)))
    run, _new = import_run("association", "every-state", {}, given)
    for number, unit in enumerate(Unit.objects.filter(run=run, key__in=FINAL), 1):
        tried = {"number": number, "state": unit.state, "text": f"{WORD} before", "reason": WORD}
        EarlierOutcome.objects.create(unit=unit, created_at=timezone.now(), **tried)
    waiting = {"run": run, "subject_id": subject.id, "model_id": model.id, "affinity": WORD}
    for state in (Unit.State.PENDING, Unit.State.LEASED):
        Unit.objects.create(key=f"{WORD} {state}", payload={"question": WORD}, state=state, **waiting)


def store_tables() -> None:
    for name, filters in (("generation.counts", {}), ("generation.counts", {"country": f"{WORD}land"})):
        compute.compute_and_store(name, filters)
    compute.compute_and_store("review.quality", {})


def dump() -> str:
    """All rows of the database as text."""
    if connection.vendor == "sqlite":
        return "\n".join(connection.connection.iterdump())
    place = connection.settings_dict
    address = f"postgres://{place['USER']}:{place['PASSWORD']}@{place['HOST']}:{place['PORT'] or 5432}/{place['NAME']}"
    done = subprocess.run(["pg_dump", "--inserts", address], capture_output=True, check=True)
    return done.stdout.decode()


def spellings() -> Iterator[str]:
    """The planted words as rows may hold them: plain, in JSON, as bytes, each in small letters."""
    for word in (WORD, ARABIC):
        yield from (word.lower(), json.dumps(word).strip('"').lower(), word.encode().hex())


def found_in_rows() -> list[str]:
    lines = dump().lower().splitlines()
    return [line[:200] for line in lines if any(word in line for word in spellings())]


def files() -> dict[str, bytes]:
    root = Path(default_storage.path(""))
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def a_week_later() -> None:
    Withdrawal.objects.update(erase_after=timezone.now() - timedelta(seconds=1))
    assert erase.erase_due()["dishes"] == 1


@pytest.fixture
def whole() -> tuple[Dish, str]:
    """A dish that has everything, and its return code."""
    dish, code = tell_all()
    accept(dish)
    images = generate(dish)
    embed_and_ask(dish, images)
    units_in_every_state(dish)
    review(images)
    store_tables()
    assert StoredTable.objects.filter(content__icontains=f"{WORD}land").exists()
    return dish, code


def test_planted_words_are_in_no_row_and_no_file_after_the_undo_period(whole: tuple[Dish, str]) -> None:
    dish, code = whole
    before = len(found_in_rows())
    assert before > 20 and len(files()) > 5
    opened = page(stranger(), "/return/", {"code": code.translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"))})
    form = {"proof": tokens(opened)["/return/dishes/"], "sure": "1"}
    page(stranger(), "/return/dishes/", {**form, "withdraw": str(dish.pk)})
    page(stranger(), "/return/dishes/", {**form, "details": "1"})
    a_week_later()
    assert found_in_rows() == []
    assert files() == {}
    counted = (Dish, Submission, GeneratedImage, CampaignImage, Review, Outcome, Unit)
    assert {rows.objects.count() > 0 for rows in counted} == {True}


def models_with_a_way_to_a_dish() -> set[type[Model]]:
    """Dish, and every model of ours whose foreign keys lead to one, over any number of steps."""
    found: set[type[Model]] = set()
    ahead: list[type[Model]] = [Dish]
    while ahead:
        found.add(model := ahead.pop())
        near = {relation.related_model for relation in model._meta.related_objects}
        ahead += [other for other in near if isinstance(other, type) and other not in found]
    return {model for model in found if model._meta.app_label in ("collection", "evaluation", "review")}


def test_the_world_has_a_row_of_every_model_with_a_way_to_a_dish(whole: tuple[Dish, str]) -> None:
    empty = {model for model in models_with_a_way_to_a_dish() if not model._default_manager.exists()}
    assert empty == {Withdrawal}
    withdraw_dish(whole[0], Withdrawal.Reason.OWN)
    states = set(Unit.objects.filter(subject__dish=whole[0]).values_list("state", flat=True))
    assert states == {*Unit.State.values} - {"pending"}


def test_words_of_a_vector_stay_where_another_dish_uses_them(whole: tuple[Dish, str]) -> None:
    withdraw_dish(whole[0], Withdrawal.Reason.OWN)
    a_week_later()
    kept = Embedding.objects.get(text=SHARED)
    assert list(Outcome.objects.filter(embedding=kept).values_list("unit__key", flat=True)) != []
    assert Outcome.objects.get(unit__key="theirs").embedding == kept


def test_a_worker_that_held_units_of_an_erased_dish_stores_nothing_of_them(whole: tuple[Dish, str]) -> None:
    dish, _code = whole
    make_dish("Stew", state=Dish.State.ACCEPTED)
    run = create_run("generation", {"model": "sketch", "images_per_subject": 1}, slug="held")
    batch = lease_units(run, "worker", 10)
    assert batch
    held = list(Unit.objects.filter(batch=batch).select_related("subject", "model"))
    mine = {unit.pk for unit in held if unit.subject and unit.subject.dish_id == dish.pk}
    assert mine and len(held) > len(mine)
    results = [(unit, Result(unit.key, text=f"{WORD} in time", reason=WORD)) for unit in held]
    withdraw_dish(dish, Withdrawal.Reason.OWN)
    a_week_later()
    finish_units(batch, results)
    assert not Outcome.objects.filter(unit__in=mine).exists()
    assert set(Unit.objects.filter(pk__in=mine).values_list("state", flat=True)) == {Unit.State.FAILED}
    assert Outcome.objects.filter(unit__in={unit.pk for unit in held} - mine).exists()


def test_everything_of_a_person_goes_with_their_dish(whole: tuple[Dish, str]) -> None:
    opened = page(stranger(), "/return/", {"code": whole[1]})
    form = {"proof": tokens(opened)["/return/dishes/"], "sure": "1", "everything": "1"}
    page(stranger(), "/return/dishes/", form)
    a_week_later()
    assert found_in_rows() == [] and Contributor.objects.count() == 0 and not return_codes.ReturnCode.objects.exists()


def test_images_stay_where_another_contributor_described_the_same_dish(whole: tuple[Dish, str]) -> None:
    dish, _code = whole
    other = make_dish("Soup", contributor=make_contributor(), state=Dish.State.ACCEPTED)
    Dish.objects.filter(pk=other.pk).update(merged_into=dish)
    withdraw_dish(dish, Withdrawal.Reason.OWN)
    a_week_later()
    Contributor.objects.update(alias="", alias_key=None)
    AboutYou.objects.all().delete()
    assert found_in_rows() == []
    images = GeneratedImage.objects.all()
    assert {image.subject.dish for image in images} == {other} and all(image.sha256 for image in images)
    assert set(CampaignImage.objects.values_list("dish_name", flat=True)) == {"Soup"}
    assert {f"images/{image.sha256[:2]}/{image.sha256[2:4]}/{image.sha256}" for image in images} <= set(files())


def test_prompts_stay_where_both_contributors_gave_the_dish_one_name() -> None:
    dish, other = (make_dish("Soup", contributor=make_contributor(), state=Dish.State.ACCEPTED) for _ in range(2))
    image = make_image(subject_data(subject_for(dish)), make_model(), prompt_sent="A photo of Soup")
    Dish.objects.filter(pk=other.pk).update(merged_into=dish)
    withdraw_dish(dish, Withdrawal.Reason.OWN)
    a_week_later()
    image.refresh_from_db()
    assert (image.prompt_sent, image.subject.dish) == ("A photo of Soup", other)


def test_withdrawn_dish_leaves_new_tables_at_once_and_they_say_how_many_left(whole: tuple[Dish, str]) -> None:
    dish, _code = whole
    stored = read.read_stored_table("generation.counts", {})
    assert stored.state == "fresh" and stored.table is not None and stored.table.rows
    withdraw_dish(dish, Withdrawal.Reason.OWN)
    assert read.read_stored_table("generation.counts", {}).state == "stale"
    made = compute.compute_and_store("generation.counts", {}).table
    assert made is not None and made.rows == ()
    assert "Dishes left out because they were withdrawn: 1." in made.notes
    reviewed = compute.compute_and_store("review.quality", {}).table
    assert reviewed is not None and reviewed.rows == ()


def test_images_of_a_withdrawn_dish_are_taken_from_reviewers_and_come_back_with_undo(
    whole: tuple[Dish, str],
) -> None:
    campaign = Campaign.objects.get()
    reviewer = make_reviewer(campaign)
    held = reserve_image(reviewer)
    assert held is not None
    address = signed_links.image_address(held.image)
    assert stranger().get(address).status_code == 200
    known = withdraw_dish(whole[0], Withdrawal.Reason.OWN)
    assert reserve_image(reviewer) is None and stranger().get(address).status_code == 404
    restore_withdrawn_dish(known)
    assert reserve_image(reviewer) is not None and stranger().get(address).status_code == 200


def test_units_that_wait_stop_at_once_and_wait_again_after_undo(whole: tuple[Dish, str]) -> None:
    dish, _code = whole
    run = create_run("generation", {"model": "sketch", "images_per_subject": 3}, slug="waiting")
    known = withdraw_dish(dish, Withdrawal.Reason.OWN)
    assert process_run(run.pk, "worker") == 0 and count_units_by_state(run)["failed"] == 3
    sweep_runs()
    restore_withdrawn_dish(known)
    assert count_units_by_state(run)["pending"] == 3 and process_run(run.pk, "worker") == 3
    assert len(list(iterate_outcomes(run))) == 3


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{WORD}land, sketch: 3", "withdrawn, sketch: 3"),
        (f"{WORD}lander", f"{WORD}lander"),
        (NAME, "withdrawn"),
        ("Nigeria", "Nigeria"),
        (["model", {"country": f"{WORD}land"}], ["model", {"country": "withdrawn"}]),
    ],
)
def test_only_whole_words_that_nobody_else_has_leave_stored_tables(text: object, left: object) -> None:
    make_country()
    dish = make_dish(NAME, country="Nigeria", contributor=make_contributor())
    set_places(dish, ["Nigeria", f"{WORD}land"])
    content = {"columns": [WORD], "rows": [], "notes": [text]}
    row = StoredTable.objects.create(name="t", version="1", filters_hash="x", fingerprint="y", content=content)
    scrub_tables(dish)
    row.refresh_from_db()
    assert row.content == {**content, "notes": [left]}


def test_words_that_another_dish_has_stay_in_stored_tables() -> None:
    dish, other = make_dish(NAME), make_dish(NAME)
    assert own_words(dish) == set()
    withdraw_dish(other, Withdrawal.Reason.OWN)
    assert own_words(dish) == {NAME}


def test_erasing_one_dish_leaves_every_other_row_alone(whole: tuple[Dish, str]) -> None:
    other = make_dish("Soup", contributor=make_contributor(), state=Dish.State.ACCEPTED, more_details="Warm.")
    subject_for(other)
    vectors = Embedding.objects.filter(image=None).exclude(text=NAME).count()
    withdraw_dish(whole[0], Withdrawal.Reason.OWN)
    a_week_later()
    other.refresh_from_db()
    assert (other.local_name, other.more_details, other.places.get().name) == ("Soup", "Warm.", "Senegal")
    assert Subject.objects.get(dish=other).name == "Soup"
    assert Embedding.objects.filter(image=None).count() == vectors
