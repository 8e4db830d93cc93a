"""Bundles: whole, the same bytes for the same data, giving the same tables, and nothing of people in them."""

import csv
import errno
import hashlib
import io
import json
import re
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db.models import Model
from django.utils import timezone
from pytest_django import Settings

from collection.models import Dish
from evaluation.metrics.observations import hash_labels
from evaluation.models import EarlierOutcome, Outcome, Run, StoredTable, Unit
from evaluation.models import Model as Maker
from evaluation.registry import lookup
from evaluation.tables import compute
from review.models import Campaign, Review, Reviewer
from tests.collection.make import open_collection
from tests.evaluation.make import make_dish
from tests.review.make_tables import make_campaign, make_cell
from tests.wwd.bundles.make import READ, SECRET, VIEWS, lines, make_bundle, make_world, manifest
from tests.wwd.processes import environment, snippet
from wwd.exchange.bundles import arithmetic, build, listings, row_selection, source, table_views, verification
from wwd.exchange.bundles import recompute as recomputing
from wwd.exchange.bundles.archive import Archive
from wwd.exchange.bundles.build import DataChangedError
from wwd.exchange.bundles.row_columns import SHAPES
from wwd.exchange.bundles.table_views import ChosenError
from wwd.management.commands import bundle as bundle_command

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> Campaign:
    return make_world()


def test_a_bundle_gives_the_same_tables_byte_for_byte_in_a_process_of_its_own(world: Campaign, tmp_path: Path) -> None:
    make_bundle(tmp_path, *VIEWS, "review.quality?country=Kenya&interval=wilson")
    verdict = verification.verify_bundle(tmp_path / "test.zip")
    assert verdict.trouble == ""
    assert [line.split()[0] for line in verdict.lines] == ["equal"] * 7
    assert verdict.equal


def test_a_changed_number_is_told(world: Campaign, tmp_path: Path) -> None:
    folder = make_bundle(tmp_path, "generation.counts", "review.skips")
    table = folder / "tables" / "review.skips.csv"
    table.write_text(table.read_text().replace("Kenya", "Kenia"))
    done = subprocess.run([verification.sys.executable, "recompute.py"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 1
    assert "DAMAGED    tables/review.skips.csv" in done.stdout
    assert "DIFFERENT  tables/review.skips.csv" in done.stdout
    assert "equal      tables/generation.counts.csv" in done.stdout


def test_the_same_data_gives_the_same_bytes(
    world: Campaign, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same code: somebody may commit between the two."""
    settings.COMMIT = "a" * 40
    monkeypatch.setattr(source, "list_source_files", lambda: [("manage.py", source.ROOT / "manage.py")])
    (tmp_path / "again").mkdir()
    make_bundle(tmp_path)
    StoredTable.objects.all().delete()
    make_bundle(tmp_path / "again")
    assert (tmp_path / "test.zip").read_bytes() == (tmp_path / "again" / "test.zip").read_bytes()


def test_every_file_has_its_checksum(world: Campaign, tmp_path: Path) -> None:
    folder = make_bundle(tmp_path, "generation.counts")
    listed = [line.split("  ") for line in (folder / "SHA256SUMS").read_text().splitlines()]
    sums = {name: digest for digest, name in listed}
    held = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {"SHA256SUMS"}
    assert set(sums) == held
    assert all(hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest for name, digest in sums.items())


def test_the_notice_names_all_data_that_is_handed_on(world: Campaign, tmp_path: Path) -> None:
    """Whoever gets a package gets the terms of every file in it that is no code, by its path or its folder's."""
    folder = make_bundle(tmp_path, "generation.counts")
    notice = (folder / "NOTICE").read_text()
    assert notice == (source.ROOT / "NOTICE").read_text()
    data = [path.relative_to(folder / "source") for path in (folder / "source").rglob("*") if path.is_file()]
    data = [path for path in data if path.suffix != ".py"]
    assert len(data) > 20
    named = set(re.findall(r"(?:\w+/)+[\w.-]*", notice))
    assert [path for path in data if not named & {f"{path}", f"{path.parent}/"}] == []
    assert all("NOTICE" in (folder / name).read_text() for name in ("README.md", "TERMS.md"))


def test_a_package_from_before_the_notice_computes_its_tables_again(world: Campaign, tmp_path: Path) -> None:
    """By its own code; what it does not list is not missed."""
    folder = make_bundle(tmp_path, "generation.counts")
    (folder / "NOTICE").unlink()
    listed = (folder / "SHA256SUMS").read_text().splitlines()
    (folder / "SHA256SUMS").write_text("".join(f"{line}\n" for line in listed if not line.endswith("  NOTICE")))
    old = tmp_path / "old.zip"
    with zipfile.ZipFile(old, "w") as packed:
        for path in folder.rglob("*"):
            packed.write(path, path.relative_to(tmp_path))
    assert verification.verify_bundle(old).lines == ("equal      tables/generation.counts.csv",)


def test_nothing_of_people_and_of_withdrawn_or_hidden_dishes_is_in_it(world: Campaign, tmp_path: Path) -> None:
    folder = make_bundle(tmp_path)
    ids = [str(pk) for pk in Reviewer.objects.values_list("pk", flat=True)]
    secret = [*ids, SECRET.lower(), "0803 555", "steward-"]
    found = [
        (path.name, word)
        for path in folder.rglob("*")
        if path.is_file() and "source" not in path.parts
        for word in secret
        if word in path.read_text().lower()
    ]
    assert found == []
    assert {row["state"] for row in lines(folder, "collection.dish")} == {Dish.State.HIDDEN}
    assert len(lines(folder, "review.review")) == Review.objects.count() - 1


def test_words_leave_only_where_somebody_read_them(world: Campaign, tmp_path: Path) -> None:
    said = [row["answers"].get("explanation") for row in lines(make_bundle(tmp_path), "review.review")]
    assert set(said) == {READ, "i x x x _ _ _ it is xgrossx burnt", None}


def test_reviewers_are_numbers_in_the_order_in_which_tables_draw_them(world: Campaign, tmp_path: Path) -> None:
    rows = lines(make_bundle(tmp_path), "review.reviewer")
    given = sorted(row["source_key"] for row in rows)
    assert [label.rpartition("-")[0] for label in given] == [f"reviewer-{number:07d}" for number in range(1, 7)]
    assert {tuple(sorted(row)) for row in rows} == {("campaign_id", "id", "source", "source_key")}
    real = sorted(str(pk) for pk in Reviewer.objects.values_list("pk", flat=True))
    assert np.argsort(hash_labels(given)).tolist() == np.argsort(hash_labels(real)).tolist()


def test_it_says_under_which_approval_and_where_one_is_missing(world: Campaign, tmp_path: Path) -> None:
    folder = make_bundle(tmp_path, "review.quality")
    assert "Board of Nairobi, 2026/17" in (folder / "README.md").read_text()
    Campaign.objects.update(ethics_reference=" ")
    folder = make_bundle(tmp_path, "review.quality", name="without")
    readme = (folder / "README.md").read_text()
    assert f"`{world.slug}`: **missing: no reference of an ethics approval was recorded" in readme
    assert json.loads((folder / "campaigns.json").read_text())["campaigns"][0]["ethics_approval"].startswith("missing")


def test_it_names_commit_versions_lock_and_terms(world: Campaign, tmp_path: Path, settings: Settings) -> None:
    settings.COMMIT = "a" * 40
    folder = make_bundle(tmp_path, "generation.counts")
    assert manifest(folder)["code"] == {"commit": "a" * 40, "changed": False}
    assert (folder / "requirements.txt").read_text() == (source.ROOT / "requirements.txt").read_text()
    assert "No model is trained" in (folder / "TERMS.md").read_text()
    assert (folder / "source" / "evaluation" / "metrics" / "inference" / "intervals.py").exists()


def test_the_commit_is_what_git_says_or_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.COMMIT = ""
    monkeypatch.setattr(source, "ROOT", tmp_path)
    assert source.describe_commit() == {"commit": "", "changed": False}


def test_runs_prompts_and_answers_can_be_read_by_people(world: Campaign, tmp_path: Path) -> None:
    folder = make_bundle(tmp_path, "association.scores")
    run = json.loads((folder / "runs" / "vectors.json").read_text())
    assert (run["study"], run["models"][0]["slug"]) == ("association", "encoder")
    answers = list(csv.DictReader(io.StringIO((folder / "answers.csv").read_text())))
    assert {row["run"] for row in answers} == {"vectors"}
    assert len(list(csv.DictReader(io.StringIO((folder / "prompts.csv").read_text())))) == 11


def test_a_run_that_a_filter_names_comes_alone(world: Campaign, tmp_path: Path) -> None:
    run = Run.objects.get(slug="vectors")
    other = Run.objects.create(study="association", study_version="1", slug="later", state=Run.State.DONE)
    assert row_selection.runs_of(table_views.parse_views(["association.scores?run=vectors"])) == [run]
    assert row_selection.runs_of(table_views.parse_views(["association.scores?run=later"])) == [other]


def test_a_campaign_that_all_filters_name_comes_alone(world: Campaign, tmp_path: Path) -> None:
    other = make_world_of_another_campaign()
    both = row_selection.gather_needed_rows(table_views.parse_views(["review.quality"]))
    alone = row_selection.gather_needed_rows(table_views.parse_views([f"review.quality?campaign={other.slug}"]))
    assert both.of(Campaign) == [world.pk, other.pk]
    assert alone.of(Campaign) == [other.pk]


def make_world_of_another_campaign() -> Campaign:
    campaign = make_campaign()
    make_cell(campaign)
    return campaign


def test_a_table_of_rows_that_stay_comes_along_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = replace(lookup.find_table_spec("generation.counts"), inputs=("contributors", "runs.generation"))
    monkeypatch.setattr(lookup, "find_table_spec", lambda name: spec)
    view = table_views.build_view("generation.counts", {})
    assert row_selection.unknown_inputs(view) == ["contributors"]
    assert row_selection.unknown_inputs(table_views.build_view("overview.totals", {})) == ["people and devices"]


def test_of_what_people_told_about_a_dish_only_its_names_leave(tmp_path: Path) -> None:
    dish = make_dish("Waakye", ingredients=SECRET, recipe=SECRET, kinds=["soup"], occasions="special")
    dish.links.create(url=f"https://example.org/{SECRET}")
    folder = make_bundle(tmp_path, "novelty.fields", "novelty.countries")
    [row] = lines(folder, "collection.dish")
    assert (row["local_name"], row["ingredients"], row["recipe"], row["kinds"]) == ("Waakye", "x", "x", ["x"])
    assert SECRET not in (folder / "data" / "collection.photolink.jsonl").read_text()
    assert verification.verify_bundle(tmp_path / "test.zip").equal


@pytest.mark.parametrize("model", [shape.model for shape in SHAPES], ids=lambda model: model.__name__)
def test_every_column_is_kept_or_left_out_for_a_reason(model: type[Model]) -> None:
    """Fails for a column that was added since: decide in wwd/exchange/bundles/row_columns.py whether it may leave."""
    decided = {
        "Country": "code name aliases continents",
        "Dish": "id number source state local_name english_name regions cultures time_of_day kinds utensils drink "
        "occasions ingredients recipe more_details",
        "DishCountry": "id dish_id position name country_id",
        "DishLanguage": "id dish_id position name code",
        "DishContinent": "id dish_id continent",
        "PhotoLink": "id dish_id kind url none_exists",
        "Photo": "id dish_id state taken_by_me may_be_shared no_people is_photograph",
        "ReferenceList": "id slug title source sha256 fields demonstration created_at",
        "ReferenceDish": "id reference_id position name aliases countries filled",
        "Model": "id slug title role backend identifier revision parameters price demonstration",
        "PromptTemplate": "id slug version text source",
        "QuestionSet": "id slug version questions source",
        "DescriptorSet": "id slug version groups prompt source",
        "Subject": "id kind name dish_id source_key labels demonstration",
        "Run": "id study study_version slug config definition state queue after_id demonstration imported "
        "created_at finished_at",
        "RunLabel": "id run_id subject_id dimension value",
        "GeneratedImage": "id subject_id model_id run_id prompt_id prompt_sent prompt_revised seed sample state sha256 "
        "media_type width height source_key created_at",
        "Embedding": "id model_id preprocessing image_id text text_hash dimensions vector",
        "Unit": "id run_id key subject_id model_id payload affinity state deliveries",
        "Outcome": "unit_id text numbers image_id embedding_id reason circumstances created_at",
        "EarlierOutcome": "id unit_id number state text numbers image_id reason circumstances created_at",
        "Questionnaire": "id slug version title source definition",
        "Campaign": "id slug title questionnaire_id wanted_opinions state real_percent repeat_percent ethics_reference "
        "opens_at closes_at source",
        "CampaignImage": "id campaign_id image_id country dish_name opinions",
        "Reviewer": "id campaign_id source_key source",
        "Exclusion": "reviewer_id",
        "Assignment": "id reviewer_id image_id repeat state reason",
        "Review": "id reviewer_id image_id answers associates familiarity quality food correct_dish match disturbing "
        "published_flags surplus repeat",
    }
    shape = next(shape for shape in SHAPES if shape.model is model)
    assert {column.attname for column in shape.columns} == set(decided[model.__name__].split())


def test_addresses_and_keys_of_providers_stay(world: Campaign, tmp_path: Path) -> None:
    Maker.objects.filter(slug="encoder").update(parameters={"base_url": "http://gpu-host/v1", "key": "K", "steps": 3})
    rows = lines(make_bundle(tmp_path, "association.scores"), "evaluation.model")
    assert [row["parameters"] for row in rows if row["slug"] == "encoder"] == [{"steps": 3}]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("review.qualty", "Did you mean"),
        ("", "There is no table"),
        ("review.quality?contry=Kenya", "Did you mean country"),
        ("review.quality?country", "cannot be read"),
        ("review.quality?interval=none", "clustered"),
        ("review.quality?country=a\x00b", "signs that no value has"),
        (f"review.quality?country={'x' * 200}", "too long"),
        ("review.quality?country=\udcff", "cannot be read"),
        ("review.quality?country=%ff", "cannot be read"),
        ("../../etc/passwd", "There is no table"),
    ],
)
def test_what_cannot_be_chosen_is_answered_with_a_sentence(text: str, says: str) -> None:
    with pytest.raises(ChosenError, match=says):
        table_views.parse_views([text])


@pytest.mark.parametrize("value", ["Côte d’Ivoire", "../x", "a/b\\c", "名前 & ?=#", "%2e%2e", " ", "'; drop--"])
def test_filters_of_any_sign_have_a_plain_file_name_and_an_address_that_reads_back(value: str) -> None:
    view = table_views.build_view("review.quality", {"country": value})
    assert table_views.parse_view(view.address) == view
    assert set(view.stem) <= set("abcdefghijklmnopqrstuvwxyz._0123456789")


@pytest.mark.parametrize("name", ["", "-", "A", "../up", "a b", "x" * 61, "a/b", "ü"])
def test_hostile_names_are_refused(name: str) -> None:
    with pytest.raises(ChosenError, match="small letters"):
        table_views.check_bundle_name(name)


def test_nothing_chosen_and_too_much_are_answered_with_a_sentence() -> None:
    with pytest.raises(ChosenError, match="at least one"):
        table_views.parse_views([])
    with pytest.raises(ChosenError, match="at most 100"):
        table_views.parse_views([f"review.quality?country=c{number}" for number in range(101)])


def test_views_stand_once_and_in_one_order() -> None:
    found = table_views.parse_views(
        ["review.skips", "review.quality?interval=wilson&country=K", "review.skips?country="]
    )
    assert [view.address for view in found] == ["review.quality?country=K&interval=wilson", "review.skips"]


def test_a_full_disk_leaves_nothing(world: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(archive: Archive, *arguments: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Archive, "close", full)
    with pytest.raises(CommandError, match="could not be written: No space left on device"):
        call_command("bundle", "test", "generation.counts", output=tmp_path / "test.zip", stderr=io.StringIO())
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_exists_is_never_replaced(world: Campaign, tmp_path: Path) -> None:
    (tmp_path / "test.zip").write_text("kept")
    with pytest.raises(ChosenError, match="exists already"):
        make_bundle(tmp_path, "generation.counts")
    assert (tmp_path / "test.zip").read_text() == "kept"
    assert len(list(tmp_path.iterdir())) == 1


def test_data_that_changes_while_it_is_read_is_read_again(
    world: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes: Iterator[list[str]] = iter([["1"], ["2"], ["2"], ["2"]])
    monkeypatch.setattr(build, "fingerprint_inputs", lambda views: next(changes))
    make_bundle(tmp_path, "generation.counts")
    assert next(changes, None) is None


def test_data_that_never_rests_is_told(world: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = iter(range(100))
    monkeypatch.setattr(build, "fingerprint_inputs", lambda views: [str(next(changes))])
    with pytest.raises(DataChangedError, match="three times"):
        make_bundle(tmp_path, "generation.counts")
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_a_bundle_and_tries_it(world: Campaign, tmp_path: Path) -> None:
    out = io.StringIO()
    call_command("bundle", "test", "generation.counts", output=tmp_path / "x.zip", stdout=out, stderr=io.StringIO())
    digest = hashlib.sha256((tmp_path / "x.zip").read_bytes()).hexdigest()
    assert out.getvalue() == f"{digest}  {tmp_path / 'x.zip'}\nequal      tables/generation.counts.csv\n"


def test_images_are_refused_to_nobody_in_particular(world: Campaign, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="not for training"):
        call_command("bundle", "test", "generation.counts", images=True, output=tmp_path / "x.zip")
    assert list(tmp_path.iterdir()) == []


def test_archives_hold_each_name_once(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a.zip", "folder")
    archive.add("a", "text")
    with pytest.raises(ValueError, match="already"):
        archive.add("a", "other")
    with pytest.raises(ValueError, match="already"), archive.writing("a"):
        pass
    archive.close()
    with zipfile.ZipFile(tmp_path / "a.zip") as packed:
        assert packed.namelist() == ["folder/a", "folder/SHA256SUMS"]
        assert packed.testzip() is None


# What the script of a bundle does, by the code of this installation: that of a bundle is a copy.


RECOMPUTE = """
import socket, sys
from pathlib import Path
from wwd.exchange.bundles import recompute
folder, *into = sys.argv[1:]
recompute.HERE = Path(folder)
sys.argv = [f"{folder}/recompute.py", *into]
status = recompute.main()
if into and into[1].endswith("same"):
    try:
        socket.create_connection(("127.0.0.1", 9))
    except PermissionError as error:
        print(error)
print("status", status)
"""


def recompute(folder: Path, into: Path | None = None, **changes: str) -> list[str]:
    command = [verification.sys.executable, "-c", RECOMPUTE, str(folder), *(["--into", str(into)] if into else [])]
    environ = environment(folder.parent / "var", **changes)
    done = subprocess.run(command, cwd=source.ROOT, env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_tables_are_computed_from_the_rows_again_and_no_connection_is_opened(world: Campaign, tmp_path: Path) -> None:
    folder = make_bundle(tmp_path, "generation.counts", "association.scores", "overview.totals")
    said = recompute(folder, tmp_path / "same")
    assert said == [
        "equal      tables/association.scores.csv",
        "equal      tables/generation.counts.csv",
        "left out   tables/overview.totals.csv: it is made from people and devices, whose rows stay on the platform",
        "recompute.py opens no connection (socket.getaddrinfo).",
        "status 0",
    ]
    made = tmp_path / "same" / "generation.counts.csv"
    assert made.read_bytes() == (folder / "tables" / "generation.counts.csv").read_bytes()


def test_the_script_starts_again_with_the_arithmetic_of_the_bundle(world: Campaign, tmp_path: Path) -> None:
    folder = make_bundle(tmp_path, "generation.counts")
    said = manifest(folder)
    said["arithmetic"]["threads"] += 1
    (folder / "bundle.json").write_text(json.dumps(said))
    told = ["DAMAGED    bundle.json", "equal      tables/generation.counts.csv", "status 1"]
    assert recompute(folder, tmp_path / "again") == told
    assert (tmp_path / "again" / "generation.counts.csv").exists()
    assert recompute(folder, None, **{recomputing.AGAIN: "1"}) == told


def test_what_would_leave_the_machine_is_refused_and_nothing_else() -> None:
    recomputing.refuse_network("open", ("file", "r", 0))
    with pytest.raises(PermissionError, match="opens no connection"):
        recomputing.refuse_network("socket.sendto", ())


def test_on_another_machine_no_arithmetic_is_asked_for() -> None:
    assert recomputing.with_the_same_arithmetic({"versions": {"machine": "abacus"}}) == {}


def test_arithmetic_that_differs_is_asked_for_where_the_processor_has_it() -> None:
    used = {"blas": "Haswell", "threads": 2, "instructions": []}
    present = arithmetic.describe_arithmetic()
    assert arithmetic.build_arithmetic_environment(present) == {}
    found = arithmetic.build_arithmetic_environment({**used, "blas": "Abacus", "threads": present["threads"] + 1})
    assert found.get("NPY_DISABLE_CPU_FEATURES", "").split() == present["instructions"]
    assert found["OPENBLAS_NUM_THREADS"] == str(present["threads"] + 1) and "OPENBLAS_CORETYPE" not in found
    known = [kernel for kernel, needed in arithmetic.NEED.items() if arithmetic._features().get(needed)]
    for kernel in known:
        if kernel != present["blas"]:
            assert arithmetic.build_arithmetic_environment({**present, "blas": kernel}) == {"OPENBLAS_CORETYPE": kernel}


def test_rows_are_inserted_in_portions_and_what_was_left_out_is_not_empty(world: Campaign, tmp_path: Path) -> None:
    folder = make_bundle(tmp_path, "review.quality", "association.scores")
    code = f"""
from pathlib import Path
from wwd.exchange.bundles import rows
rows.INSERT_AT_ONCE = 3
rows.load_bundle_rows(Path({str(folder / "data")!r}))
from review.models import Campaign, Review, Reviewer
from evaluation.models import Embedding
print(Review.objects.count(), Reviewer.objects.filter(created_at=rows.EPOCH).count(), Embedding.objects.count())
"""
    reviews, people, vectors = snippet(environment(tmp_path / "var"), code).split()
    assert int(reviews) == len(lines(folder, "review.review"))
    assert int(people) == len(lines(folder, "review.reviewer"))
    assert int(vectors) == len(lines(folder, "evaluation.embedding")) > 0


# What a bundle says of its runs, its code and its approvals.


def test_tries_that_failed_and_what_ran_where_are_told(
    world: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run.objects.get(slug="vectors")
    first, second = Unit.objects.filter(run=run).order_by("pk")[:2]
    tried = {"number": 1, "state": "failed", "text": "", "reason": "The provider was busy."}
    EarlierOutcome.objects.create(unit=first, created_at=timezone.now(), **tried)
    Unit.objects.filter(pk=second.pk).update(state="refused")
    Outcome.objects.filter(unit=second).update(reason="It will not say.")
    for number, outcome in enumerate(Outcome.objects.filter(unit__run=run).order_by("pk")):
        held = {"device": "a card", "batch": number, "half": True, "host": f"host-{number}"}
        Outcome.objects.filter(pk=outcome.pk).update(circumstances=held)
    monkeypatch.setattr(listings, "MOST_VALUES", 3)
    folder = make_bundle(tmp_path, "association.scores")
    said = [(row["unit"], row["try"], row["reason"]) for row in rows_of(folder / "refusals.csv")]
    assert (first.key, "1", "The provider was busy.") in said and (second.key, "last", "It will not say.") in said
    told = json.loads((folder / "runs" / "vectors.json").read_text())["circumstances"]
    many = Outcome.objects.filter(unit__run=run).count()
    assert told["device"] == {"a card": many} and told["half"] == {"true": many}
    assert told["batch"] == {"least": 0, "most": many - 1} and told["host"] == {"different values": many}


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text())))


def test_the_approval_of_the_collection_is_told_with_its_last_day() -> None:
    assert listings.collection_ethics().startswith("missing")
    open_collection(until=date(2027, 3, 5), ethics_reference=" EC 7/26 ")
    assert listings.collection_ethics() == "EC 7/26, until 2027-03-05"


def test_an_installation_without_a_commit_says_so(
    world: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "describe_commit", lambda: {"commit": "", "changed": False})
    readme = (make_bundle(tmp_path, "generation.counts") / "README.md").read_text()
    assert "The commit is not known: the installation is no checkout." in readme


def test_a_folder_that_git_does_not_know_has_no_commit(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.COMMIT = ""
    (tmp_path / ".git").mkdir()
    monkeypatch.setattr(source, "ROOT", tmp_path)
    assert source.describe_commit() == {"commit": "", "changed": False}


def test_a_table_of_several_studies_names_the_runs_that_its_filters_name(world: Campaign) -> None:
    other = Run.objects.create(study="association", study_version="1", slug="later", state=Run.State.DONE)
    every = row_selection.runs_of([table_views.build_view("agreement.scores", {})])
    assert {run.slug for run in every} == {"vectors", "later"}
    assert row_selection.runs_of([table_views.build_view("agreement.scores", {"run": "later"})]) == [other]


def test_a_value_that_nothing_has_is_refused_with_the_near_ones(world: Campaign, tmp_path: Path) -> None:
    with pytest.raises(ChosenError, match="Kenya"):
        make_bundle(tmp_path, "review.quality?country=Kenia")
    assert list(tmp_path.iterdir()) == []


def test_a_table_that_is_fresh_is_taken_as_it_is_stored(world: Campaign, tmp_path: Path) -> None:
    compute.compute_and_store("generation.counts", {})
    folder = make_bundle(tmp_path, "generation.counts")
    StoredTable.objects.all().delete()
    again = make_bundle(tmp_path, "generation.counts", name="again")
    assert (folder / "tables" / "generation.counts.csv").read_bytes() == (
        again / "tables" / "generation.counts.csv"
    ).read_bytes()


def test_the_command_says_which_tables_differ(world: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = verification.Verdict(False, ("DIFFERENT  tables/generation.counts.csv",), "It broke.")
    monkeypatch.setattr(bundle_command, "verify_bundle", lambda path: verdict)
    out = io.StringIO()
    with pytest.raises(CommandError, match=r"does not give the same tables\. It broke\."):
        call_command("bundle", "test", "generation.counts", output=tmp_path / "x.zip", stdout=out)
    assert "DIFFERENT" in out.getvalue() and (tmp_path / "x.zip").exists()
