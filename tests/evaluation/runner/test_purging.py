"""Purging a run: in chunks, resumable at a kill, and never where something else needs it."""

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from kombu import Connection

from evaluation.models import Embedding, GeneratedImage, Outcome, Plan, Run, RunLabel, Unit
from evaluation.runner import import_run, purging
from evaluation.tables import compute, read
from evaluation.tasks import purge_run
from review.campaigns.service import prepare_campaign_images
from tests.evaluation.make import make_image, make_model
from tests.evaluation.make_tables import image_result, make_association, make_place_in
from tests.review.make import make_campaign

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
KEPT = "kept"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run of 12 images and two words, purged three rows at a time; another one has vectors of its own."""
    monkeypatch.setattr(purging, "CHUNK", 3)
    place = make_place_in("Africa")
    make_association(*(image_result(place, "painter", 0.5, n) for n in range(2)), slug=KEPT)
    return make_association(*(image_result(place, "painter", 1, n) for n in range(12)), slug="goes")


def test_everything_of_the_run_goes_and_nothing_of_another(run: Run) -> None:
    others = Unit.objects.exclude(run=run).count()
    gone = purging.purge_run(run)
    assert (gone["Unit"], gone["Outcome"], gone["Run"]) == (14, 14, 1)
    assert gone["Embedding"] == 12
    assert list(Run.objects.values_list("slug", flat=True)) == [KEPT]
    assert Unit.objects.count() == Outcome.objects.count() == others
    assert Embedding.objects.count() == 4
    assert set(RunLabel.objects.values_list("run__slug", flat=True)) == {KEPT}


def test_images_that_the_run_made_go_and_their_subjects_stay(run: Run) -> None:
    image = make_image(make_place_in("Asia"), make_model("painter"), run=run)
    gone = purging.purge_run(run)
    assert gone["GeneratedImage"] == 1
    assert not GeneratedImage.objects.filter(pk=image.pk).exists()
    assert image.subject.images.count() == 0


def test_a_purge_that_was_killed_goes_on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(run: Run) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(purging, "purge_labels", killed)
    with pytest.raises(KeyboardInterrupt):
        purging.purge_run(run)
    half = Run.objects.get(pk=run.pk)
    assert (half.state, half.units.count()) == (Run.State.CANCELLED, 0)
    assert purging.GOING in half.problem
    monkeypatch.undo()
    purge_run(run.pk)
    purge_run(run.pk)
    assert not Run.objects.filter(pk=run.pk).exists()


def test_no_table_is_made_from_a_run_that_is_going(run: Run) -> None:
    assert compute.compute_and_store("association.scores", {}).state == "fresh"
    purging.purge_run(run)
    assert read.read_stored_table("association.scores", {}).state == "stale"
    table = compute.compute_and_store("association.scores", {}).table
    assert table is not None
    assert any(KEPT in note for note in table.notes)


def test_a_run_that_goes_on_stays(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING)
    run.refresh_from_db()
    with pytest.raises(purging.RunNeededError, match="Cancel it first"):
        purging.purge_run(run)


def test_a_run_that_others_were_made_from_stays(run: Run) -> None:
    import_run("association", "later", {"images": run.slug}, [])
    Run.objects.filter(slug=KEPT).update(after=run)
    with pytest.raises(purging.RunNeededError, match="kept, later"):
        purging.purge_run(run)


def test_a_run_that_a_plan_names_stays(run: Run) -> None:
    by = User.objects.create_user("planner")
    tables_of = [{"table": "association.scores", "version": "2", "filters": {"run": run.slug}, "metrics": []}]
    Plan.objects.create(slug="first", title="First", created_by=by, runs=[run.slug])
    Plan.objects.create(slug="second", title="Second", created_by=by, tables=tables_of)
    with pytest.raises(purging.RunNeededError, match="first, second"):
        purging.purge_run(run)
    assert Unit.objects.filter(run=run).count() == 14


def test_images_that_reviewers_see_stay(run: Run) -> None:
    campaign = make_campaign(images=1)
    image = GeneratedImage.objects.get(campaignimage__campaign=campaign)
    GeneratedImage.objects.filter(pk=image.pk).update(run=run)
    prepare_campaign_images(campaign, [])
    with pytest.raises(purging.RunNeededError, match="shown to reviewers"):
        purging.purge_run(run)


def test_the_command_asks_counts_and_does_nothing_on_another_answer(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    out, answers = StringIO(), iter(["no", "goes"])
    monkeypatch.setattr("builtins.input", lambda _question: next(answers))
    call_command("purge_run", "goes", stdout=out)
    assert Run.objects.filter(slug="goes").exists()
    call_command("purge_run", "goes", stdout=out)
    assert not Run.objects.filter(slug="goes").exists()
    assert "14 units" in out.getvalue()
    assert "Nothing was removed." in out.getvalue()
    assert "14 Unit" in out.getvalue()


@pytest.mark.django_db(transaction=True)
def test_the_command_leaves_a_large_run_to_a_worker(run: Run) -> None:
    out = StringIO()
    call_command("purge_run", "goes", yes=True, background=True, stdout=out)
    assert out.getvalue() == "A worker removes the run goes.\n"
    assert Run.objects.filter(slug="goes").exists()
    with Connection("memory://") as connection:
        assert connection.SimpleQueue("cpu").get_nowait().payload[0] == [run.pk]


def test_the_command_says_why_a_run_stays_and_names_near_ones(run: Run) -> None:
    Run.objects.filter(slug=KEPT).update(after=run)
    with pytest.raises(CommandError, match="The run goes stays"):
        call_command("purge_run", "goes", yes=True)
    with pytest.raises(CommandError, match="Did you mean goes"):
        call_command("purge_run", "goez")
