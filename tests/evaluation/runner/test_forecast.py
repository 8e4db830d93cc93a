"""What a run will be, how far it is, and what became of its units."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from evaluation import studies
from evaluation.contracts.study import ConfigError, ImageResult, Result
from evaluation.models import Batch, GeneratedImage, Model, Outcome, Run, Subject, Unit
from evaluation.models.cost import Price, price_of
from evaluation.runner import create_run, forecast_run, import_run, leases, preview_run, process_run, retry_units
from evaluation.runner.progress import by_label, count_refusals, count_rewritten_prompts
from evaluation.runner.stages import batch_size
from tests.evaluation.failing_study import Fragile
from tests.evaluation.make import make_country, make_dish, make_model, make_subject, plan

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
CENTS = {"currency": "USD", "date": "2024-07-01", "per_unit": 0.04}
TOKENS = {"currency": "USD", "per_million_input": 2, "per_million_output": 10, "expected_input": 1000}


@pytest.fixture(autouse=True)
def fragile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(studies.STUDIES, "fragile", "tests.evaluation.failing_study:Fragile")
    Fragile.executed.clear()


def price(**values: object) -> None:
    Model.objects.filter(slug="sketch").update(price=values)


def make_run(*acts: str) -> Run:
    return create_run("fragile", {"acts": list(acts)})


def half(run: Run) -> None:
    """Works through the next batch of four."""
    Fragile.executed.clear()
    batch_size.known.clear()
    process_run(run.pk, "a", stop=lambda: bool(Fragile.executed))
    run.refresh_from_db()


@pytest.mark.parametrize(
    ("given", "spent"),
    [
        # 3 images at 0.04.
        (CENTS, 0.12),
        # 5,000 × 2 / 1e6 + 200 × 10 / 1e6 = 0.010 + 0.002.
        (TOKENS, 0.012),
    ],
)
def test_what_units_cost_by_piece_or_by_token(given: dict[str, object], spent: float) -> None:
    found = price_of(given)
    assert found is not None
    assert found.spent(3, 5000, 200) == pytest.approx(spent)


def test_an_expected_cost_counts_expected_tokens() -> None:
    # 500 × 1,000 × 2 / 1e6 = 1.
    assert Price("USD", per_million_input=2, expected_input=1000).expected(500) == pytest.approx(1.0)


@pytest.mark.parametrize("amount", [-1, "4 cents", True, float("inf"), float("nan"), None])
def test_a_price_that_is_no_amount_names_the_field(amount: object) -> None:
    with pytest.raises(ValueError, match="per_unit"):
        price_of({"currency": "USD", "per_unit": amount})


def test_no_price_is_not_a_price_of_nothing() -> None:
    assert price_of({}) is None
    with pytest.raises(ValueError, match="currency"):
        price_of({"per_unit": 1})


def test_a_dry_plan_counts_units_and_cost_and_leaves_nothing_behind() -> None:
    make_dish("Waakye")
    make_dish("Ugali", country=make_country("KEN", "Kenya"))
    price(**CENTS)
    found = preview_run("generation", {"model": "sketch", "images_per_subject": 5})
    assert found.units == 10
    assert found.countries == {("sketch", "Ghana"): 5, ("sketch", "Kenya"): 5}
    assert found.cost == {"USD": pytest.approx(0.4)}
    assert not (Run.objects.exists() or Unit.objects.exists() or Subject.objects.exists())


def test_a_dry_plan_names_models_without_a_price_and_mistakes() -> None:
    make_dish()
    assert preview_run("generation", {"model": "sketch"}).unpriced == ["sketch"]
    with pytest.raises(ConfigError, match="nothing is selected"):
        preview_run("generation", {"model": "sketch", "subjects": {"demonstration": True}})
    price(currency="USD", per_unit="much")
    with pytest.raises(ConfigError, match="sketch: price: per_unit"):
        preview_run("generation", {"model": "sketch"})


def test_cost_at_half_way_is_what_the_whole_costs_in_the_end() -> None:
    price(**CENTS)
    run = make_run("yes", "yes", "refuse", "yes", "yes", "refuse", "yes", "yes")
    half(run)
    before = forecast_run(run)
    assert (before.ended, before.total, before.open) == (4, 8, 4)
    process_run(run.pk, "a")
    after = forecast_run(run)
    # 6 of 8 are delivered: 0.24, and at half-way 3 of 4: 0.12 + 0.12.
    assert after.spent == {"USD": pytest.approx(0.24)}
    assert before.spent["USD"] + before.to_come["USD"] == pytest.approx(0.24)
    assert after.to_come == {"USD": 0}


def test_tokens_are_counted_from_the_answers() -> None:
    price(**TOKENS)
    run = make_run(*["yes"] * 8)
    half(run)
    Outcome.objects.update(circumstances={"input_tokens": 3000, "output_tokens": 100})
    found = forecast_run(run)
    # 4 answers: 12,000 × 2 / 1e6 + 400 × 10 / 1e6.
    assert found.spent["USD"] == pytest.approx(0.028)
    assert found.to_come["USD"] == pytest.approx(0.028)


def test_before_anything_ended_the_expected_cost_stands() -> None:
    price(**CENTS)
    found = forecast_run(make_run(*["yes"] * 5))
    assert (found.spent["USD"], found.to_come["USD"], found.seconds) == (0, pytest.approx(0.2), None)


def test_earlier_tries_cost_too_and_do_not_change_what_is_expected() -> None:
    price(currency="USD", per_million_output=1_000_000)
    run = make_run("raise", "yes")
    process_run(run.pk, "a")
    Outcome.objects.update(circumstances={"output_tokens": 2})
    retry_units(run)
    run.refresh_from_db()
    found = forecast_run(run)
    assert (found.spent["USD"], found.to_come["USD"]) == (4, 2)


def test_the_time_left_follows_the_pace_of_the_last_minutes() -> None:
    run = make_run(*["yes"] * 16)
    for _ in range(2):
        half(run)
    first, second = Batch.objects.order_by("created_at", "until")
    # 8 units in 40 seconds, 8 are left.
    Batch.objects.filter(pk=first.pk).update(
        created_at=Now() - timedelta(seconds=60), finished_at=Now() - timedelta(seconds=40)
    )
    Batch.objects.filter(pk=second.pk).update(
        created_at=Now() - timedelta(seconds=40), finished_at=Now() - timedelta(seconds=20)
    )
    assert forecast_run(run).seconds == pytest.approx(40, abs=2)


def test_what_is_worked_on_counts_as_far_as_its_time_says() -> None:
    run = make_run(*["yes"] * 16)
    half(run)
    Batch.objects.update(created_at=Now() - timedelta(seconds=40), finished_at=Now() - timedelta(seconds=20))
    going = leases.lease_units(run, "b", 4)
    assert going is not None
    Batch.objects.filter(pk=going.pk).update(created_at=Now() - timedelta(seconds=10))
    # A batch takes 20 seconds: of the second, 2 of 4 are done. 4 + 2 units in 40 seconds, 12 - 2 are left.
    assert forecast_run(run).seconds == pytest.approx(10 * 40 / 6, abs=2)


def test_a_pace_of_long_ago_says_nothing() -> None:
    run = make_run(*["yes"] * 8)
    half(run)
    Batch.objects.update(finished_at=Now() - timedelta(hours=2))
    assert forecast_run(run).seconds is None
    process_run(run.pk, "a")
    run.refresh_from_db()
    assert forecast_run(run).seconds == 0


def results() -> Run:
    """Waakye of two countries: one done with a rewritten prompt, one refused. Ugali: one refused, one empty."""
    model, waakye = make_model(), make_subject()
    kenya = make_country("KEN", "Kenya")
    ugali = make_subject("Ugali", country=kenya)
    kept = {"name_kept": 1.0, "countries_kept": 0.0}
    image = ImageResult(b"one", "image/png", 1, 1, "Draw", prompt_revised="A bowl of waakye", sample=0)
    given = [
        (plan("a", model, waakye), Result("a", image=image, numbers=kept)),
        (plan("b", model, waakye), Result("b", "refused", text="Not allowed.", reason="content_policy_violation")),
        (plan("c", model, ugali), Result("c", "refused", text="Not allowed.", reason="content_policy_violation")),
        (plan("d", model, ugali), Result("d", "empty", reason="Nothing came.")),
    ]
    return import_run("generation", "counted", {}, given)[0]


def test_units_are_counted_apart_by_country_language_and_model() -> None:
    run = results()
    found = {row.label: dict(row.states) for row in by_label(run, "country")}
    assert found == {"Ghana": {"done": 1, "refused": 1}, "Kenya": {"refused": 1, "empty": 1}}
    [row] = by_label(run, "language")
    assert (row.label, row.model, row.total) == ("hau", "painter", 4)


def test_refusals_and_rewritten_prompts_are_counted_per_country() -> None:
    run = results()
    assert [(row.label, row.category, row.n, row.words) for row in count_refusals(run)] == [
        ("Ghana", "content_policy_violation", 1, "Not allowed."),
        ("Kenya", "content_policy_violation", 1, "Not allowed."),
    ]
    [row] = count_rewritten_prompts(run)
    assert (row.label, row.n, row.name_kept, row.countries_kept) == ("Ghana", 1, 1, 0)
    assert GeneratedImage.objects.count() == 1, "where nothing came, no image is recorded"
