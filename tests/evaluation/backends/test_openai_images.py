"""The OpenAI-compatible images backend against a local server that speaks the protocol with its errors."""

from typing import Any

import pytest
from pytest_django import Settings

from evaluation import backends
from evaluation.backends import provider as calls
from evaluation.backends import rate_limit, retry_after
from evaluation.backends.openai_images import OpenAIImages
from evaluation.contracts.backend import BackendError, ImageRequest
from evaluation.contracts.study import ModelData, Result
from evaluation.models import GeneratedImage, Model, Outcome, Run, TokenBucket, Unit
from evaluation.runner import create_run, forecast_run, process_run, retry_units
from evaluation.runner.catalogue import model_data
from evaluation.runner.progress import count_refusals, count_rewritten_prompts
from tests.evaluation.make import make_country, make_dish
from tests.evaluation.provider import REFUSAL, SLOW, Answer, Provider, addresses, error, image_answer, png

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at_home"), pytest.mark.embedded]


def make_model(server: Provider, **parameters: Any) -> ModelData:
    given = {"base_url": f"{server.url}/v1", "seeds": False, "queue": "api", "timeout": 5, **parameters}
    row = Model.objects.create(
        slug="dalle",
        title="Dall-E",
        role="image_generator",
        backend="openai",
        identifier="dall-e-3",
        parameters=given,
        price={"currency": "USD", "date": "2024-07-01", "per_unit": 0.04},
    )
    return model_data(row)


def ask(server: Provider, n: int = 1, **parameters: Any) -> list[Result]:
    requests = [ImageRequest(f"u{number}", "Draw waakye", "Waakye", sample=number) for number in range(n)]
    return list(OpenAIImages(make_model(server, **parameters)).generate(requests))


def test_an_image_comes_with_its_rewritten_prompt_and_the_providers_number(server: Provider) -> None:
    server.script = [image_answer(revised="A bowl of waakye", usage={"input_tokens": 50, "output_tokens": 4160})]
    [result] = ask(server, options={"size": "1024x1024", "response_format": "b64_json"})
    assert result.image is not None
    assert (result.image.content, result.image.prompt_revised) == (png(), "A bowl of waakye")
    assert (result.image.seed, result.image.sample) == (None, 0)
    noted = {"request": "req_1", "calls": 1, "n": 1, "input_tokens": 50, "output_tokens": 4160}
    assert noted.items() <= dict(result.circumstances).items()
    [sent] = server.calls
    assert (sent["model"], sent["prompt"], sent["size"]) == ("dall-e-3", "Draw waakye", "1024x1024")
    assert (sent["authorization"], sent["path"]) == ("Bearer sk-test", "/v1/images/generations")


def test_several_images_of_one_prompt_come_by_one_call(server: Provider) -> None:
    requests = [ImageRequest(f"u{number}", "Draw waakye", "Waakye", sample=number) for number in range(5)]
    results = list(OpenAIImages(make_model(server, n=2)).generate(requests))
    assert [call["n"] for call in server.calls] == [2, 2, 1]
    assert [result.image.sample for result in results if result.image] == [0, 1, 2, 3, 4]


def test_a_refused_prompt_costs_one_call_and_keeps_the_providers_words(server: Provider) -> None:
    server.script = [REFUSAL]
    [result] = ask(server)
    assert (result.state, result.reason) == ("refused", "content_policy_violation")
    assert "Your request was rejected." in result.text
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    ("answer", "state", "sentence"),
    [
        ((200, {}, {"created": 1, "data": []}), "empty", "gave 0 of 1 images"),
        ((200, {}, {"created": 1}), "empty", "gave 0 of 1 images"),
        ((200, {}, {"data": [{"b64_json": None, "url": None}]}), "empty", "holds no image"),
        ((200, {}, {"data": [{"b64_json": "%%%"}]}), "failed", "cannot be decoded"),
        ((200, {}, {"data": "soon"}), "empty", "gave 0 of 1"),
        ((200, {}, ["data"]), "failed", "not what the protocol says"),
        ("noise", "failed", "not what the protocol says"),
        (error(400, "Something about this.", "odd"), "failed", "Something about this."),
    ],
)
def test_strange_answers_end_their_unit_and_are_not_asked_again(
    server: Provider, answer: Answer | str, state: str, sentence: str
) -> None:
    server.script = [answer]
    [result] = ask(server)
    assert (result.state, len(server.calls)) == (state, 1)
    assert sentence in result.reason


@pytest.mark.parametrize("answer", [error(500, "Oh."), error(503, "Busy.", Retry_After="0"), "cut"])
def test_what_passes_is_tried_again(server: Provider, answer: Answer | str) -> None:
    server.script = [answer, answer]
    [result] = ask(server)
    assert (result.state, result.circumstances["calls"], len(server.calls)) == ("done", 3, 3)


def test_trying_again_has_an_end(server: Provider) -> None:
    server.script = [error(500, "Oh.")] * 9
    [result] = ask(server)
    assert (result.state, len(server.calls)) == ("failed", calls.MOST_TRIES)
    assert "Oh." in result.reason


def test_an_answer_that_drips_in_ends_after_the_time_in_all(server: Provider) -> None:
    server.script = ["drip"]
    [result] = ask(server, timeout=0.5)
    assert (result.state, result.reason) == ("failed", "The provider's answer took too long or was too large.")


def test_slow_down_holds_all_calls_with_this_key_and_is_no_failure(server: Provider) -> None:
    server.script = [SLOW, SLOW]
    [result] = ask(server)
    assert (result.state, result.circumstances["calls"]) == ("done", 3)
    assert server.times[2] - server.times[0] >= 0.4
    assert TokenBucket.objects.count() == 1


@pytest.mark.parametrize("code", ["insufficient_quota", "billing_hard_limit_reached"])
def test_no_quota_stops_at_once_with_the_providers_words(server: Provider, code: str) -> None:
    server.script = [error(429, "You exceeded your current quota.", code, Retry_After="0.1")]
    with pytest.raises(BackendError, match=r"nothing left to spend.*exceeded your current quota"):
        ask(server)
    assert len(server.calls) == 1


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_key_or_model_that_is_not_accepted_stops_at_once(server: Provider, status: int) -> None:
    server.script = [error(status, "Incorrect API key provided.")]
    with pytest.raises(BackendError, match="does not accept this key or model"):
        ask(server)
    assert len(server.calls) == 1


def test_a_wait_beyond_all_patience_stops_and_says_so(server: Provider) -> None:
    server.script = [error(429, "Slow down.", "rate_limit_exceeded", Retry_After="3600")]
    with pytest.raises(BackendError, match=r"asks to wait for 3[56][0-9][0-9] seconds"):
        ask(server, patience=1)


@pytest.mark.parametrize(
    ("what", "state"), [("good", "done"), ("busy", "done"), ("expired", "failed"), ("page", "failed")]
)
def test_images_at_addresses_are_fetched_at_once(server: Provider, what: str, state: str) -> None:
    server.script = [addresses(f"{server.url}/pictures/{what}")]
    [result] = ask(server)
    assert result.state == state
    assert (result.image.content if result.image else None) == (png() if state == "done" else None)


def test_addresses_inside_the_network_are_not_fetched_without_the_setting(server: Provider, settings: Settings) -> None:
    server.script = [addresses(f"{server.url}/pictures/good")]
    backend = OpenAIImages(make_model(server))
    settings.LOCAL_PROVIDERS = False
    [result] = backend.generate([ImageRequest("u", "Draw", "Waakye", sample=0)])
    assert (result.state, server.fetched) == ("failed", [])


def test_a_provider_inside_the_network_needs_the_setting(server: Provider, settings: Settings) -> None:
    settings.LOCAL_PROVIDERS = False
    with pytest.raises(BackendError, match="WWD_LOCAL_PROVIDERS"):
        backends.load_backend(make_model(server))


@pytest.mark.parametrize("name", ["SECRET_KEY", "DATABASE_URL", "_API_KEY", "openai_api_key", "OPENAI_API_KEY\n"])
def test_only_variables_that_are_keys_can_be_named(server: Provider, name: str) -> None:
    with pytest.raises(BackendError, match="ends in _API_KEY"):
        backends.load_backend(make_model(server, key=name))


def test_a_missing_key_says_which_variable_to_set(server: Provider) -> None:
    with pytest.raises(BackendError, match="set OTHER_API_KEY"):
        backends.load_backend(make_model(server, key="OTHER_API_KEY"))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"retry-after": "7"}, 7),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT", "x-ratelimit-reset-requests": "1m30s"}, 90),
        ({"x-ratelimit-reset-requests": "6m0s", "x-ratelimit-reset-tokens": "20ms"}, 360),
        (
            {
                "x-ratelimit-reset-requests": "6m0s",
                "x-ratelimit-reset-tokens": "20ms",
                "x-ratelimit-remaining-tokens": "0",
            },
            0.02,
        ),
        ({"retry-after": "soon", "x-ratelimit-reset-requests": "a while"}, 0),
    ],
)
def test_the_wait_that_a_provider_asks_for_is_read_from_its_headers(headers: dict[str, str], seconds: float) -> None:
    assert retry_after.asked_wait(headers) == pytest.approx(seconds)


def make_run(server: Provider, names: list[str], **parameters: Any) -> Run:
    for name in names:
        make_dish(name, country=make_country())
    make_model(server, **parameters)
    return create_run("generation", {"model": "dalle", "images_per_subject": 1})


def states(run: Run) -> dict[str, str]:
    return dict(run.units.values_list("subject__name", "state"))


def test_a_run_keeps_refusals_as_results_and_asks_each_once(server: Provider) -> None:
    run = make_run(server, ["Waakye", "Please refuse", "Ugali"])
    process_run(run.pk, "a")
    process_run(run.pk, "b")
    assert states(run) == {"Waakye": "done", "Please refuse": "refused", "Ugali": "done"}
    assert len(server.calls) == 3
    refused = GeneratedImage.objects.get(state="refused")
    assert (refused.sha256, refused.sample, refused.media_type) == ("", 0, "")
    assert GeneratedImage.objects.filter(state="held").first().media_type == "image/png"  # type: ignore[union-attr]
    assert Outcome.objects.get(unit__state="refused").reason == "content_policy_violation"
    assert forecast_run(run).spent == {"USD": pytest.approx(0.08)}


def test_a_run_without_quota_pauses_keeps_what_it_paid_for_and_goes_on_later(server: Provider) -> None:
    run = make_run(server, ["Waakye", "Ugali", "Mole"])
    server.script = [image_answer(), error(429, "You exceeded your current quota.", "insufficient_quota")]
    process_run(run.pk, "a")
    run.refresh_from_db()
    assert run.state == "paused"
    assert "nothing left to spend" in run.problem
    assert states(run) == {"Waakye": "done", "Ugali": "pending", "Mole": "pending"}
    Run.objects.update(state="running")
    process_run(run.pk, "a")
    assert set(states(run).values()) == {"done"}
    assert len(server.calls) == 4


def test_a_failed_call_can_be_tried_again_by_hand(server: Provider) -> None:
    run = make_run(server, ["Waakye"])
    server.script = [error(400, "Something about this.", "odd")]
    process_run(run.pk, "a")
    assert retry_units(run) == 1
    process_run(run.pk, "a")
    assert (states(run), Unit.objects.get().earlier.count()) == ({"Waakye": "done"}, 1)


def test_a_hold_that_is_longer_than_the_next_stays(server: Provider) -> None:
    rate_limit.pause_calls("key", 30)
    rate_limit.pause_calls("key", 1)
    assert 25 < rate_limit.compute_wait_seconds("key") <= 30


def test_slow_down_without_a_time_waits_a_while_and_goes_on(server: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "SLOW_DOWN", 0.3)
    server.script = [error(429, "Slow down.", "rate_limit_exceeded")]
    [result] = ask(server)
    assert (result.state, result.circumstances["calls"]) == ("done", 2)
    assert server.times[1] - server.times[0] >= 0.25


def test_refusals_and_rewritten_prompts_are_counted_per_country_and_language(server: Provider) -> None:
    run = make_run(server, ["Waakye", "Please refuse", "Ugali"])
    server.script = [
        image_answer(revised="A photograph of waakye from Ghana, ready to be eaten"),
        REFUSAL,
        image_answer(revised="A photograph of a West African dish"),
    ]
    process_run(run.pk, "a")
    for dimension, label in (("country", "Ghana"), ("language", "hau")):
        [refused] = count_refusals(run, dimension)
        assert (refused.label, refused.n, refused.category) == (label, 1, "content_policy_violation")
        assert "Your request was rejected." in refused.words
        [row] = count_rewritten_prompts(run, dimension)
        assert (row.label, row.n, row.name_kept, row.countries_kept) == (label, 2, 1, 1)
    kept = set(GeneratedImage.objects.exclude(prompt_revised="").values_list("prompt_sent", "prompt_revised"))
    assert len(kept) == 2
    assert {sent for sent, _ in kept} < {call["prompt"] for call in server.calls}


def test_the_published_preset_asks_for_all_images_of_a_dish_at_once(server: Provider) -> None:
    make_dish("Waakye")
    row = Model.objects.get(slug="dall-e-2")
    row.parameters |= {"base_url": f"{server.url}/v1", "per_minute": 0}
    row.save()
    run = create_run("generation", {"preset": "as-published-dishes", "model": "dall-e-2"})
    process_run(run.pk, "a")
    [sent] = server.calls
    assert (sent["n"], sent["size"], sent["model"]) == (5, "512x512", "dall-e-2")
    assert list(GeneratedImage.objects.order_by("pk").values_list("sample", "seed")) == [(n, None) for n in range(5)]
