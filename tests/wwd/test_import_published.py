"""`manage.py import_published` on small folders written by hand: bad rows, repetition, dry runs, missing files."""

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from collection.models import Dish, DishCountry, DishLanguage, PhotoLink
from evaluation import runner
from evaluation.contracts.study import ConfigError
from evaluation.models import (
    DescriptorSet,
    Embedding,
    InputCounter,
    Model,
    Outcome,
    PromptTemplate,
    QuestionSet,
    ReferenceList,
    Run,
    Subject,
    Unit,
)
from review.models import Campaign, Review
from tests.wwd.make import make_published, write_answers, write_csv, write_dishes, write_reviews, write_vectors
from wwd.base.packages import list_models
from wwd.exchange.published import dishes, embeddings, knowledge, references, release_form, reviews, source, wordings

pytestmark = pytest.mark.django_db


def run(folder: Path, *options: str) -> tuple[str, str]:
    """What the command printed, and where it failed its last sentence."""
    out, err = StringIO(), StringIO()
    try:
        call_command("import_published", str(folder), *options, stdout=out, stderr=err)
    except CommandError as error:
        err.write(str(error))
    return out.getvalue(), err.getvalue()


def dump() -> dict[str, list[dict[str, Any]]]:
    """Every row of every table of ours."""
    return {model.__name__: list(model._default_manager.order_by("pk").values()) for model in list_models()}


def test_one_good_row_of_everything_is_loaded(tmp_path: Path) -> None:
    out, err = run(make_published(tmp_path))
    assert err == ""
    assert "dishes: 1 added, 0 here already" in out
    assert Dish.objects.get().local_name == "Testsuppe"
    assert Review.objects.get().food is True
    assert Embedding.objects.filter(image=None).count() == 3
    assert Embedding.objects.exclude(image=None).count() == 1
    assert set(Run.objects.filter(imported=True).values_list("slug", flat=True)) == {embeddings.RUN, knowledge.RUN}
    assert Outcome.objects.filter(unit__run__slug=knowledge.RUN).count() == 3 * 5 + 1


def test_second_run_changes_no_row(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    run(folder)
    before = dump()
    with CaptureQueriesContext(
        connection,
    ) as queries:
        out, err = run(folder)
    assert dump() == before
    assert err == ""
    assert "dishes: 0 added, 1 here already" in out
    inserts = [query["sql"] for query in queries if query["sql"].startswith("INSERT")]
    assert inserts == []


def test_second_run_leaves_stored_tables_fresh(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    run(folder)
    before = dict(InputCounter.objects.values_list("name", "value"))
    assert before["reviews"] == before["runs.association"] == 1
    run(folder)
    assert dict(InputCounter.objects.values_list("name", "value")) == before


def test_dry_run_says_what_would_happen_and_writes_nothing(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    before = dump()
    out, err = run(folder, "--dry-run")
    assert dump() == before
    assert err == ""
    assert "nothing was written" in out
    assert "dishes: 1 to be added" in out
    assert "image embeddings: 1 to be added" in out


def test_dry_run_reports_bad_rows_too(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    write_dishes(folder, {}, {"id": "two"})
    _out, err = run(folder, "--dry-run")
    assert f"{dishes.FILE}, line 3: id is not a number: 'two'" in err


def test_a_corrected_dish_is_left_as_it_was_corrected(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    run(folder)
    Dish.objects.update(english_name="Test soup", state=Dish.State.HIDDEN)
    out, _err = run(folder)
    dish = Dish.objects.get()
    assert (dish.english_name, dish.state) == ("Test soup", Dish.State.HIDDEN)
    assert "dishes: 0 added, 0 here already, 1 here with other content and left so" in out


def test_rows_added_to_the_file_are_added_here(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    run(folder)
    write_dishes(folder, {}, {"local_name": "Zweite Suppe"})
    out, _err = run(folder)
    assert "dishes: 1 added, 1 here already" in out
    assert DishCountry.objects.filter(dish__number=2).count() == 1


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"id": ""}, "id is not a number: ''"),
        ({"id": "٣"}, "id is not a number"),
        ({"id": "1"}, "id 1 is twice in the file"),
        ({"local_name": ""}, "local_name: This field cannot be blank."),
        ({"local_name": "n" * 201}, "local_name: Ensure this value has at most 200 characters"),
        ({"ingredients": ""}, "ingredients: This field cannot be blank."),
        ({"countries": " , "}, "countries is empty"),
        ({"countries": "c" * 121}, "name: Ensure this value has at most 120 characters"),
        ({"continent": "Atlantis"}, "continent has values that are not known: Atlantis"),
        ({"language": "German, French"}, "language names 2 languages, language_code 1"),
        ({"language_code": "german"}, "code: Ensure this value has at most 3 characters"),
        ({"time_of_day": "lunch"}, "time_of_day is not a list of texts: lunch"),
        ({"time_of_day": "[1]"}, "time_of_day is not a list of texts"),
        ({"time_of_day": "__import__('os')"}, "time_of_day is not a list of texts"),
        ({"time_of_day": "[" * 5000}, "time_of_day is not a list of texts"),
        ({"time_of_day": "['noon']"}, "time_of_day has values that are not known: noon"),
        ({"type_of_dish": "['Stew']"}, "type_of_dish has values that are not known: Stew"),
        ({"occasions": "never"}, "occasions has a value that is not known: never"),
        ({"drink": "te\0a"}, "drink holds a NUL character"),
    ],
)
def test_a_bad_dish_is_reported_with_its_line_and_the_rest_is_loaded(
    tmp_path: Path, cells: dict[str, str], reason: str
) -> None:
    folder = make_published(tmp_path)
    write_dishes(folder, {"more_details": "two\nlines"}, {**cells}, {"id": "9"})
    _out, err = run(folder)
    assert f"{dishes.FILE}, line 4: {reason}" in err
    assert "1 rows or files could not be loaded, the rest was." in err
    assert set(Dish.objects.values_list("number", flat=True)) == {1, 9}


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"Rater_id": "one"}, "Rater_id is not a whole number: 'one'"),
        ({"Country": ""}, "Country is empty or longer than 80 characters"),
        ({"Dish name": "d" * 81}, "Dish name is empty or longer than 80 characters"),
        ({"Model": "Midjourney"}, "Model is not known: 'Midjourney'"),
        ({"Generation_count": "1.5"}, "Generation_count is not a whole number: '1.5'"),
        ({release_form.COLUMN_OF["food"]: "Maybe"}, "Is this an image of food? has a value that is not known: Maybe"),
        ({release_form.COLUMN_OF["quality"]: "6.0"}, "Please rate quality of the image has a value that is not known"),
        ({"Disturbing": ""}, "Disturbing is neither Yes nor No: ''"),
        ({"Rater_id": "1"}, "this person's judgement of this image is twice in the file"),
    ],
)
def test_a_bad_review_is_reported_with_its_line_and_the_rest_is_loaded(
    tmp_path: Path, cells: dict[str, str], reason: str
) -> None:
    folder = make_published(tmp_path)
    write_reviews(folder, {}, {"Rater_id": "2", **cells}, {"Rater_id": "3"})
    _out, err = run(folder)
    assert f"{reviews.FILE}, line 3: {reason}" in err
    assert {review.reviewer.source_key for review in Review.objects.all()} == {
        f"{reviews.KEY}/Germany/1",
        f"{reviews.KEY}/Germany/3",
    }


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("Europe_01.png,1,x,0", "not a number"),
        ("Europe_01.png,1,nan,0", "a value is not finite"),
        ("Europe_01.png,1,1e39,0", "a value is not finite"),
        ("Europe_01.png,1,0", "has 3 cells, the header has 4"),
        ("Europe_00.png,1,0,0", "Europe_00.png is twice in the file"),
        (",1,0,0", "the name is empty or longer than 120 characters"),
    ],
)
def test_a_bad_vector_is_reported_and_the_rest_is_loaded(tmp_path: Path, line: str, reason: str) -> None:
    folder = make_published(tmp_path)
    file = "clip/continents/Europe/dalle2/image_embeddings.csv"
    with (folder / "wwd" / file).open("a", encoding="utf-8") as lines:
        lines.write(f"{line}\nEurope_02.png,0,0,1\n")
    _out, err = run(folder)
    assert f"{file}, line 3: {reason}" in err
    assert Embedding.objects.exclude(image=None).count() == 2


def test_a_vector_of_another_length_is_reported(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    write_csv(folder / "wwd" / embeddings.WORDS_FILE, ["", "0"], [["A photo of tasty food.", "1"]])
    _out, err = run(folder)
    assert f"{embeddings.WORDS_FILE}, line 2: has 1 values, the other vectors have 3" in err
    assert Embedding.objects.count() == 2


def test_a_word_that_is_no_descriptor_is_reported(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    write_vectors(folder / "wwd" / embeddings.WORDS_FILE, {"A photo of unheard food.": (1, 0, 0)})
    write_vectors(folder / "wwd" / embeddings.COMPARISON_FILE, {"clean": (1, 0, 0)})
    _out, err = run(folder)
    assert "line 2: A photo of unheard food. is no descriptor of descriptors.json" in err
    assert "line 2: clean is not of the form a photo of {descriptor} food" in err


def test_images_of_an_unknown_continent_or_model_are_reported(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    write_vectors(
        folder / "wwd" / "clip" / "continents" / "Mu" / "dalle2" / embeddings.IMAGE_VECTOR_FILE, {"a": (1, 0, 0)}
    )
    _out, err = run(folder)
    assert "Mu is no continent or dalle2 no model that is known" in err
    assert Embedding.objects.exclude(image=None).count() == 1


def test_a_dish_with_too_few_cells_is_reported(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    with (folder / "wwd" / dishes.FILE).open("a", encoding="utf-8") as file:
        file.write("\n5,only this\n")
    _out, err = run(folder)
    assert f"{dishes.FILE}, line 4: has 2 cells, the header has {len(dishes.COLUMNS)}" in err


def test_a_row_that_is_not_utf8_is_reported(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    write_dishes(folder, {"drink": "tea"}, {})
    path = folder / "wwd" / dishes.FILE
    path.write_bytes(path.read_bytes().replace(b"tea", b"th\xe9"))
    _out, err = run(folder)
    assert f"{dishes.FILE}, line 2: drink is not UTF-8" in err
    assert set(Dish.objects.values_list("number", flat=True)) == {2}


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    path = folder / "wwd" / dishes.FILE
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert run(folder)[1] == ""


def test_a_number_that_another_dish_has_here_is_never_taken(tmp_path: Path) -> None:
    own = Dish.objects.create(number=1, local_name="Eigenes", ingredients="salt")
    _out, err = run(make_published(tmp_path))
    assert f"{dishes.FILE}, line 2: id 1 belongs to another dish here" in err
    assert list(Dish.objects.all()) == [own]
    assert own.places.count() == 0


def test_a_long_address_that_holds_an_image_is_kept_whole(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    address = "data:image/png;base64," + "A" * 200_000
    write_dishes(folder, {"public_cc_image_url": address})
    assert run(folder)[1] == ""
    assert PhotoLink.objects.get().url == address


def test_the_statement_that_no_image_exists_keeps_its_caption(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    write_dishes(folder, {"public_cc_image_url": "No CC Images Available", "public_cc_image_caption": "none yet"})
    run(folder)
    link = PhotoLink.objects.get()
    assert (link.none_exists, link.url, link.caption) == (True, "", "none yet")


def test_kinds_of_one_row_are_merged_and_named_once(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    write_dishes(folder, {"type_of_dish": "['Starter', 'side_dish', 'starter']"})
    run(folder)
    assert Dish.objects.get().kinds == ["starter", "side_dish"]


def test_a_comma_inside_parentheses_does_not_separate_languages(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    write_dishes(folder, {"language": "Kenyang (Nyang, Banyang), Unknown", "language_code": "ken,Unknown"})
    run(folder)
    found = list(DishLanguage.objects.values_list("name", "code"))
    assert found == [("Kenyang (Nyang, Banyang)", "ken"), ("Unknown", "mis")]


def test_own_words_beside_boxes_are_kept_with_their_commas(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    cell = "The utensils are correct, There should be utensils, a spoon, or hands"
    write_reviews(folder, {release_form.COLUMN_OF["utensils"]: cell})
    run(folder)
    answers = Review.objects.get().answers
    assert answers["utensils"] == ["utensils_correct", "utensils_wanted"]
    assert answers["utensils_other"] == "a spoon, or hands"
    assert answers["others"] == []


def test_a_review_names_its_dish_only_where_one_fits_exactly(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    write_dishes(
        folder, {}, {"local_name": "Brei"}, {"local_name": "Brei"}, {"local_name": "Mus", "countries": "Austria"}
    )
    names = ("Testsuppe", "1 : Testsuppe", "2 : Testsuppe", "testsuppe", "Brei", "2 : Brei", "Mus")
    write_reviews(folder, *({"Dish name": name} for name in names))
    run(folder)
    linked = {
        review.image.image.subject.source_key.rpartition("/")[2]: review.image.image.subject.dish
        for review in Review.objects.all()
    }
    assert {name: dish.number if dish else None for name, dish in linked.items()} == {
        "Testsuppe": 1,
        "1 : Testsuppe": 1,
        "2 : Testsuppe": None,
        "testsuppe": None,
        "Brei": None,
        "2 : Brei": 2,
        "Mus": None,
    }


def test_reviews_without_a_generation_never_share_an_image(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    raters = ({"Rater_id": rater, "Generation_count": ""} for rater in "123")
    write_reviews(folder, *raters, {"Rater_id": "4"}, {"Rater_id": "5"})
    run(folder)
    shared = sorted(image.reviews.count() for image in Campaign.objects.get().images.all())
    assert shared == [1, 1, 1, 2]


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        (wordings.QUESTIONS_FILE, '{"questions":\n[}', "line 2: not readable as JSON"),
        (wordings.QUESTIONS_FILE, '{"questions": [{"text": "?"}]}', "line 1: no list of questions"),
        (wordings.QUESTIONS_FILE, "[]", "line 1: no list of questions"),
        (wordings.QUESTIONS_FILE, "[" * 100_000, "line 1: nested too deeply"),
        (wordings.QUESTIONS_FILE, r'{"questions": ["\u0000"]}', "line 1: holds a NUL character"),
        (wordings.QUESTIONS_FILE, r'{"questions": ["\ud800"]}', "line 1: not UTF-8"),
        (wordings.DESCRIPTORS_FILE, '{"descriptors": []}', "line 1: no descriptor groups"),
        (wordings.DESCRIPTORS_FILE, '{"descriptors": [{"taste": {"positive": [1], "negative": []}}]}', "group taste"),
        (wordings.DESCRIPTORS_FILE, '{"descriptors": ["taste"]}', "line 1: no descriptor groups"),
    ],
)
def test_a_file_that_cannot_be_used_leaves_the_others(tmp_path: Path, file: str, content: str, reason: str) -> None:
    folder = make_published(tmp_path)
    (folder / "wwd" / file).write_text(content, encoding="utf-8")
    _out, err = run(folder)
    assert file in err
    assert reason in err
    assert (Dish.objects.count(), Review.objects.count()) == (1, 1)


def test_a_file_without_a_needed_column_is_reported(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    write_csv(folder / "wwd" / dishes.FILE, ["id", "local_name"], [["1", "Suppe"]])
    _out, err = run(folder)
    assert f"{dishes.FILE}, line 1: lacks the columns: language, language_code" in err
    assert Dish.objects.count() == 0
    assert Review.objects.count() == 1


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    _out, err = run(tmp_path / "nowhere")
    assert err == f"{tmp_path / 'nowhere'} holds no folder wwd. Name the folder that holds it."


def test_missing_files_are_all_named_before_anything_is_written(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    (folder / "wwd" / reviews.FILE).unlink()
    (folder / "wwd" / "clip" / "continents" / "Europe" / "dalle2" / embeddings.IMAGE_VECTOR_FILE).unlink()
    before = dump()
    _out, err = run(folder)
    assert err == (f"{folder / 'wwd'} lacks: {reviews.FILE}, clip/continents/*/*/image_embeddings.csv.")
    assert dump() == before


def test_words_keep_their_group_and_sign(tmp_path: Path) -> None:
    run(make_published(tmp_path))
    words = DescriptorSet.objects.get(slug="app-g", version="as published")
    assert words.groups == {"taste": {"positive": ["tasty"], "negative": ["bland"]}}
    compared = DescriptorSet.objects.get(slug="comparison-16", version="as published")
    assert compared.groups == {"comparison": {"none": ["clean"]}}


def test_nothing_is_drawn_where_nobody_watches(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(make_published(tmp_path))
    assert capfd.readouterr() == ("", "")


def test_a_review_that_was_lost_comes_back_alone(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    write_reviews(folder, *({"Rater_id": rater} for rater in "123"))
    run(folder)
    kept = set(Review.objects.exclude(reviewer__source_key__endswith="/2").values_list("pk", flat=True))
    Review.objects.exclude(pk__in=kept).delete()
    out, _err = run(folder)
    assert "\nreviews: 1 added, 2 here already" in out
    assert kept < set(Review.objects.values_list("pk", flat=True))


def test_a_run_that_was_cut_short_goes_on(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    run(folder)
    units = Unit.objects.filter(run__slug=embeddings.RUN)
    whole = set(units.values_list("key", flat=True))
    units.filter(key__startswith="text:").delete()
    run(folder)
    assert set(units.values_list("key", flat=True)) == whole
    assert not units.filter(outcome__embedding=None).exists()


def test_what_staff_changed_at_a_model_stays(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    run(folder)
    Model.objects.filter(slug="dalle2").update(title="DALL·E 2", revision="2024")
    out, err = run(folder)
    assert err == ""
    assert Model.objects.get(slug="dalle2").title == "DALL·E 2"
    assert "models: 0 added, 7 here already" in out


def test_models_of_others_can_be_asked_for_nothing_here(tmp_path: Path) -> None:
    run(make_published(tmp_path))
    with pytest.raises(ConfigError, match="was used elsewhere"):
        runner.create_run("generation", {"model": "dalle2"})


def test_imported_vectors_serve_other_runs_of_the_same_encoder(tmp_path: Path) -> None:
    """The encoder as published cannot compute: a new run finds the words that were imported, and no others."""
    run(make_published(tmp_path))
    generation = runner.create_run("generation", {"model": "sketch", "images_per_subject": 1}, slug="pictures")
    while runner.process_run(generation.pk, "test"):
        pass
    config = {"images": "pictures", "encoder": "clip-vit-base-patch32", "descriptors": "app-g"}
    again = runner.create_run("association", config)
    while runner.process_run(again.pk, "test"):
        pass
    states = dict(Unit.objects.filter(run=again).values_list("key", "state"))
    assert states.pop("text:taste:positive:tasty") == states.pop("text:taste:negative:bland") == Unit.State.DONE
    assert set(states.values()) == {Unit.State.FAILED}


def test_a_reviewed_dish_carries_country_and_continent(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    write_reviews(folder, {"Country": "United States"}, {"Country": "Nowhere"})
    run(folder)
    labels = {subject.labels["country"][0]: subject.labels for subject in Subject.objects.filter(kind="dish")}
    assert labels["United States"] == {"country": ["United States"], "continent": ["North America"]}
    assert labels["Nowhere"] == {"country": ["Nowhere"], "continent": []}


def test_prompts_and_questions_as_far_as_printed_are_versions_of_their_own(tmp_path: Path) -> None:
    run(make_published(tmp_path))
    asked = QuestionSet.objects.get(slug="knowledge", version="as published").questions
    assert [question["code"] for question in asked if not question["names_countries"]] == ["country"]
    assert len(next(question for question in asked if question["code"] == "utensils")["options"]) == 9
    prompt = PromptTemplate.objects.get(slug="vqa-question", version="as published")
    assert prompt.text.startswith("Question: {text}. Choices: {choices}.")
    assert "App. F" in prompt.source


def test_the_same_words_in_two_groups_are_two_units_with_one_vector(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    groups = {"taste": {"positive": ["tasty"], "negative": []}, "style": {"positive": [], "negative": ["tasty"]}}
    content = {"descriptors": [{name: signs} for name, signs in groups.items()]}
    (folder / "wwd" / wordings.DESCRIPTORS_FILE).write_text(json.dumps(content), encoding="utf-8")
    write_vectors(folder / "wwd" / embeddings.WORDS_FILE, {"A photo of tasty food.": (1, 1, 0)})
    run(folder)
    units = Unit.objects.filter(key__endswith=":tasty")
    assert set(units.values_list("key", flat=True)) == {"text:taste:positive:tasty", "text:style:negative:tasty"}
    assert units.values("outcome__embedding").distinct().count() == 1


@pytest.mark.parametrize(
    ("cell", "ticked", "own_words"),
    [
        ("", [], ""),
        ("This image looks disturbing", ["disturbing"], ""),
        ("This image looks disturbing, ", ["disturbing"], ""),
        ("This image looks disturbing, This image looks disturbing", ["disturbing"], ""),
        ("looks hideous", [], "looks hideous"),
        ("this image looks disturbing", [], "this image looks disturbing"),
        ("This image looks disturbing, odd, grey", ["disturbing"], "odd, grey"),
    ],
)
def test_boxes_are_told_from_own_words(cell: str, ticked: list[str], own_words: str) -> None:
    assert release_form.parse_boxes(cell, release_form.SEVERAL["others"]) == (ticked, own_words)


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"id": "x"}, "id is not a number: 'x'"),
        ({"seed": "-1"}, "seed is not a number: '-1'"),
        ({"country_match": "perhaps"}, "country_match is neither True nor False: 'perhaps'"),
        ({"ingredients_union": "salt and water"}, "ingredients_union is not a list: 'salt and water'"),
        ({"seed": "0"}, "sample 0 of dish 1 is twice in the file"),
    ],
)
def test_a_bad_answer_is_reported_with_its_line_and_the_rest_is_loaded(
    tmp_path: Path, cells: dict[str, str], reason: str
) -> None:
    folder = make_published(tmp_path)
    write_answers(folder, "gpt35", {}, {"seed": "1", **cells}, {"seed": "2"})
    _out, err = run(folder)
    assert f"llm/gpt35{knowledge.COMPARED}, line 3: {reason}" in err
    assert Outcome.objects.filter(unit__model__slug="gpt-3.5").count() == 2 * 5 + 1


def test_files_whose_rows_do_not_go_together_leave_the_other_models(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    write_answers(folder, "gpt35", {}, {"seed": "1"})
    path = folder / "wwd" / "llm" / f"gpt35{knowledge.RESULTS}"
    path.write_text(path.read_text(encoding="utf-8").replace("Germany", "Austria"), encoding="utf-8")
    _out, err = run(folder)
    assert "line 2: does not go with line 2" in err
    path.write_text(
        "".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[:2]).replace("Austria", "Germany")
    )
    _out, err = run(folder)
    assert "has not as many good rows as" in err
    assert set(Outcome.objects.filter(unit__run__slug=knowledge.RUN).values_list("unit__model__slug", flat=True)) == {
        "llama-3-8b",
        "llama-3-70b",
    }


def test_answers_stand_as_given_beside_what_the_contributor_says(tmp_path: Path) -> None:
    run(make_published(tmp_path))
    rows = Outcome.objects.filter(unit__run__slug=knowledge.RUN, unit__model__slug="gpt-3.5").select_related("unit")
    found = {row.unit.payload["question"]: (row.text, row.unit.payload["truth"], row.numbers) for row in rows}
    assert found["country"] == ("Germany", "Germany", {"match": 1.0})
    assert found["ingredients"] == ("['salt', 'leeks']", "water, salt", {"intersection": 1.0, "union": 3.0})
    assert found["utensils"] == ("['Fork']", "spoon", {})
    assert found["description"] == ("A soup of water and salt.", "", {})
    subjects = {row.unit.subject for row in rows}
    assert [subject.dish for subject in subjects if subject] == [Dish.objects.get()]


def test_answers_about_a_withdrawn_dish_stay_away(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    run(folder)
    Unit.objects.filter(run__slug=knowledge.RUN).delete()
    Dish.objects.update(state=Dish.State.WITHDRAWN)
    assert run(folder)[1] == ""
    assert not Unit.objects.filter(run__slug=knowledge.RUN).exists()


def test_reference_lists_beside_the_release_are_added_once_and_bad_ones_reported(tmp_path: Path) -> None:
    folder = make_published(tmp_path)
    beside = folder / references.FOLDER
    beside.mkdir(parents=True)
    for name in references.LISTS.values():
        (beside / name).write_text("name,aliases\nx,y\n", encoding="utf-8")
    _out, err = run(folder)
    said = [f"{references.FOLDER / name}, line 1: The file lacks the columns" for name in references.LISTS.values()]
    assert all(sentence in err for sentence in said)
    assert not ReferenceList.objects.exists() and Dish.objects.count() == 1


def test_a_record_that_is_no_csv_is_reported_with_its_line_and_the_rest_is_read(tmp_path: Path) -> None:
    """Python's reader refuses cells beyond a size, which is 2 GB here."""
    path = tmp_path / "list.csv"
    path.write_text(f"name\nsoup\n{'x' * 200}\nbread\n", encoding="utf-8")
    before = csv.field_size_limit(100)
    try:
        report = source.Report()
        read = list(source.read_records(path, "list.csv", ["name"], report))
    finally:
        csv.field_size_limit(before)
    assert [cells for _line, cells in read] == [["name"], ["soup"], ["bread"]]
    assert [str(problem) for problem in report.problems] == [
        "list.csv, line 3: not readable as CSV: field larger than field limit (100)"
    ]
