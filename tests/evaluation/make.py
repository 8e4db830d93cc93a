"""Builders of evaluation rows: `make_model(backend="sketch")`."""

from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np

from collection.models import Country, Dish, DishContinent, DishCountry, DishLanguage, Source
from evaluation.contracts.study import ModelData, Result, SubjectData, UnitPlan, VectorResult
from evaluation.models import GeneratedImage, Model, Role, Subject
from evaluation.runner.catalogue import model_data, subject_data
from evaluation.subjects import subject_for

# All builders count on here: rows that two of them make in one database never share a key.
numbers = count(1)


def make_country(code: str = "GHA", name: str = "Ghana", continents: Sequence[str] = ("Africa",)) -> Country:
    return Country.objects.get_or_create(code=code, defaults={"name": name, "continents": list(continents)})[0]


def make_dish(name: str = "Waakye", *, country: Country | None = None, written: str = "", **values: Any) -> Dish:
    """An accepted dish with one country, its continents and one language."""
    country = country or make_country()
    values = {"number": 900_000 + next(numbers), "state": Dish.State.ACCEPTED, "ingredients": "rice", **values}
    dish = Dish.objects.create(local_name=name, **values)
    DishCountry.objects.create(dish=dish, name=written or country.name, country=country)
    DishLanguage.objects.create(dish=dish, name="Hausa", code="hau")
    for continent in country.continents:
        DishContinent.objects.create(dish=dish, continent=continent)
    return dish


def make_demonstration_dishes(number: int) -> list[Dish]:
    return [make_dish(f"Dish {n}", source=Source.DEMONSTRATION) for n in range(number)]


def make_subject(name: str = "Waakye", **values: Any) -> SubjectData:
    return subject_data(subject_for(make_dish(name, **values)))


def make_place(name: str = "Africa", **labels: list[str]) -> SubjectData:
    row = Subject.objects.create(kind="place", name=name, source_key=f"test:{next(numbers)}", labels=labels)
    return subject_data(row)


def make_model(
    slug: str = "painter", role: str = Role.IMAGE_GENERATOR, backend: str = "sketch", **values: Any
) -> ModelData:
    defaults = {"title": slug, "role": role, "backend": backend, "identifier": slug, **values}
    return model_data(Model.objects.get_or_create(slug=slug, defaults=defaults)[0])


def make_image(subject: SubjectData, model: ModelData, **values: Any) -> GeneratedImage:
    return GeneratedImage.objects.create(
        subject_id=subject.id, model_id=model.id, source_key=f"test:{next(numbers)}", **values
    )


def plan(key: str, model: ModelData, subject: SubjectData | None = None, **payload: Any) -> UnitPlan:
    return UnitPlan(key, model, subject, payload, affinity=key)


def vector_result(key: str, *values: float, image_id: int | None = None, text: str = "") -> Result:
    return Result(key, vector=VectorResult(np.array(values, dtype=np.float32), image_id=image_id, text=text))
