"""The knowledge study: its plan and the words it sends, answers by any backend, tables worked out by hand, judges."""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NoReturn

import pytest
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse

from collection.models import Dish
from evaluation import backends, runner
from evaluation.contracts.backend import BackendError, Conversation
from evaluation.contracts.study import ConfigError, ModelData, OutcomeData
from evaluation.drilldown import cells
from evaluation.metrics.set_overlap import iou, self_agreement
from evaluation.metrics.tidy import Estimate, TidyTable
from evaluation.models import Batch, Model, Outcome, QuestionSet, Run, Unit
from evaluation.models.cost import price_of
from evaluation.registry import lookup
from evaluation.runner import leases
from evaluation.runner.catalogue import DatabaseCatalogue
from evaluation.runner.direct_transport import DirectTransport
from evaluation.studies import chat, presets
from evaluation.studies.config import parse_config
from evaluation.studies.knowledge.judge_study import Judging, JudgingConfig
from evaluation.studies.knowledge.study import Knowledge
from evaluation.tables import compute, observe
from tests.evaluation import drilldown, table_observations
from tests.evaluation.make import make_dish, make_model
from tests.evaluation.provider import Provider, error, says
from tests.evaluation.tiny_models import save_chat

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
STUDY, JUDGE = Knowledge(), Judging()


def outcome(question: str, text: str, truth: str, *, dish: int = 1, sample: int = 0, **values: Any) -> OutcomeData:
    return OutcomeData(
        key=f"{dish}:{question}:{sample}:{values.get('model', '')}",
        state=values.pop("state", "done"),
        model=values.pop("model", "answerer"),
        subject=values.pop("subject", "Waakye"),
        cluster=f"dish:{dish}",
        labels={"continent": values.pop("place", ("Africa",)), "country": ("Ghana",), "language": ("hau",)},
        payload={"question": question, "sample": sample, "truth": truth, **values.pop("payload", {})},
        text=text,
        numbers=values.pop("numbers", {}),
    )


def found(table: TidyTable, metric: str, **groups: str) -> Estimate:
    [estimate] = [
        row.estimate for row in table.rows if row.metric == metric and groups.items() <= dict(row.groups).items()
    ]
    return estimate


def value(table: TidyTable, metric: str, **groups: str) -> float | None:
    number = found(table, metric, **groups).value
    return None if number is None else round(number, 6)


def plan_of(**config: Any) -> list[Any]:
    return list(STUDY.plan(parse_config(STUDY, config), DatabaseCatalogue()).units)


def make_waakye(**values: Any) -> Dish:
    """A dish with everything that is asked about."""
    given = {
        "time_of_day": ["lunch"],
        "kinds": ["main_alone"],
        "utensils": "spoon, hands",
        "ingredients": "rice, beans",
    }
    return make_dish(**{**given, **values})


def work_off(run: Run) -> None:
    while runner.process_run(run.pk, "tests"):
        pass
    run.refresh_from_db()


def test_the_same_configuration_gives_the_same_units() -> None:
    make_waakye()
    first, second = plan_of(samples=2), plan_of(samples=2)
    assert [unit.key for unit in first] == [unit.key for unit in second]
    assert [unit.payload for unit in first] == [unit.payload for unit in second]
    assert len(first) == 6 * 2
    assert len({unit.payload["seed"] for unit in first}) == 12
    assert len({unit.affinity for unit in first}) == 1


def test_questions_as_published_are_asked_in_their_order_and_only_the_country_without_the_country() -> None:
    make_waakye(written="Gold Coast")
    config = {"preset": "knowledge-as-published"}
    units = {unit.payload["question"]: unit.payload for unit in plan_of(**config) if unit.payload["sample"] == 0}
    asked = {question: payload["messages"] for question, payload in units.items()}
    assert len(plan_of(**config)) == 6 * 5
    beginning = (
        "Given an item of food called `Waakye`, you are tasked with providing some answers about the common practices "
        "and common knowledge of this dish."
    )
    assert {messages[0] for messages in asked.values()} == {beginning}
    assert asked["country"][1] == "Which country is `Waakye` from? Reply with just the country name."
    assert [question for question, messages in asked.items() if "Gold Coast" not in messages[1]] == ["country"]
    assert asked["time_of_day"][1].startswith("What time of day is `Waakye` typically eaten in Gold Coast? Choose from")
    assert asked["time_of_day"][1].endswith(
        '"anytime", "other (please elaborate)"] and return as a python list of strings. You may choose multiple '
        "options. Reply with just the list."
    )


def test_what_the_contributor_says_stands_beside_each_question() -> None:
    make_waakye()
    truth = {unit.payload["question"]: unit.payload["truth"] for unit in plan_of(samples=1)}
    assert truth == {
        "description": "",
        "country": "Ghana",
        "time_of_day": "lunch",
        "type_of_dish": "main dish - stand alone",
        "utensils": "spoon, hands",
        "ingredients": "rice, beans",
    }


def test_braces_in_a_name_are_no_placeholders() -> None:
    messages = chat.fill_messages(["{local_name} of {countries}"], {"local_name": "{countries}", "countries": "{0}"})
    assert messages == ["{countries} of {0}"]


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"models": []}, "at least one model"),
        ({"models": ["standin-chat", "standin-chat"]}, "each once"),
        ({"samples": 0}, "samples is 0. Accepted: a whole number from 1 to 100"),
        ({"seed": -1}, "seed is -1. Accepted: a whole number"),
        ({"models": ["sketch"]}, "sketch does not chat"),
        ({"models": ["standin-chta"]}, "standin-chat"),
        ({"questions_version": "2"}, "version of question set"),
        ({"subjects": {"kind": "place", "level": "world"}}, "no dish is selected"),
        ({"questions": "vqa-probes"}, "question 1 of vqa-probes 1 has the code None"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_refused_with_a_sentence(config: dict[str, Any], sentence: str) -> None:
    make_waakye()
    with pytest.raises(ConfigError, match=sentence):
        plan_of(**config)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ({"code": "drink", "messages": ["{local_name}?"]}, "has the code 'drink'"),
        ({"code": "country", "messages": []}, "lacks its messages"),
        ({"code": "country", "messages": "Where?"}, "lacks its messages"),
        ({"code": "country", "messages": ["Where?"]}, "names none of {local_name}, {countries}"),
    ],
)
def test_a_question_that_cannot_be_asked_is_named(question: dict[str, Any], sentence: str) -> None:
    make_waakye()
    QuestionSet.objects.create(slug="own", version="1", questions=[question])
    with pytest.raises(ConfigError, match=sentence):
        plan_of(questions="own")


def test_fields_by_hand() -> None:
    # Countries: the judge accepts a neighbour; we do not. Lunch of lunch and dinner: 1/2; hands are fingers to us only.
    rows = [
        outcome("country", "Ghana", "Ghana", numbers={"match": 1.0}),
        outcome("country", "Togo", "Ghana", dish=2, numbers={"match": 1.0}),
        outcome("country", "", "Ghana", dish=3, state="refused"),
        outcome("country", "", "Ghana", dish=4, state="failed"),
        outcome("time_of_day", "['lunch', 'dinner']", "['lunch']"),
        outcome("time_of_day", "['lunch']", "['other']", dish=2),
        outcome("utensils", "['Fingers', 'Spoon']", "hand"),
        outcome(
            "ingredients", "['rice', 'peanuts']", "Rice, groundnuts, salt", numbers={"intersection": 3, "union": 2}
        ),
    ]
    table = STUDY.summarise("fields", rows, None)
    assert value(table, "as_published", field="country") == 100
    assert found(table, "as_published", field="country").n == 2
    assert value(table, "sem", field="country") == 0
    assert value(table, "read", field="country") == round(100 / 3, 6)
    assert value(table, "unread", field="country") == 50
    assert value(table, "as_published", field="time_of_day") == value(table, "read", field="time_of_day") == 50
    assert found(table, "read", field="time_of_day").n == 1
    assert value(table, "as_published", field="utensils") == 0
    assert value(table, "read", field="utensils") == 50
    assert value(table, "as_published", field="ingredients") == 150
    assert value(table, "read", field="ingredients") == round(100 * 2 / 3, 6)


def test_a_refused_answer_counts_in_no_rule_of_the_paper() -> None:
    rows = [outcome("utensils", "", "spoon", state="refused"), outcome("utensils", "spoon", "spoon", dish=2)]
    table = STUDY.summarise("fields", rows, None)
    assert (value(table, "as_published", field="utensils"), found(table, "as_published", field="utensils").n) == (
        100,
        1,
    )


def test_a_set_without_questions_is_not_asked() -> None:
    make_waakye()
    QuestionSet.objects.create(slug="empty", version="1", questions=[])
    with pytest.raises(ConfigError, match="questions: empty 1 holds no question"):
        plan_of(questions="empty")


def test_a_dish_of_two_continents_counts_in_each_and_nothing_judged_is_not_measured() -> None:
    table = STUDY.summarise("fields", [outcome("country", "Ghana", "Ghana", place=("Africa", "Asia"))], None)
    assert value(table, "read", continent="Africa") == value(table, "read", continent="Asia") == 100
    assert found(table, "as_published", continent="Asia").value is None
    assert "no answer was judged" in found(table, "as_published", continent="Asia").reason


def test_failures_by_hand() -> None:
    rows = [
        outcome("description", "I'm sorry, I don't know this dish; it may be fictional.", ""),
        outcome("description", "A stew. My guess is that it is lesser-known.", "", dish=2),
        outcome("description", "A stew.", "", dish=3),
        outcome("description", "", "", dish=4, state="refused"),
    ]
    table = STUDY.summarise("failures", rows, None)
    shares = {kind: value(table, "share", failure=kind) for kind in ("apologises", "not_known", "not_real", "guesses")}
    third = round(100 / 3, 6)
    assert shares == {"apologises": third, "not_known": round(200 / 3, 6), "not_real": third, "guesses": third}
    assert value(table, "share", failure="refused") == 25
    # Population deviation of one in three, by √3.
    assert value(table, "sem", failure="guesses") == round(100 * (2 / 9) ** 0.5 / 3**0.5, 6)


def test_disagreements_hold_no_name_of_a_dish() -> None:
    sentence = "There is no dish called Sofkee (waakye), nor a country for it, as far as anybody can tell us today."
    rows = [
        outcome("country", "Togo.", "Ghana", numbers={"match": 1}, dish=1),
        outcome("country", "Togo", "Ghana", numbers={"match": 1}, dish=2),
        outcome("country", "Ghana", "Ghana", numbers={"match": 0}, dish=3),
        outcome("country", sentence, "Ghana", numbers={"match": 1}, subject="Sofkee/ Waakye", dish=4),
        outcome("country", "Ghana", "Ghana", dish=5),
    ]
    table = STUDY.summarise("disagreements", rows, None)
    assert {(row.groups["disagreement"], row.groups["answer"]): row.estimate.value for row in table.rows} == {
        ("another country accepted", "Togo"): 2,
        ("no country named, accepted", "There is no dish called … (…), nor a country fo…"): 1,
        ("the country itself rejected", "Ghana"): 1,
    }
    assert table.notes[0].startswith("Answers judged: 4; seen differently: 4")


def test_agreement_of_samples_by_hand() -> None:
    rows = [outcome("country", text, "Ghana", sample=sample) for sample, text in enumerate(["Ghana", "Ghana.", "Togo"])]
    table = STUDY.summarise("consistency", rows, None)
    assert value(table, "agreement") == round(100 / 3, 6)
    assert found(table, "agreement").n == 1


def test_overlap() -> None:
    assert iou({1, 2}, {2, 3}) == 1 / 3
    assert iou(set(), set()) is None
    assert self_agreement([{1}]) is None
    assert self_agreement([{1}, {1}, set()]) == 1 / 3
    assert self_agreement([set(), set()]) == 1


def test_observations_are_what_the_numbers_are_means_of() -> None:
    rows = [
        outcome("country", "Ghana", "Ghana", dish=1, numbers={"match": 1}),
        outcome("country", "Togo", "Ghana", dish=2, numbers={"match": 0}, place=("Africa", "Asia")),
        outcome("time_of_day", "['lunch']", "['lunch', 'dinner']", dish=2, place=("Africa", "Asia")),
        outcome("description", "Sorry.", "", dish=2, place=("Africa", "Asia")),
    ]
    for name in ("fields", "failures", "judge"):
        observed = STUDY.observe(name, rows, None)
        assert observed is not None
        for row in STUDY.summarise(name, rows, None).rows:
            if row.metric in observed.values:
                inside = observed.values[row.metric][observed.within(row.groups)]
                held = inside[inside == inside]
                assert len(held) == row.estimate.n
                assert row.estimate.value == (pytest.approx(held.mean()) if len(held) else None)
    assert STUDY.observe("consistency", rows, None) is None


def test_a_demonstration_goes_from_the_plan_to_the_page(admin_client: Client) -> None:
    for number in range(3):
        make_waakye(name=f"Dish {number}")
    run = runner.create_run("knowledge", {"samples": 2}, slug="known")
    work_off(run)
    assert (run.state, run.demonstration) == (Run.State.DONE, True)
    assert set(Unit.objects.filter(run=run).values_list("state", flat=True)) == {"done"}
    view = compute.compute_and_store("knowledge.fields", {"run": "known"})
    assert view.table is not None
    assert {row.groups["field"] for row in view.table.rows} == {
        "country",
        "time_of_day",
        "type_of_dish",
        "utensils",
        "ingredients",
    }
    assert all(row.estimate.clusters <= 3 for row in view.table.rows)
    assert found(view.table, "unread", field="utensils").value == 0
    assert observe.observe_table(lookup.find_table_spec("knowledge.fields"), {"run": "known"}) is not None
    page = admin_client.get(reverse("evaluation:table", args=["knowledge.fields"]), {"run": "known"})
    assert page.status_code == 200
    assert "time_of_day" in page.content.decode()


def test_a_judge_is_a_run_of_its_own_about_the_answers_of_another() -> None:
    make_waakye()
    run = runner.create_run("knowledge", {"samples": 2}, slug="known")
    work_off(run)
    judging = runner.create_run("judging", {"answers": "known"}, slug="judged")
    assert Unit.objects.filter(run=judging).count() == 2 * (1 + 2)
    assert judging.definition["answers"] == "known"
    work_off(judging)
    table = compute.compute_table(lookup.find_table_spec("judging.fields"), {"run": "judged"})
    assert {row.groups["field"] for row in table.rows} == {"country", "ingredients"}
    assert {row.groups["model"] for row in table.rows} == {"standin-chat"}
    assert found(table, "judged", field="country").n == 2
    assert table_observations.check("judging.fields", run="judged") > 0


def test_what_is_listed_behind_a_number_is_what_it_counted() -> None:
    for number in range(3):
        make_waakye(name=f"Dish {number}")
    work_off(runner.create_run("knowledge", {"samples": 2}, slug="known"))
    for name in ("fields", "fields_country", "failures", "failures_language", "judge"):
        assert drilldown.check(compute.compute_and_store(f"knowledge.{name}", {})) or name == "judge"
    view = compute.compute_and_store("knowledge.consistency", {})
    assert view.table is not None
    row = next(row for row in view.table.rows if row.groups["field"] == "country")
    found = cells.load_drilldown(drilldown.cell_of("knowledge.consistency", row))
    assert (len(found.page()[0]), drilldown.everything(found)) == (6, [])


def judgement(asked: str, text: str, **values: Any) -> OutcomeData:
    question = "country" if asked == "country" else "ingredients"
    answer, truth = ("Togo", "Ghana") if question == "country" else ("['rice']", "rice, beans")
    payload = {"asked": asked, "answer": answer, "of": "answerer"}
    return outcome(question, text, truth, model="judge", payload=payload, **values)


def test_judgements_by_hand() -> None:
    rows = [
        judgement("country", "True"),
        judgement("country", "It is False.", dish=2),
        judgement("country", "True or False?", dish=3),
        judgement("country", "", dish=4, state="failed"),
        judgement("intersection", "['rice']"),
        judgement("union", '["rice", "beans"]'),
        judgement("intersection", "none", dish=2),
        judgement("union", "['rice', 'beans']", dish=2),
    ]
    table = JUDGE.summarise("fields", rows, None)
    assert (value(table, "judged", field="country"), found(table, "judged", field="country").n) == (50, 2)
    assert value(table, "difference", field="country") == -50
    assert (value(table, "judged", field="ingredients"), found(table, "judged", field="ingredients").n) == (50, 1)
    assert value(table, "read", field="ingredients") == 50


def test_a_judge_needs_answers() -> None:
    Run.objects.create(study="knowledge", slug="empty")
    with pytest.raises(ConfigError, match="holds no answer about countries"):
        JUDGE.plan(JudgingConfig(answers="empty"), DatabaseCatalogue())
    with pytest.raises(ConfigError, match="empty"):
        JUDGE.plan(JudgingConfig(answers="emty"), DatabaseCatalogue())


def test_answers_about_a_withdrawn_dish_are_not_judged() -> None:
    dish = make_waakye()
    work_off(runner.create_run("knowledge", {"samples": 1}, slug="known"))
    assert len(DatabaseCatalogue().answers("known")) == 6
    Dish.objects.filter(pk=dish.pk).update(state=Dish.State.WITHDRAWN)
    assert list(DatabaseCatalogue().answers("known")) == []


def test_the_preset_is_one_of_this_study() -> None:
    assert set(presets.of_study("knowledge")) == {"knowledge-as-published"}
    assert parse_config(STUDY, {"preset": "knowledge-as-published", "models": ["standin-chat"]}).samples == 5


def test_several_models_are_asked_the_same_in_one_run() -> None:
    make_waakye()
    make_model("other", role="chat", backend="standin", identifier="other")
    run = runner.create_run("knowledge", {"models": ["standin-chat", "other"], "samples": 1})
    work_off(run)
    assert set(run.definition["models"]) == {"standin-chat", "other"}
    assert Outcome.objects.filter(unit__run=run, unit__model__slug="other").count() == 6


def killed(*given: Any, **named: Any) -> NoReturn:
    raise KeyboardInterrupt


@pytest.mark.usefixtures("at_home")
def test_a_faulty_provider_ends_with_every_unit_accounted_for(
    server: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors that pass, refusals, bodies that are no JSON; a worker that dies in the middle; tokens are paid for."""
    for number in range(40):
        make_waakye(name=f"Dish {number}")
    price = {"currency": "USD", "date": "2026-01-01", "per_million_input": 2.0, "per_million_output": 10.0}
    given = {"base_url": f"{server.url}/v1", "queue": "api", "timeout": 5}
    Model.objects.create(
        slug="answerer", title="A", role="chat", backend="openai", identifier="answerer", parameters=given, price=price
    )
    refusal = error(400, "No.", "content_policy_violation", "invalid_request_error")
    usage = {"prompt_tokens": 100, "completion_tokens": 20}
    faults: Sequence[Any] = [error(503, "Busy."), refusal, "noise"]
    script = [faults[n % 3] if n % 17 == 5 else says("['rice']", usage=usage) for n in range(400)]
    server.script = list(script)
    run = runner.create_run("knowledge", {"models": ["answerer"], "samples": 1})
    with monkeypatch.context() as dying, pytest.raises(KeyboardInterrupt):
        # A signal comes to the thread that computes: here it stores too.
        dying.setattr(DirectTransport, "allows_threads", lambda self: False)
        dying.setattr(leases, "finish_units", killed)
        runner.process_run(run.pk, "killed")
    lost = len(server.calls)
    Batch.objects.update(until=Now() - timedelta(seconds=1))
    assert (leases.release_expired(), Outcome.objects.count()) == (1, 0)
    work_off(run)
    used = script[lost : len(server.calls)]
    states = Counter(Unit.objects.filter(run=run).values_list("state", flat=True))
    assert run.state == Run.State.DONE
    assert states.total() == Outcome.objects.filter(unit__run=run).count() == 240
    assert (states["refused"], states["failed"]) == (used.count(refusal), used.count("noise"))
    paid = price_of(price)
    assert paid is not None
    assert runner.forecast_run(run).spent == {
        "USD": pytest.approx(paid.spent(0, states["done"] * 100, states["done"] * 20))
    }


@pytest.mark.torch
def test_a_model_on_own_cards_answers_the_same_in_any_batch(tmp_path: Path) -> None:
    from evaluation.backends.local_chat import LocalChat

    asked = [Conversation(({"role": "user", "content": f"dish {n}"},), seed=n % 3) for n in range(5)]
    given = {"most_new_tokens": 6, "temperature": 0.8, "top_p": 0.9}
    model = ModelData(1, "tiny", "chat", "transformers", str(save_chat(tmp_path)), "", given)
    together = [answer.text for answer in LocalChat(model).converse(asked)]
    alone = [answer.text for one in asked for answer in LocalChat(model).converse([one])]
    assert together == alone
    assert len(set(together)) > 1
    greedy = ModelData(1, "tiny", "chat", "transformers", str(tmp_path), "", {**given, "temperature": 0})
    [first, second] = LocalChat(greedy).converse([asked[0], Conversation(asked[0].messages, seed=9)])
    assert first.text == second.text


@pytest.mark.torch
def test_a_tokenizer_that_fills_nothing_up_is_filled_up_with_its_end(tmp_path: Path) -> None:
    from evaluation.backends.local_chat import LocalChat

    file = save_chat(tmp_path) / "tokenizer_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "pad_token": None}))
    chat = LocalChat(ModelData(1, "tiny", "chat", "transformers", str(tmp_path), "", {"most_new_tokens": 1}))
    assert chat.tokenizer.pad_token == "<|endoftext|>"
    ended = chat.answer(chat.tokenizer("<|endoftext|>", add_special_tokens=False, return_tensors="pt")["input_ids"][0])
    assert (ended.state, ended.reason) == ("empty", "The model wrote no words.")


@pytest.mark.torch
def test_a_language_model_without_a_template_for_conversations_is_refused(tmp_path: Path) -> None:
    (save_chat(tmp_path) / "chat_template.jinja").unlink()
    model = ModelData(1, "tiny", "chat", "transformers", str(tmp_path), "", {})
    with pytest.raises(BackendError, match="without a chat template"):
        backends.load_backend(model)


@pytest.mark.torch
def test_noise_draws_tokens_with_their_own_probabilities() -> None:
    """10,000 seeds: shares within four standard errors of softmax(scores ÷ temperature) within the top p."""
    import torch

    from evaluation.backends.local_chat import Sampler, mask_outside_top_p

    scores = torch.tensor([[2.0, 1.0, 0.0, -4.0]])
    drawn = Sampler(range(10_000), 0.5, 0.97)(torch.empty(0), scores.repeat(10_000, 1)).argmax(dim=-1)
    chances = torch.softmax(scores[0, :2] / 0.5, dim=-1)
    shares = torch.bincount(drawn, minlength=4) / 10_000
    assert shares[2:].tolist() == [0, 0]
    errors = (chances * (1 - chances) / 10_000).sqrt()
    assert bool(((shares[:2] - chances).abs() < 4 * errors).all())
    everything = torch.log_softmax(scores, dim=-1)
    assert torch.equal(mask_outside_top_p(everything, 1.0), everything)
