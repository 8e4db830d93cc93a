"""All published dishes' worth of questions to a provider that errs, refuses and babbles, by workers that are killed."""

import json
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.evaluation import provider as local
from tests.faults.installation import Site

DISHES, SAMPLES, QUESTIONS = 765, 2, 6
UNITS = DISHES * SAMPLES * QUESTIONS
KILLS = 8
TOKENS = {"prompt_tokens": 100, "completion_tokens": 20}

PLAN = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from evaluation.models import Model
from evaluation.runner import announce_run, create_run
from tests.evaluation.make import make_dish
for number in range({dishes}):
    make_dish(f"Dish {{number}}", time_of_day=["lunch"], kinds=["soup"], utensils="spoon")
Model.objects.create(
    slug="answerer", title="A", role="chat", backend="openai", identifier="answerer",
    parameters={{"base_url": "{url}/v1", "queue": "api", "timeout": 10}},
    price={{"currency": "USD", "date": "2026-01-01", "per_million_input": 2.0, "per_million_output": 10.0}},
)
announce_run(create_run("knowledge", {{"models": ["answerer"], "samples": {samples}}}, slug="asked"))
"""
COUNT = """
import json, django; django.setup()
from collections import Counter
from django.db.models import Max, Sum
from evaluation import runner
from evaluation.models import Outcome, Run, Unit
run = Run.objects.get()
calls = [row.get("calls", 0) for row in Outcome.objects.values_list("circumstances", flat=True)]
print(json.dumps({
    "run": run.state,
    "states": dict(Counter(Unit.objects.values_list("state", flat=True))),
    "outcomes": Outcome.objects.count(),
    "deliveries": Unit.objects.aggregate(most=Max("deliveries"))["most"],
    "spent": runner.forecast_run(run).spent["USD"],
    "retried": sum(number > 1 for number in calls),
    "reasons": sorted(set(Outcome.objects.filter(unit__state="failed").values_list("reason", flat=True))),
}))
"""


class Faulty(local.Provider):
    """5 % errors that pass, 2 % refusals, 1 % bodies that are no JSON, drawn call by call; `gave` counts them."""

    def __init__(self) -> None:
        super().__init__()
        self.draw = random.Random(11)
        self.gave: Counter[str] = Counter()

    def answer(self, body: dict[str, Any]) -> local.Answer | str:
        with self.lock:
            chance = self.draw.random()
            what = "error" if chance < 0.05 else "refusal" if chance < 0.07 else "noise" if chance < 0.08 else "words"
            self.gave[what] += 1
            kind = self.draw.choice((503, 429, 500))
        if what == "error":
            return local.error(kind, "Not now.", Retry_After="0.05")
        if what == "words":
            return local.says("['lunch']", usage=TOKENS)
        return local.REFUSAL if what == "refusal" else "noise"


@contextmanager
def faulty() -> Iterator[Faulty]:
    provider = Faulty()
    handler = type("Bound", (local.Handler,), {"provider": provider})
    server = local.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    provider.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()


def ended(site: Site) -> int:
    return int(site.value("SELECT COUNT(*) FROM evaluation_outcome"))


def reached(site: Site, goal: int) -> bool:
    return ended(site) >= goal


@pytest.mark.long
def test_a_faulty_provider_and_killed_workers_cost_no_answer_and_none_is_counted_twice(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.environ |= {"OPENAI_API_KEY": "sk-test", "WWD_LOCAL_PROVIDERS": "1"}
    site.units = UNITS
    worker = partial(site.start_worker, "-Q", "api", "-c", "2")
    choice = random.Random(5)
    with faulty() as provider:
        try:
            site.run(PLAN.format(dishes=DISHES, samples=SAMPLES, url=provider.url))
            for kill in range(KILLS):
                while len(site.running()) < 2:
                    worker()
                site.wait_until(partial(reached, site, (kill + 1) * UNITS // (KILLS + 2)), 600)
                site.kill_something(choice)
            while len(site.running()) < 2:
                worker()
            site.wait_until(site.ended, 900)
        finally:
            site.kill_workers()
        found = json.loads(site.run(COUNT).splitlines()[-1])
    states = found["states"]
    assert found["run"] == "done"
    assert set(states) <= {"done", "refused", "failed"}
    assert sum(states.values()) == found["outcomes"] == UNITS
    assert found["spent"] == pytest.approx(states["done"] * (100 * 2.0 + 20 * 10.0) / 1e6)
    assert provider.gave["words"] >= states["done"] > 0.95 * UNITS
    assert provider.gave["refusal"] >= states["refused"] > 0
    assert found["deliveries"] > 1
