"""For each table of reviews, how a page says what the cell counted of every review."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

from django.db.models import Exists, OuterRef, Q, QuerySet

from evaluation.drilldown.cells import Cell, Drilldown, Observed
from evaluation.drilldown.studies import drill_down_group
from review.drilldown.opinions import make_person_label
from review.drilldown.reviews import Chosen, find_table_choice, of_reviews, real_photographs, shown_in, yes_or_no
from review.models import Assignment, Questionnaire, Review
from review.tables import controls, skips, words
from review.tables.agreement import QUESTIONS
from review.tables.answers import checks_of, match_of
from review.tables.quality import knows_the_dish, of_everybody, of_those_who_answered
from review.tables.selection import REAL, Opinion, iterate_opinions
from review.tables.shares import Read
from review.unappetising import PUBLISHED_WORDS, text_codes

SHARES: Mapping[str, Callable[[Questionnaire], Read]] = {
    "review.quality": of_everybody,
    "review.quality_answered": of_those_who_answered,
    "review.quality_own": of_everybody,
    "review.match": match_of,
    "review.checks": checks_of,
}
OWN = "review.quality_own"


def drill_down_review_table(cell: Cell) -> Drilldown:
    """What is behind a cell of any table whose name begins with `review.`."""
    made = find_table_choice(cell)
    if made is None:
        return drill_down_group(cell)
    name = cell.spec.name
    if name in SHARES:
        return of_reviews(made, share_counts)
    source = SOURCES.get(name)
    return source(made) if source else drill_down_group(cell)


def share_counts(made: Chosen, said: Sequence[Opinion]) -> Iterator[Observed]:
    """Tables of shares: yes, no, or not counted."""
    name, at = made.cell.spec.name, list(made.cell.spec.metrics).index(made.cell.metric)
    read = SHARES[name](made.questionnaire)
    for opinion in said:
        if name == OWN and not knows_the_dish(opinion):
            why = "not by somebody who knows the dish as their own"
            yield Observed(opinion.image, None, why, who=make_person_label(opinion.reviewer))
        else:
            yield yes_or_no(opinion.reviewer, opinion.image, read(opinion)[at])


def word_counts(made: Chosen, said: Sequence[Opinion]) -> Iterator[Observed]:
    """`review.words`: the word of the cell by the rule of its metric."""
    listed = [(word, metric) for word in (*PUBLISHED_WORDS, words.ANY) for metric in words.METRICS]
    at, codes = listed.index((made.cell.groups["word"], made.cell.metric)), text_codes(made.questionnaire.definition)
    for opinion in said:
        yield yes_or_no(opinion.reviewer, opinion.image, words.detect_unappetising_words(opinion, codes)[at])


def person_counts(made: Chosen, said: Sequence[Opinion]) -> Iterator[Observed]:
    """`review.reviewers`: every review counts for its reviewer."""
    for opinion in said:
        yield Observed(opinion.image, 1.0, said="one review", who=make_person_label(opinion.reviewer))


def of_persons(made: Chosen) -> Drilldown:
    note = "These are the reviews; numbers of images per reviewer have n people, each counted once."
    return of_reviews(made, person_counts, note=note)


def of_controls(made: Chosen) -> Drilldown:
    """Answers about real photographs, or pairs of answers, whichever the metric is about."""
    at = list(controls.CONTROL_METRICS).index(made.cell.metric)
    real = made.cell.metric.startswith("real")

    def counts(made: Chosen, said: Sequence[Opinion]) -> Iterator[Observed]:
        for opinion, values in (controls.of_real_photographs if real else controls.of_repeats)(said):
            yield yes_or_no(opinion.reviewer, opinion.image, values[at])

    if real:
        return of_reviews(made, counts, Q(image__image__model__in=real_photographs(), repeat=False))
    again = Review.objects.filter(reviewer=OuterRef("reviewer"), image__image=OuterRef("image__image"), repeat=True)
    return of_reviews(made, counts, Q(Exists(again)))


def of_skips(made: Chosen) -> Drilldown:
    """Images answered, and images left out."""
    at = list(skips.SKIP_METRICS).index(made.cell.metric)
    estimate = made.cell.row.estimate if made.cell.row else None
    unrecorded = estimate is not None and estimate.reason == skips.UNRECORDED
    left = list_given_assignments(made)
    reviewed = Review.objects.filter(reviewer=OuterRef("reviewer"), image=OuterRef("image"), repeat=False)
    gone = left.filter(state__in=skips.SKIPPED).exclude(Exists(reviewed))

    def observed(ids: Sequence[int]) -> Iterator[Observed]:
        here = Q(image__image__in=list(ids)) & made.country
        said = [
            (one.reviewer, one.image, skips.code_answered_image(one.food, one.correct_dish)[at], "answered")
            for one in iterate_opinions(made.pool.reviews.filter(here).order_by("pk"))
        ]
        skipped = [
            (one.reviewer, one.image, skips.left_out()[at], "left out")
            for one in skips.iterate_skips(left.filter(here))
        ]
        for reviewer, image, value, what in [*said, *skipped]:
            if unrecorded:
                yield Observed(
                    image, None, "it was not recorded which images were skipped", who=make_person_label(reviewer)
                )
            else:
                told = "yes" if value else "no"
                yield Observed(image, float(value), said=f"{told} ({what})", who=make_person_label(reviewer))

    listed = Q(Exists(made.pool.reviews.filter(image=OuterRef("pk")))) | Q(Exists(gone.filter(image=OuterRef("pk"))))
    return Drilldown("images", shown_in(made.cell).filter(listed), observed, "image_id", by_people=True)


def list_given_assignments(made: Chosen) -> QuerySet[Assignment]:
    """What was given to the people whose reviews are counted, as `skips.assignments` says it."""
    every = skips.filter_assignments(made.questionnaire, made.cell.filters)
    return every if made.pool.demonstration else every.filter(REAL)


def of_agreement(made: Chosen) -> Drilldown:
    """Images judged for a country by two people or more, with how many pairs of them agree."""
    question = next(each for each in QUESTIONS if each.name == made.cell.groups["question"])

    def counts(made: Chosen, said: Sequence[Opinion]) -> Iterator[Observed]:
        units: dict[tuple[int, str], list[Hashable]] = defaultdict(list)
        for opinion in said:
            if (answer := question.answer(opinion)) is not None:
                units[opinion.image, opinion.country].append(answer)
        for (image, _country), answers in units.items():
            yield measure_pair_agreement(image, answers)

    note = "Each image counts once: the share of the pairs of its reviewers who gave the same answer."
    return of_reviews(
        made,
        counts,
        ~Q(image__image__model__in=real_photographs()) | Q(image__image__model=None),
        note,
        by_people=False,
    )


def measure_pair_agreement(image: int, answers: Sequence[Hashable]) -> Observed:
    """The share of pairs of opinions about an image that are equal."""
    n = len(answers)
    if n < 2:
        return Observed(image, None, "only one person answered")
    alike = sum(count * (count - 1) for count in Counter(answers).values()) // 2
    every = n * (n - 1) // 2
    said = f"{alike} of {every} pairs agree"
    return Observed(image, alike / every, said=said)


SOURCES: Mapping[str, Callable[[Chosen], Drilldown]] = {
    "review.agreement": of_agreement,
    "review.controls": of_controls,
    "review.reviewers": of_persons,
    "review.skips": of_skips,
    "review.words": lambda made: of_reviews(made, word_counts),
}
