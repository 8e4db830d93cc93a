"""Calls of a provider: fewer images than asked for, images in every wrapping, waits, redirects, bounds."""

import base64
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any
from urllib.parse import quote

import pytest
from pytest_django import Settings

from evaluation.backends import provider as calls
from evaluation.backends import rate_limit
from evaluation.backends.openai_images import OpenAIImages, decode_base64_image
from evaluation.backends.provider import check_host, compute_backoff
from evaluation.contracts.backend import BackendError, ImageRequest
from evaluation.contracts.study import ModelData, Result
from tests.evaluation.provider import ODD_TYPES, SLOW, Answer, Provider, addresses, error, image_answer, png
from wwd.base.fetching import FetchError

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at_home"), pytest.mark.embedded]


def model(server: Provider, **parameters: Any) -> ModelData:
    given = {"base_url": f"{server.url}/v1", "timeout": 5, **parameters}
    return ModelData(1, "dalle", "image_generator", "openai", "dall-e-3", "", given)


def ask(backend: OpenAIImages, n: int, prompt: str = "Draw waakye") -> list[Result]:
    requests = [ImageRequest(f"{prompt}/{number}", prompt, "Waakye", sample=number) for number in range(n)]
    return list(backend.generate(requests))


def test_a_server_that_gives_one_of_three_is_asked_one_by_one_from_then_on(server: Provider) -> None:
    server.chooses = lambda body: image_answer(1)
    backend = OpenAIImages(model(server, n=3))
    results = ask(backend, 3) + ask(backend, 3, "Draw fufu")
    assert [result.state for result in results] == ["done"] * 6
    assert [result.image.sample for result in results if result.image] == [0, 1, 2] * 2
    assert [call["n"] for call in server.calls] == [3, 1, 1, 1, 1, 1]
    assert {result.circumstances.get("gives") for result in results} == {1}


def test_a_server_that_gives_what_it_is_asked_for_stays_asked_for_many(server: Provider) -> None:
    results = ask(OpenAIImages(model(server, n=3)), 6)
    assert [call["n"] for call in server.calls] == [3, 3]
    assert all("gives" not in result.circumstances for result in results)


def test_a_server_that_gives_nothing_is_not_asked_again(server: Provider) -> None:
    server.chooses = lambda body: (200, {}, {"data": []})
    assert [result.state for result in ask(OpenAIImages(model(server, n=3)), 3)] == ["empty"] * 3
    assert len(server.calls) == 1


PNG = base64.b64encode(png()).decode()


@pytest.mark.parametrize(
    "text",
    [
        PNG,
        f"data:image/png;base64,{PNG}",
        f"DATA:;base64,{PNG}",
        f" {PNG}\r\n",
        "\n".join(PNG[start : start + 60] for start in range(0, len(PNG), 60)),
        base64.urlsafe_b64encode(png()).decode(),
        PNG.rstrip("="),
        f"data:image/png;base64,{PNG.replace('+', '%2B').replace('/', '%2F')}",
        f"data:image/png,{quote(png())}",
    ],
)
def test_base64_is_read_as_providers_write_it(text: str) -> None:
    assert decode_base64_image(text) == png()


@pytest.mark.parametrize("text", ["%%%", "data:", "data:image/png;base64", "a", "é", "data:image/png;base64,%%"])
def test_what_is_no_base64_fails_with_a_sentence(text: str) -> None:
    with pytest.raises(FetchError, match="cannot be decoded"):
        decode_base64_image(text)


@pytest.mark.parametrize("what", ODD_TYPES)
def test_an_image_is_known_by_its_content_and_not_by_its_header(server: Provider, what: str) -> None:
    server.script = [addresses(f"{server.url}/pictures/{what}")]
    [result] = ask(OpenAIImages(model(server)), 1)
    assert result.image is not None
    assert result.image.content == png()


def test_what_is_no_image_is_none_whatever_its_header_says(server: Provider) -> None:
    page = base64.b64encode(b"<html>Log in</html>").decode()
    server.script = [(200, {}, {"data": [{"url": f"data:image/png;base64,{page}"}]})]
    [result] = ask(OpenAIImages(model(server)), 1)
    assert (result.state, result.reason) == ("failed", "What came is no image.")


def test_an_address_that_holds_its_image_is_not_fetched_without_the_setting(
    server: Provider, settings: Settings
) -> None:
    backend = OpenAIImages(model(server))
    settings.LOCAL_PROVIDERS = False
    server.script = [addresses(f"data:image/png;base64,{PNG}"), addresses(f"{server.url}/pictures/good")]
    assert [ask(backend, 1)[0].state for _ in range(2)] == ["done", "failed"]
    assert server.fetched == []


@pytest.mark.parametrize("status", [429, 503])
def test_a_wait_until_a_date_is_obeyed(server: Provider, status: int) -> None:
    until = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    server.script = [error(status, "Later.", Retry_After=until)]
    with pytest.raises(BackendError, match=r"asks to wait for [78][0-9] seconds|asks to wait for 90 seconds"):
        ask(OpenAIImages(model(server, patience=1)), 1)
    assert len(server.calls) == 1


@pytest.mark.parametrize("asked", ["1e300", "99999999999", "Sat, 28 Nov 2099 12:00:00 GMT"])
def test_no_provider_makes_anybody_wait_for_ever(server: Provider, asked: str) -> None:
    server.script = [error(429, "Later.", Retry_After=asked)]
    backend = OpenAIImages(model(server, patience=1))
    with pytest.raises(BackendError, match=r"asks to wait for 3[56][0-9][0-9] seconds"):
        ask(backend, 1)
    assert rate_limit.compute_wait_seconds(backend.provider.bucket) <= 3600


@pytest.mark.parametrize("asked", ["soon", "nan", "-1", "Sat, 28 Nov 2020 12:00:00 GMT", ""])
def test_a_wait_that_is_nonsense_is_none(server: Provider, asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "SLOW_DOWN", 0.01)
    server.script = [error(429, "Later.", Retry_After=asked)]
    [result] = ask(OpenAIImages(model(server)), 1)
    assert (result.state, result.circumstances["calls"]) == ("done", 2)


@pytest.mark.parametrize("answer", [(200, {}, SLOW[2]), (200, {}, {"error": {"code": 429, "message": "Slow."}})])
def test_an_error_that_says_it_went_well_is_an_error(
    server: Provider, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "SLOW_DOWN", 0.01)
    server.script = [answer, answer]
    [result] = ask(OpenAIImages(model(server)), 1)
    assert (result.state, result.circumstances["calls"]) == ("done", 3)


def test_a_provider_that_leads_elsewhere_is_not_followed(server: Provider) -> None:
    server.script = [(307, {"Location": f"{server.url}/v1/images/generations"}, {})]
    with pytest.raises(BackendError, match="what we send is wrong"):
        ask(OpenAIImages(model(server)), 1)
    assert len(server.calls) == 1


@pytest.mark.parametrize("how", ["drip 500", "drip 400"])
def test_an_error_that_drips_in_ends_after_the_time_in_all(server: Provider, how: str) -> None:
    server.script = [how]
    [result] = ask(OpenAIImages(model(server, timeout=0.5)), 1)
    assert (result.state, result.reason) == ("failed", "The provider's answer took too long or was too large.")


def test_a_provider_that_only_asks_to_slow_down_is_left_after_the_patience(
    server: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "SLOW_DOWN", 0.2)
    server.chooses = lambda body: error(429, "Slow down.")
    with pytest.raises(BackendError, match=r"asks to slow down again and again\. Its words: Slow down\."):
        ask(OpenAIImages(model(server, patience=0.5)), 1)


def test_a_try_that_follows_waits_longer_and_never_longer_than_a_call() -> None:
    assert [0.5 <= compute_backoff(tries, 60) / 2 ** (tries - 1) <= 1.5 for tries in (1, 2, 3)] == [True] * 3
    assert compute_backoff(9, 5) == 5


def test_a_key_is_taken_from_variables_of_keys_alone(server: Provider) -> None:
    with pytest.raises(BackendError, match=r"key of dalle is 'PATH'\. Accepted: a name that ends in _API_KEY"):
        OpenAIImages(model(server, key="PATH"))


def test_a_host_whose_name_is_not_found_at_the_moment_may_be_asked_later() -> None:
    assert check_host("https://provider.invalid/v1") == "provider.invalid"


def test_the_key_stands_in_no_words(server: Provider) -> None:
    server.script = [error(401, "The key sk-test is unknown.", "invalid_api_key")]
    with pytest.raises(BackendError, match=r"The key \[key\] is unknown"):
        ask(OpenAIImages(model(server)), 1)


def test_parameters_that_were_good_before_are_no_mistake_of_ours(server: Provider) -> None:
    """Then it is about this subject: it fails, and the run goes on."""
    backend = OpenAIImages(model(server))
    ask(backend, 1)
    server.script = [error(400, "Invalid value.", "invalid_value")]
    [result] = ask(backend, 1)
    assert (result.state, result.reason) == ("failed", "Invalid value.")
