"""A public name belongs to one person, however it is spelled, and a second one gets a message beside the field."""

import ast
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from collection.dishes.submit import NameTakenError, store_personal_details
from collection.models import AboutYou, Contributor, Dish
from tests.collection.make import dish_form, make_contributor, page, stranger, tokens
from wwd.base.packages import PACKAGES

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[3]


def tell(alias: str) -> str:
    """Somebody new describes a dish and chooses a name; the page that follows."""
    person = make_contributor()
    more = page(stranger(), "/dish/", dish_form(person))
    photo = page(stranger(), "/more/", {"proof": tokens(more)["/more/"], "skip": "1"})
    thanks = page(stranger(), "/photo/", {"proof": tokens(photo)["/photo/"], "skip": "1"})
    about = {"alias": alias, "name": "Adwoa", "agree": "on", "proof": tokens(thanks)["/about/"]}
    answer = stranger().post("/about/", about)
    assert answer.status_code in (200, 422)
    return answer.content.decode()


@pytest.mark.parametrize("second", ["Mama Esi", "MAMA  ESI", "mama-esi", "Mámá Esi"])
def test_a_name_that_somebody_shows_is_refused_and_the_typing_stays(second: str) -> None:
    tell("Mama Esi")
    shown = tell(second)
    assert "Somebody else shows this name already" in shown
    assert second in shown or " ".join(second.split()) in shown
    assert list(Contributor.objects.exclude(alias="").values_list("alias", flat=True)) == ["Mama Esi"]
    assert AboutYou.objects.count() == 1
    assert Dish.objects.count() == 2


def test_somebody_who_is_faster_by_a_moment_keeps_the_name() -> None:
    """Between the question whether a name is free and the writing of it another person takes it."""
    first, second = make_contributor(), make_contributor()
    answers: dict[str, Any] = {"nationalities": [], "year_of_birth": None, "name": "", "email": ""}
    answers |= {"alias": "Mama Esi", "credit_me": False, "may_contact": False}

    taken: list[str] = []

    def take(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("UPDATE") and "alias_key" in sql and not taken:
            taken.append(sql)
            Contributor.objects.filter(pk=first.pk).update(alias="Mama Esi", alias_key="mama esi")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(take), pytest.raises(NameTakenError):
        store_personal_details(second, answers)
    second.refresh_from_db()
    assert second.alias == ""


def test_no_class_is_wrapped_in_a_transaction() -> None:
    """`@transaction.atomic` on a class makes a function of it, which no `except` accepts."""
    for app in PACKAGES:
        for path in (ROOT / app).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
                    assert not any("atomic" in decorator for decorator in decorators), f"{path}:{node.lineno}"
