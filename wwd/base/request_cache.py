"""What is asked of the database once in a request: answers that nothing changes while it is answered."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar, cast

T = TypeVar("T")
_answers: ContextVar[dict[str, Any] | None] = ContextVar("asked", default=None)


@contextmanager
def asking_once() -> Iterator[None]:
    """Within it `asked` keeps its answers; they are forgotten after it."""
    token = _answers.set({})
    try:
        yield
    finally:
        _answers.reset(token)


def get_or_compute_answer(name: str, ask: Callable[[], T]) -> T:
    """The answer under this name: the first one within `asking_once`, a new one each time outside of it."""
    answers = _answers.get()
    if answers is None:
        return ask()
    if name not in answers:
        answers[name] = ask()
    return cast(T, answers[name])
