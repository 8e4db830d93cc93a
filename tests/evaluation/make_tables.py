"""Builders for tests of tables: tidy tables, people, and an association run with vectors worked out by hand."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth.models import Permission, User

from evaluation.contracts.study import Result, SubjectData, UnitPlan
from evaluation.contracts.table import Filters, TableSpec
from evaluation.counters import bump_input_counters
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.models import Run
from evaluation.runner import import_run
from evaluation.studies.association.study import Sign, image_key, image_payload, text_key, text_payload
from tests.evaluation.make import make_image, make_model, make_place, vector_result

COLUMNS = ("country", "model")
# Words and images in two dimensions: cosine with "fine" is the first coordinate, with "poor" the second.
AXES: Mapping[Sign, tuple[float, float]] = {"positive": (1, 0), "negative": (0, 1)}
WORDS: Mapping[Sign, str] = {"positive": "fine", "negative": "poor"}


def make_row(country: str, model: str, metric: str = "food", **estimate: Any) -> TidyRow:
    values: dict[str, Any] = {
        "value": 0.5,
        "n": 40,
        "clusters": 12,
        "low": 0.4,
        "high": 0.6,
        "method": "bootstrap",
        **estimate,
    }
    return TidyRow({"country": country, "model": model}, metric, Estimate(**values))


def make_table(rows: Iterable[TidyRow] = (), **values: Any) -> TidyTable:
    fields: dict[str, Any] = {
        "name": "review.quality",
        "version": "1",
        "columns": COLUMNS,
        "rows": tuple(rows),
        **values,
    }
    return TidyTable(**fields)


def make_staff(*, may_see_tables: bool = True, name: str = "researcher") -> User:
    """Somebody on the staff, with or without the permission that the tables need."""
    user = User.objects.create_user(name, password="a long enough secret", is_staff=True)
    if may_see_tables:
        user.user_permissions.add(Permission.objects.get(codename="view_storedtable"))
    return user


def make_place_in(*continents: str) -> SubjectData:
    return make_place(" and ".join(continents), continent=list(continents))


def word_results(group: str = "taste") -> list[tuple[UnitPlan, Result]]:
    """One positive and one negative word."""
    encoder = make_model("encoder", role="encoder", backend="stored")
    results = []
    for sign, vector in AXES.items():
        payload = text_payload(f"A photo of {WORDS[sign]} food.", WORDS[sign], group, sign)
        key = text_key(payload)
        results.append(
            (UnitPlan(key, encoder, None, payload, "texts"), vector_result(key, *vector, text=payload["text"]))
        )
    return results


def image_result(subject: SubjectData, model: str, *vector: float, failed: bool = False) -> tuple[UnitPlan, Result]:
    """An image of `subject` by `model` with this vector."""
    encoder = make_model("encoder", role="encoder", backend="stored")
    image = make_image(subject, make_model(model))
    key = image_key(image.pk)
    plan = UnitPlan(key, encoder, subject, image_payload(image.pk), key)
    if failed:
        return plan, Result(key, "failed", reason="The file could not be read.")
    return plan, vector_result(key, *vector, image_id=image.pk)


def make_association(*images: tuple[UnitPlan, Result], slug: str = "vectors", demonstration: bool = False) -> Run:
    """A finished association run of these images with one word of each sign."""
    run, _new = import_run("association", slug, {"images": "test"}, [*word_results(), *images])
    Run.objects.filter(pk=run.pk).update(demonstration=demonstration)
    run.refresh_from_db()
    return run


def compute_while_reviews_arrive(filters: Filters) -> TidyTable:
    bump_input_counters("reviews")
    return make_table(name="test.restless")


RESTLESS = TableSpec(
    name="test.restless",
    title="A table whose input changes while it is computed",
    source="test",
    version="1",
    columns=COLUMNS,
    metrics={"food": "Share of food."},
    inputs=("reviews",),
    filters=(),
    compute=compute_while_reviews_arrive,
)
