"""Pages of images: who may see what, what is shown where there is no image, hostile addresses."""

import csv
import io
import zipfile
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.test import Client
from django.utils.http import urlencode

from collection.models import ConsentText, Photo
from evaluation import content_store, runner
from evaluation.contracts.study import Result, UnitPlan
from evaluation.drilldown import studies
from evaluation.images import archive
from evaluation.images.machine_scores import collect_machine_scores, words_of
from evaluation.ingest.photographs import image_of
from evaluation.metrics.tidy import Estimate, TidyRow
from evaluation.models import GeneratedImage, ImageDownload, Model, Run, StoredTable, Subject
from evaluation.presentation.images import SEE, rows_for
from evaluation.runner import purging
from evaluation.runner.catalogue import subject_data
from evaluation.runner.importing import import_run
from evaluation.tables import compute
from evaluation.views.gallery import group_gallery_shelves
from tests.collection.make import make_contributor
from tests.evaluation.drilldown import check
from tests.evaluation.make import make_dish, make_image, make_model, make_subject
from tests.evaluation.make_tables import image_result, make_association, make_place_in, make_staff
from tests.review.make import make_image_bytes

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
TAKE = "evaluation.add_imagedownload"
LISTS = ("pictures.csv", "pictures.spreadsheet.csv", "pictures.jsonl")
TABLES = "/admin/evaluation/tables/"


def signed_in(*permissions: str, name: str = "researcher") -> Client:
    person = make_staff(name=name)
    for permission in permissions:
        app, codename = permission.split(".")
        person.user_permissions.add(Permission.objects.get(content_type__app_label=app, codename=codename))
    client = Client()
    client.force_login(person)
    return client


def held(name: str = "Waakye", model: str = "painter", **values: Any) -> GeneratedImage:
    """An image whose file is here."""
    given = {"sha256": content_store.store_content(make_image_bytes()), "media_type": "image/png", "seed": 7, **values}
    return make_image(make_subject(name), make_model(model), **given)


def scores(images: int = 12) -> str:
    """A stored table of association; the query of its first cell."""
    place = make_place_in("Africa")
    make_association(*(image_result(place, "painter", 1, number) for number in range(images)))
    compute.compute_and_store("association.scores", {})
    return "?" + urlencode({"cell.group": "taste", "cell.continent": "Africa", "cell.model": "painter"})


def pages() -> list[str]:
    image, query = held(), scores()
    compute.compute_and_store("association.top", {})
    return [
        f"/admin/evaluation/images/{image.pk}/",
        f"/admin/evaluation/subjects/{image.subject_id}/images/",
        f"{TABLES}association.scores/drilldown/{query}",
        f"{TABLES}association.top/gallery/",
    ]


def test_owner_stranger_signed_out_and_wrong_method() -> None:
    researcher, stranger = signed_in(), Client()
    stranger.force_login(make_staff(may_see_tables=False, name="stranger"))
    for page in pages():
        assert researcher.get(page).status_code == 200, page
        assert Client().get(page).headers["Location"].startswith("/admin/login/"), page
        assert stranger.get(page).status_code == 403, page
        assert researcher.post(page).status_code == 405, page


def test_contents_are_for_those_who_may_see_images() -> None:
    address = f"/admin/evaluation/images/{held().pk}/small.jpg"
    assert Client().get(address).status_code == 302
    assert signed_in().get(address).status_code == 403
    seen = signed_in(SEE, name="seer").get(address)
    assert seen.status_code == 200
    assert "no-store" in seen.headers["Cache-Control"]
    assert signed_in(SEE, name="other").get(address.replace("small", "huge")).status_code == 404


def test_who_may_not_see_images_is_told_so_and_gets_no_address() -> None:
    image = held()
    page = signed_in().get(f"/admin/evaluation/images/{image.pk}/?show=all").content.decode()
    assert "Your account may not see images" in page
    assert ".jpg" not in page


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"state": "refused", "sha256": ""}, "refused by the provider"),
        ({"state": "filtered", "sha256": ""}, "held back by a safety filter"),
        ({"state": "not_held", "sha256": ""}, "not held"),
        ({"state": "erased", "sha256": ""}, "erased"),
        ({"sha256": ""}, "not held"),
        ({"sha256": "0" * 64}, "The file of the image is missing"),
    ],
)
def test_what_is_no_image_says_what_it_is_and_is_never_a_broken_image(values: dict[str, str], words: str) -> None:
    image = held(**values)
    client = signed_in(SEE)
    page = client.get(f"/admin/evaluation/images/{image.pk}/?show=all").content.decode()
    assert words in page
    assert "<img" not in page
    assert client.get(f"/admin/evaluation/images/{image.pk}/small.jpg").status_code == 404


def test_a_damaged_file_says_so() -> None:
    image = held(sha256=content_store.store_content(b"no image at all"))
    page = signed_in(SEE).get(f"/admin/evaluation/images/{image.pk}/?show={image.pk}").content.decode()
    assert "missing in the storage" in page and "<img" not in page


def test_prompt_as_sent_and_as_rewritten_stand_beside_the_image() -> None:
    image = held(prompt_sent="A photo of Waakye", prompt_revised="A <b>warm</b> photo")
    page = signed_in().get(f"/admin/evaluation/images/{image.pk}/").content.decode()
    assert "A photo of Waakye" in page and "A &lt;b&gt;warm&lt;/b&gt; photo" in page and "seed 7" in page


HOSTILE = [
    "",
    "?cell.group=taste",
    "?cell.group=taste&cell.continent=Africa&cell.model=nobody",
    "?cell.group=taste&cell.continent=Africa&cell.model=painter&cell.colour=red",
    "?cell.group=taste&cell.continent=Africa&cell.model=painter&metric=beauty",
    "?cell.group=taste&cell.continent=Africa&cell.model=" + "x" * 5000,
    "?cell.group=taste&cell.continent=Africa&cell.model=%00",
    "?cell.group=taste&cell.continent=Africa'+OR+1%3D1+--&cell.model=painter",
    "?cell.group=taste&cell.continent=Africa&cell.model=painter&after=1%3B+DROP",
    "?cell.group=taste&cell.continent=Africa&cell.model=painter&after=99999999999999999999999",
    "?cell.group=taste&cell.continent=Africa&cell.model=painter&nothing=1",
    "?cell.%3Cscript%3E=1",
]


def test_addresses_that_name_no_cell_are_not_found_and_say_why() -> None:
    query, client = scores(), signed_in()
    assert client.get(f"{TABLES}association.scores/drilldown/{query}&show=%3Cb%3E&show={'9' * 300}").status_code == 200
    for hostile in HOSTILE:
        response = client.get(f"{TABLES}association.scores/drilldown/{hostile}")
        assert response.status_code == 404, hostile
        assert "<script>=" not in response.content.decode()
    assert "Did you mean association.scores" in client.get(f"{TABLES}association.score/drilldown/").content.decode()
    assert client.get("/admin/evaluation/images/987654/").status_code == 404
    assert client.get("/admin/evaluation/subjects/987654/images/").status_code == 404


def test_a_table_that_is_not_computed_yet_says_so() -> None:
    query = scores()
    response = signed_in().get(f"{TABLES}association.scores/drilldown/{query}&run=vectors")
    assert response.status_code == 200
    assert "being computed" in response.content.decode()


def test_pages_follow_each_other_and_hold_each_image_once() -> None:
    page, client, seen = f"{TABLES}association.scores/drilldown/{scores(30)}", signed_in(), []
    while page:
        text = client.get(page).content.decode()
        seen += [part.partition('"')[0] for part in text.split('<li id="p')[1:]]
        following = [part.partition('"')[0] for part in text.split('href="?') if "after=" in part.partition('"')[0]]
        page = f"{TABLES}association.scores/drilldown/?{following[-1].replace('&amp;', '&')}" if following else ""
    assert len(seen) == len(set(seen)) == 30


def test_the_fifty_nearest_images_stand_behind_a_share() -> None:
    places = [make_place_in("Africa"), make_place_in("Asia")]
    make_association(*(image_result(places[number % 3 == 0], "painter", 60 - number, number) for number in range(60)))
    view = compute.compute_and_store("association.descriptors", {})
    assert check(view) == 2


def asked(image: GeneratedImage, question: str, shift: int, said: str, **values: Any) -> tuple[UnitPlan, Result]:
    """A question about an image, and what was answered; probabilities with `numbers`."""
    reading = "logits" if "numbers" in values else "generated"
    key = f"image:{image.pk}:{question}:{shift}:{reading}"
    payload = {"image": image.pk, "question": question, "options": ["Yes", "No"], "shift": shift, "reading": reading}
    model = make_model("answerer", role="vqa", backend="standin")
    return UnitPlan(key, model, subject_data(image.subject), payload, key), Result(key, text=said, **values)


def test_answers_that_could_not_be_read_are_listed_with_the_reason() -> None:
    subject = make_subject()
    turned, unread, chances = (make_image(subject, make_model()) for _ in range(3))
    given = [
        *(asked(turned, "table", shift, "A") for shift in (0, 1)),
        asked(unread, "table", 0, "Who knows"),
        asked(chances, "table", 0, "", numbers={"0": 0.9, "1": 0.1}),
        asked(chances, "table", 0, "Who knows"),
    ]
    import_run("stereotypes", "asked", {"images": "test"}, given)
    for name in ("answers", "flattening", "readings"):
        assert check(compute.compute_and_store(f"stereotypes.{name}", {}))
    query = "?" + urlencode({"cell.question": "table", "cell.continent": "Africa", "cell.model": "painter"})
    client = signed_in()
    assert "no answer could be read (no answer)" in client.get(f"{TABLES}stereotypes.flattening/drilldown/{query}").text
    query += "&cell.option=Yes&metric=order_changes"
    page = client.get(f"{TABLES}stereotypes.answers/drilldown/{query}").text
    assert "only one order of the options was read" in page and "counted: yes" in page
    page = client.get(f"{TABLES}stereotypes.readings/drilldown/?cell.question=table&metric=agreement_read").text
    assert "the words could not be read" in page
    assert "not read: no answer" in client.get(f"/admin/evaluation/images/{unread.pk}/").text


def test_what_failed_is_told_beside_its_image() -> None:
    place = make_place_in("Africa")
    lost = image_result(place, "painter", failed=True)
    make_association(image_result(place, "painter", 1, 0), lost)
    image = GeneratedImage.objects.get(pk=lost[0].payload["image"])
    key = f"image:{image.pk}"
    pixels = make_model("pixels", role="pixels", backend="pixels")
    unit = UnitPlan(key, pixels, place, {"image": image.pk}, key)
    import_run("colours", "colours", {"images": "test"}, [(unit, Result(key, "failed", reason="The file is gone."))])
    page = signed_in().get(f"/admin/evaluation/images/{image.pk}/").text
    assert "The file could not be read." in page and "The file is gone." in page
    assert check(compute.compute_and_store("association.scores", {}))
    query = "?" + urlencode({"cell.group": "taste", "cell.continent": "Africa", "cell.model": "painter"})
    assert "it has no vector" in signed_in(name="b").get(f"{TABLES}association.scores/drilldown/{query}").text


def test_an_image_whose_score_is_about_another_one_or_has_no_words_shows_none() -> None:
    place = make_place_in("Africa")
    (plan, _), (other, vector) = (image_result(place, "painter", 1, 0) for _ in range(2))
    given = [(plan, replace(vector, key=plan.key)), (replace(other, key="other"), replace(vector, key="other"))]
    import_run("association", "wordless", {"images": "test"}, given)
    images = GeneratedImage.objects.filter(pk__in=[each.payload["image"] for each in (plan, other)]).order_by("pk")
    assert collect_machine_scores([images[0]]) == collect_machine_scores(list(images)) == {}


def test_images_without_a_subject_are_no_words_of_a_run() -> None:
    plan, result = image_result(make_place_in("Africa"), "painter", 1, 0)
    run = make_association((replace(plan, subject=None), result))
    assert len(words_of([run])[run.pk]) == 2


def test_a_table_whose_run_is_gone_lists_nothing_and_says_so() -> None:
    query = scores()
    purging.purge_run(Run.objects.get())
    page = signed_in().get(f"{TABLES}association.scores/drilldown/{query}").text
    assert "There is no finished run of it." in page


def test_numbers_about_no_group_of_images_list_none() -> None:
    held()
    compute.compute_and_store("overview.totals", {})
    page = signed_in().get(f"{TABLES}overview.totals/drilldown/?cell.what=dishes").text
    assert "This number is no mean over single images" in page
    assert '<li id="p' not in page


@pytest.mark.parametrize("few", [0, 1000])
def test_the_images_of_a_group_are_those_of_its_subjects(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Alike for many subjects with a label as for few."""
    monkeypatch.setattr(studies, "FEW", few)
    africa, asia = make_place_in("Africa"), make_place_in("Asia")
    make_association(*(image_result(place, "painter", 1, 0) for place in (africa, asia)))
    found = studies.with_label(GeneratedImage.objects.all(), "continent", "Africa")
    assert [image.subject_id for image in found] == [africa.id]


def test_galleries_show_both_ends_with_their_numbers() -> None:
    scores()
    compute.compute_and_store("association.top", {})
    page = signed_in(SEE).get(f"{TABLES}association.top/gallery/?of=taste").content.decode()
    assert page.index("<h3>top</h3>") < page.index("<h3>bottom</h3>")
    assert "evaluation only" in page and "net 1.000" in page and "<img" not in page
    assert signed_in(name="b").get(f"{TABLES}association.scores/gallery/").status_code == 404


def test_a_gallery_that_was_never_computed_is_asked_for() -> None:
    scores()
    page = signed_in().get(f"{TABLES}association.top/gallery/")
    assert page.status_code == 200
    assert StoredTable.objects.get(name="association.top").wanted_at is not None


def test_a_number_that_was_not_measured_stands_at_no_image() -> None:
    image = held()
    row = rows_for([image.pk], User.objects.create_superuser("chief"))[0]
    rows = [
        TidyRow({"model": "painter", "end": "top", "picture": str(image.pk)}, name, Estimate(value, 1, 1))
        for name, value in (("net", 0.5), ("as_printed", None))
    ]
    [shelf] = group_gallery_shelves(("model", "end", "picture"), rows, {image.pk: row})
    assert (shelf.group, shelf.ends) == (("painter",), {"top": [(row, "net 0.500")]})


def test_samples_stand_in_their_order() -> None:
    first = held(seed=None, sample=1)
    for sample in (0, 2):
        GeneratedImage.objects.create(
            subject_id=first.subject_id, model_id=first.model_id, sample=sample, source_key=f"k{sample}"
        )
    page = signed_in(SEE).get(f"/admin/evaluation/subjects/{first.subject_id}/images/").text
    assert page.index("sample 0") < page.index("sample 1") < page.index("sample 2")


def test_one_subject_stands_across_models_and_seeds() -> None:
    first = held(seed=1)
    subject = Subject.objects.get(pk=first.subject_id)
    for model, seed in (("painter", 2), ("sculptor", 1)):
        Model.objects.get_or_create(slug=model, defaults={"title": model, "role": "image_generator"})
        maker = Model.objects.get(slug=model)
        GeneratedImage.objects.create(subject=subject, model=maker, seed=seed, source_key=f"k{model}{seed}")
    page = signed_in(SEE).get(f"/admin/evaluation/subjects/{subject.pk}/images/").content.decode()
    assert page.index("seed 1") < page.index("seed 2")
    assert page.count('<th scope="row">') == 2
    assert "There is none that may be shown" in page


def shared_photo(licence: str = "CC BY 4.0", state: str = Photo.State.ACCEPTED) -> Photo:
    """A contributor's photo under a consent with this licence of photos, empty for none."""
    dish = make_dish("Kenkey", contributor=make_contributor())
    assert dish.contributor
    ConsentText.objects.filter(contributor=dish.contributor).update(licence_photos=licence)
    confirmed = dict.fromkeys(("taken_by_me", "may_be_shared", "no_people", "is_photograph"), True)
    file = default_storage.save("photos/kenkey", ContentFile(make_image_bytes(kind="JPEG")))
    names = {"file": file, "thumbnail": "photos/kenkey-small.jpg"}
    return Photo.objects.create(dish=dish, width=96, height=64, state=state, **names, **confirmed)


@pytest.mark.parametrize(
    ("licence", "state", "there"),
    [("CC BY 4.0", "accepted", True), ("", "accepted", False), ("CC BY 4.0", "hidden", False)],
)
def test_a_contributors_photo_stands_beside_where_consent_and_moderation_allow_it(
    licence: str, state: str, there: bool
) -> None:
    photo = shared_photo(licence, state)
    subject = image_of(photo).subject
    page = f"/admin/evaluation/subjects/{subject.pk}/images/"
    client = signed_in(SEE)
    assert photo.thumbnail not in client.get(page).content.decode()
    assert (photo.thumbnail in client.get(f"{page}?show=all").content.decode()) == there
    assert photo.thumbnail not in signed_in(name="blind").get(f"{page}?show=all").content.decode()


def test_a_photograph_that_is_no_longer_shared_is_not_shown_as_an_image() -> None:
    photo = shared_photo()
    image = image_of(photo)
    user = User.objects.create_superuser("chief")
    assert rows_for([image.pk], user)[0].why == ""
    Photo.objects.filter(pk=photo.pk).update(state=Photo.State.HIDDEN)
    assert "not shared any more" in rows_for([image.pk], user)[0].why


def test_a_photograph_from_a_folder_is_nobodys_photo_here() -> None:
    image = held(model=make_model("real", role="camera").slug)
    assert rows_for([image.pk], User.objects.create_superuser("chief"))[0].why == ""


def test_images_are_taken_away_after_the_terms_and_with_a_log() -> None:
    image, client = held(), signed_in(SEE, TAKE)
    address = f"/admin/evaluation/images/{image.pk}/take/"
    asked = client.get(address).content.decode()
    assert "not for training" in asked and "csrfmiddlewaretoken" in asked
    assert client.post(address).status_code == 422
    assert not ImageDownload.objects.exists()
    taken = client.post(address, {"terms": "1"})
    assert taken.content == make_image_bytes()
    assert ImageDownload.objects.get().number == 1
    assert signed_in(SEE, name="looker").post(address, {"terms": "1"}).status_code == 403
    assert signed_in(TAKE, name="taker").post(address, {"terms": "1"}).status_code == 403
    assert ImageDownload.objects.count() == 1


def test_an_archive_holds_the_images_of_a_cell_the_terms_and_why_others_are_not_there() -> None:
    query, client = scores(4), signed_in(SEE, TAKE)
    there = GeneratedImage.objects.order_by("pk")[0]
    GeneratedImage.objects.filter(pk=there.pk).update(
        sha256=content_store.store_content(make_image_bytes()), media_type="image/png"
    )
    sent = client.post(f"{TABLES}association.scores/drilldown/take/{query}", {"terms": "1"})
    archive = zipfile.ZipFile(io.BytesIO(b"".join(sent.streaming_content)))  # type: ignore[attr-defined]
    assert sorted(archive.namelist()) == sorted([f"picture-{there.pk}.png", "terms.txt", "README.txt", *LISTS])
    rows = list(csv.DictReader(io.StringIO(archive.read("pictures.csv").decode())))
    assert [row["why not"] for row in rows].count("not held: the picture was never given to us") == 3
    assert ImageDownload.objects.get().number == 1
    assert "not for training" in archive.read("terms.txt").decode()


def test_an_image_without_its_file_and_a_cell_without_numbers_are_not_taken_away() -> None:
    client, query = signed_in(SEE, TAKE), scores(1)
    lost = held(sha256="0" * 64)
    assert client.post(f"/admin/evaluation/images/{lost.pk}/take/", {"terms": "1"}).status_code == 404
    StoredTable.objects.all().delete()
    assert client.post(f"{TABLES}association.scores/drilldown/take/{query}", {"terms": "1"}).status_code == 404
    assert not ImageDownload.objects.exists()


def test_a_full_archive_says_so_of_the_images_that_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    images = [held("Waakye"), held("Kenkey")]
    monkeypatch.setattr(archive, "MOST_BYTES", len(make_image_bytes()))
    file, taken = archive.pack_archive(archive.choose_archive_images([image.pk for image in images]))
    file.close()
    assert [(bool(each.file), each.why) for each in taken] == [(True, ""), (False, "The archive was full.")]


def test_the_images_behind_what_was_asked_for_are_taken_away_too() -> None:
    make_dish("Waakye")
    run = runner.create_run("generation", {"model": "sketch", "images_per_subject": 2})
    runner.process_run(run.pk, "tests")
    compute.compute_and_store("generation.counts", {})
    query = "?" + urlencode({"cell.country": "Ghana", "cell.model": "sketch", "metric": "done"})
    sent = signed_in(SEE, TAKE).post(f"{TABLES}generation.counts/drilldown/take/{query}", {"terms": "1"})
    names = zipfile.ZipFile(io.BytesIO(b"".join(sent.streaming_content))).namelist()  # type: ignore[attr-defined]
    assert sum(name.startswith("picture-") for name in names) == ImageDownload.objects.get().number == 2


@pytest.mark.parametrize(
    ("former", "present"),
    [
        ("tables/association.scores/behind/?metric=net", "tables/association.scores/drilldown/?metric=net"),
        ("tables/association.scores/behind/take/", "tables/association.scores/drilldown/take/"),
        ("pictures/7/?show=all", "images/7/?show=all"),
        ("pictures/7/take/", "images/7/take/"),
        ("subjects/7/pictures/", "subjects/7/images/"),
    ],
)
def test_former_addresses_lead_to_the_present_ones(former: str, present: str) -> None:
    response = Client().get(f"/admin/evaluation/{former}")
    assert (response.status_code, response.headers["Location"]) == (301, f"/admin/evaluation/{present}")
