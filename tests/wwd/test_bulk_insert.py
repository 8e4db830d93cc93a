"""Rows inserted from plain values come back as they were, whatever they hold; what no row can hold is refused."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.db import DataError, IntegrityError, transaction
from django.utils import timezone

from evaluation.models import Batch, DescriptorSet, Embedding, InputCounter, PromptTemplate, Run, Subject
from tests.evaluation.make import make_model
from wwd.base.postgresql import bulk_insert
from wwd.base.postgresql.bulk_insert import insert_rows

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
PROMPT = ("slug", "version", "text", "source")
SET = ("slug", "version", "groups", "prompt", "source")
HOSTILE = (
    "",
    " ",
    "\\N",
    "\\.",
    "\\",
    "\\\\N\\",
    "N",
    "a\tb\nc\rd\x0b\x0c\x08\x1f\x7f",
    "\\t\\n\\x41\\101",
    "\r\n\r\n",
    "\n\\.\n",
    "'); DROP TABLE evaluation_run; --",
    '"quoted", {"json": null}, $1 %s %(a)s {0}',
    "ဒံပေါက် कढ़ी 🍲👩🏽‍🍳 \u2028\u202e\ufeff\uffff\U0010ffff",
    "x" * 100_000,
)


def prompt_rows(texts: tuple[str, ...]) -> Iterator[tuple[str, str, str, str]]:
    return (("hostile", str(number), text, text[:200]) for number, text in enumerate(texts))


def stored_prompts() -> list[tuple[str, str]]:
    return list(PromptTemplate.objects.filter(slug="hostile").order_by("pk").values_list("text", "source"))


def test_every_text_comes_back_as_it_was() -> None:
    assert insert_rows(PromptTemplate, PROMPT, prompt_rows(HOSTILE)) == len(HOSTILE)
    assert stored_prompts() == [(text, text[:200]) for text in HOSTILE]


def test_every_text_in_json_comes_back_as_it_was() -> None:
    groups = {"texts": list(HOSTILE), "numbers": [1.5, -3, 2**53], "none": None, "truth": [True, False], "": {"\\": {}}}
    insert_rows(DescriptorSet, SET, [("hostile", "1", groups, "{descriptor}", "")])
    assert DescriptorSet.objects.get(slug="hostile").groups == groups


def test_ids_and_times_come_back_and_nothing_is_not_an_empty_text() -> None:
    run, token, until = Run.objects.create(study="s", study_version="1", slug="r"), uuid4(), timezone.now()
    insert_rows(Batch, ("token", "run_id", "worker", "until", "finished_at"), [(token, run.pk, "", until, None)])
    batch = Batch.objects.get(pk=token)
    assert (batch.run_id, batch.worker, batch.until, batch.finished_at) == (run.pk, "", until, None)
    assert batch.created_at is not None, "the database fills in its own defaults"


def test_bytes_come_back() -> None:
    content = bytes(range(256))
    fields = ("model_id", "preprocessing", "image_id", "text", "text_hash", "dimensions", "vector")
    insert_rows(Embedding, fields, [(make_model("encoder", role="encoder").id, "", None, "t", "h", 64, content)])
    assert bytes(Embedding.objects.get().vector) == content


def test_truth_values_come_back() -> None:
    fields = ("kind", "name", "source_key", "labels", "demonstration")
    insert_rows(Subject, fields, [("dish", "Waakye", str(truth), {}, truth) for truth in (True, False)])
    assert [row.demonstration for row in Subject.objects.order_by("pk")] == [True, False]


def test_a_choice_is_stored_as_its_value() -> None:
    insert_rows(PromptTemplate, PROMPT, [("hostile", "1", Run.State.PLANNED, "")])
    assert stored_prompts() == [("planned", "")]


def test_rows_of_several_statements_keep_their_order_and_ids_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_insert, "MOST_ROWS", 2)
    texts = ("e", "d", "c", "b", "a")
    assert insert_rows(PromptTemplate, PROMPT, prompt_rows(texts)) == 5
    assert [text for text, _ in stored_prompts()] == list(texts)
    last = PromptTemplate.objects.order_by("pk").last()
    assert last is not None
    assert PromptTemplate.objects.create(slug="next", version="1", text="").pk == last.pk + 1


def test_no_rows_are_no_statement() -> None:
    assert insert_rows(PromptTemplate, PROMPT, []) == 0


@pytest.mark.parametrize("text", ["\ud800", "a\udfff", "\ud83d 🍲"])
def test_half_of_a_surrogate_pair_is_refused_and_the_transaction_goes_on(text: str) -> None:
    with pytest.raises(ValueError, match="surrogates not allowed"), transaction.atomic():
        insert_rows(PromptTemplate, PROMPT, prompt_rows(("good", text)))
    assert stored_prompts() == []


def test_a_row_that_breaks_a_constraint_takes_back_those_beside_it() -> None:
    insert_rows(InputCounter, ("name", "value"), [("there", 1)])
    with pytest.raises(IntegrityError), transaction.atomic():
        insert_rows(InputCounter, ("name", "value"), [("new", 1), ("there", 2)])
    assert list(InputCounter.objects.filter(name__in=["new", "there"]).values_list("name", "value")) == [("there", 1)]


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("value", "error"),
    [("a\x00b", ValueError), (object(), TypeError), (1.5, TypeError), (["a"], TypeError), (None, IntegrityError)],
)
def test_a_value_that_no_text_column_takes_is_refused(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error), transaction.atomic():
        insert_rows(PromptTemplate, PROMPT, [("hostile", "1", "good", ""), ("hostile", "2", value, "")])
    assert stored_prompts() == []


@pytest.mark.postgres
@pytest.mark.parametrize("value", ["\x00", "\ud800", float("nan"), {"\x00": 1}], ids=["NUL", "half", "nan", "key"])
def test_json_that_no_column_takes_is_refused(value: Any) -> None:
    with pytest.raises(DataError), transaction.atomic():
        insert_rows(DescriptorSet, SET, [("hostile", "1", {"value": value}, "", "")])
    assert not DescriptorSet.objects.filter(slug="hostile").exists()


@pytest.mark.postgres
def test_a_text_that_is_too_long_for_its_column_is_refused() -> None:
    with pytest.raises(DataError, match="value too long"), transaction.atomic():
        insert_rows(PromptTemplate, PROMPT, [("hostile", "v" * 41, "", "")])
