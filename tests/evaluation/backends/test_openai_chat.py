"""The OpenAI-compatible chat backend against a local server that speaks the protocol with its errors."""

import base64
from typing import Any

import pytest

from evaluation import content_store, runner
from evaluation.backends import load_backend
from evaluation.backends import provider as calls
from evaluation.backends.openai_chat import OpenAIChat, data_url
from evaluation.contracts.backend import Answer, Asked, BackendError, Question
from evaluation.contracts.study import ModelData
from evaluation.models import Batch, Model, Outcome, Run
from evaluation.runner.catalogue import model_data
from tests.evaluation.make import make_image, make_subject
from tests.evaluation.make import make_model as make_any_model
from tests.evaluation.provider import REFUSAL, SLOW, Provider, error, png, says
from tests.evaluation.tiny_models import make_image_bytes

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at_home")]


def make_model(server: Provider, role: str = "vqa", **parameters: Any) -> ModelData:
    given = {"base_url": f"{server.url}/v1", "queue": "api", "timeout": 5, **parameters}
    price = {"currency": "USD", "date": "2026-01-01", "per_million_input": 2.0, "per_million_output": 10.0}
    row = Model.objects.create(
        slug="answerer", title="A", role=role, backend="openai", identifier="answerer", parameters=given, price=price
    )
    return model_data(row)


def ask(server: Provider, *answers: Any, **parameters: Any) -> Answer:
    server.script = list(answers)
    return OpenAIChat(make_model(server, **parameters)).chat([{"role": "user", "content": "Is this food?"}])


def test_an_image_goes_along_with_the_question_at_temperature_zero(server: Provider) -> None:
    asked = [Asked(png(), (Question("Is this food?"), Question("Where?")))]
    answers = next(OpenAIChat(make_model(server, options={"max_tokens": 5})).answer(asked, "generated"))
    assert [answer.text for answer in answers] == ["B", "B"]
    first, second = server.calls
    assert (first["path"], first["authorization"]) == ("/v1/chat/completions", "Bearer sk-test")
    assert (first["model"], first["temperature"], first["max_tokens"]) == ("answerer", 0, 5)
    [message] = second["messages"]
    image, text = message["content"]
    assert image["image_url"]["url"] == f"data:image/png;base64,{base64.b64encode(png()).decode()}"
    assert text == {"type": "text", "text": "Where?"}


def test_the_models_own_temperature_stands(server: Provider) -> None:
    OpenAIChat(make_model(server, options={"temperature": 0.6})).chat(
        [{"role": "user", "content": "?"}], {"temperature": 0}
    )
    assert server.calls[0]["temperature"] == 0.6


def test_answers_are_short_by_default_and_an_option_that_is_null_is_not_sent(server: Provider) -> None:
    asked = [Asked(png(), (Question("?"),))]
    model = make_model(server, options={"temperature": None, "max_completion_tokens": 9})
    list(next(OpenAIChat(model).answer(asked, "generated")))
    [sent] = server.calls
    assert "temperature" not in sent
    assert (sent["max_tokens"], sent["max_completion_tokens"]) == (32, 9)


def test_each_question_goes_with_its_own_image_however_late_it_is_read(server: Provider) -> None:
    asked = [Asked(png(), (Question("?"),)), Asked(make_image_bytes(seed=1), (Question("?"),))]
    for answers in list(OpenAIChat(make_model(server)).answer(asked, "generated")):
        list(answers)
    sent = [call["messages"][0]["content"][0]["image_url"]["url"] for call in server.calls]
    assert sent == [data_url(each.image) for each in asked]


def test_an_answer_comes_with_tokens_and_what_served_it(server: Provider) -> None:
    answer = ask(server, says("B", usage={"prompt_tokens": 1200, "completion_tokens": 3}))
    noted = {"input_tokens": 1200, "output_tokens": 3, "served_model": "answerer-0613", "request": "req_2", "calls": 1}
    assert noted.items() <= dict(answer.circumstances).items()


@pytest.mark.parametrize(
    ("given", "state", "text"),
    [
        (says("The answer is B."), "done", "The answer is B."),
        (says([{"type": "text", "text": "It is "}, {"type": "text", "text": "B."}]), "done", "It is B."),
        (says("It is a long", finish="length"), "done", "It is a long"),
        (says(None, refusal="I will not say."), "refused", "I will not say."),
        (REFUSAL, "refused", "Your request was rejected."),
        (says("Half of", finish="content_filter"), "filtered", "Half of"),
        (says(""), "empty", ""),
        (says(None), "empty", ""),
        ((200, {}, {"choices": []}), "empty", ""),
        ((200, {}, {"choices": ["B"]}), "empty", ""),
        ((200, {}, {"choices": [{"message": "B"}]}), "empty", ""),
        ((200, {}, {"error": "odd"}), "failed", ""),
        ((200, {}, {"choices": [{"message": {"content": 4}}], "usage": 7}), "empty", ""),
        ("noise", "failed", ""),
        (error(400, "Too long.", "context_length_exceeded"), "failed", ""),
    ],
)  # fmt: skip
def test_what_comes_is_told_apart(server: Provider, given: Any, state: str, text: str) -> None:
    answer = ask(server, given)
    assert (answer.state, answer.text) == (state, text)
    assert bool(answer.reason) == (state != "done")
    assert len(server.calls) == 1


@pytest.mark.parametrize("trouble", [SLOW, error(429, "Slow down."), error(503, "Busy."), "cut"])
def test_what_passes_is_asked_again(server: Provider, trouble: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "SLOW_DOWN", 0.1)
    answer = ask(server, trouble, says("B"))
    assert (answer.text, answer.circumstances["calls"]) == ("B", 2)


def test_an_answer_that_drips_for_ever_fails_in_time(server: Provider) -> None:
    assert ask(server, "drip", timeout=0.5).state == "failed"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (error(429, "You exceeded your quota.", "insufficient_quota"), "nothing left to spend"),
        (error(401, "Bad key.", "invalid_api_key"), "does not accept"),
        (error(404, "No such model.", "model_not_found"), "does not accept"),
    ],
)
def test_what_concerns_every_question_stops_the_run(server: Provider, given: Any, sentence: str) -> None:
    with pytest.raises(BackendError, match=sentence):
        ask(server, given)


def test_a_provider_has_no_probabilities(server: Provider) -> None:
    with pytest.raises(BackendError, match="generated"):
        list(OpenAIChat(make_model(server)).answer([Asked(png(), (Question("?"),))], "logits"))


def test_a_conversation_without_an_image(server: Provider) -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where is waakye from?"}]
    assert load_backend(make_model(server, role="chat")).chat(messages).text == "B"
    assert server.calls[0]["messages"] == messages
    assert "temperature" not in server.calls[0]


def make_run(server: Provider, images: int = 1) -> Run:
    make_model(server)
    made = Run.objects.create(study="generation", slug="pictures", state=Run.State.DONE)
    painter = make_any_model("painter")
    for number in range(images):
        make_image(
            make_subject(f"Dish {number}"),
            painter,
            run=made,
            sha256=content_store.store_content(make_image_bytes(seed=number)),
        )
    return runner.create_run("stereotypes", {"images": "pictures", "model": "answerer", "orders": "as-asked"})


def test_answers_that_were_paid_for_are_kept_where_the_quota_ends(server: Provider) -> None:
    run = make_run(server)
    server.script = [says("B"), says("B"), error(429, "You exceeded your quota.", "insufficient_quota")]
    runner.process_run(run.pk, "tests")
    run.refresh_from_db()
    assert run.state == Run.State.PAUSED
    assert run.units.filter(state="done").count() == 2
    Run.objects.update(state="running")
    while runner.process_run(run.pk, "tests"):
        pass
    assert run.units.filter(state="done").count() == 16
    assert len(server.calls) == 17


def test_a_worker_takes_one_image_at_a_time_to_a_provider(server: Provider) -> None:
    run = make_run(server, images=3)
    while runner.process_run(run.pk, "tests"):
        pass
    assert run.units.filter(state="done").count() == 48
    assert Batch.objects.filter(run=run).count() == 3


def test_a_run_keeps_raw_answers_refusals_and_cost(server: Provider) -> None:
    server.script = [REFUSAL]
    run = make_run(server)
    assert run.queue == "api"
    while runner.process_run(run.pk, "tests"):
        pass
    states = list(run.units.order_by("pk").values_list("state", flat=True))
    assert states == ["refused", *["done"] * 15]
    refused = Outcome.objects.get(unit__run=run, unit__state="refused")
    assert (refused.text, refused.reason) == ("Your request was rejected.", "content_policy_violation")
    assert len(server.calls) == 16
