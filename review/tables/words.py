"""The words that call an image unappetising, one by one: by the published rule and by a better one."""

from collections.abc import Iterable, Mapping, Sequence

from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics.tidy import TidyRow, TidyTable
from review.tables.selection import (
    CHOICES,
    REGIONS,
    REVIEW_FILTERS,
    REVIEW_INPUTS,
    Opinion,
    describe_nameless_reviews,
    iterate_opinions,
    select_reviews,
)
from review.tables.shares import by_cell, cell_rows, describe_reviewer_counts
from review.unappetising import PUBLISHED_WORDS, as_published, better_words, published_word, text_codes

ANY = "any of them"
METRICS = {
    "as_published": (
        "Share of all reviews in whose own words the word is found, also as a part of another word and where it is "
        "denied. As released where it was published."
    ),
    "better": (
        "Share of the reviews with own words in English that say the word or a form of it as a whole word, American "
        "spelling too, and do not deny it. Other languages are not measured."
    ),
}


def compute_word_table(filters: Filters) -> TidyTable:
    """`review.words`: every word of the list, and any of them."""
    chosen = select_reviews(filters)
    notes = [REGIONS, *chosen.notes]
    rows: list[TidyRow] = []
    if chosen.questionnaire:
        codes = text_codes(chosen.questionnaire.definition)
        found = [
            (opinion, detect_unappetising_words(opinion, codes))
            for opinion in iterate_opinions(chosen.reviews)
            if opinion.model
        ]
        cells = by_cell(found)
        keys = [(word, metric) for word in (*PUBLISHED_WORDS, ANY) for metric in METRICS]
        for (country, model), cell in cells.items():
            names = [f"{word}\t{metric}" for word, metric in keys]
            rows += with_words(cell_rows({"country": country, "model": model}, names, cell, filters))
        notes += [
            describe_language(found, codes),
            *describe_nameless_reviews(chosen.reviews),
            describe_reviewer_counts(cells),
        ]
    return TidyTable(
        WORDS.name, WORDS.version, WORDS.columns, tuple(rows), tuple(notes), chosen.demonstration, chosen.extra
    )


def with_words(rows: Iterable[TidyRow]) -> Iterable[TidyRow]:
    """The rows with the word as a column of its own."""
    for row in rows:
        word, _tab, metric = row.metric.partition("\t")
        yield TidyRow({**row.groups, "word": word}, metric, row.estimate)


def detect_unappetising_words(opinion: Opinion, codes: Sequence[str]) -> list[bool | None]:
    """For each word, then for any of them: by the published rule, by the better one (None: not in English)."""
    texts = own_words(opinion, codes)
    released = opinion.flags.get("words")
    published = [published_here(word, texts, released) for word in PUBLISHED_WORDS]
    any_published = bool(opinion.flags["unappetising"]) if "unappetising" in opinion.flags else as_published(texts)
    said = [held for held in map(better_words, texts) if held is not None]
    better = frozenset[str]().union(*said) if said else None
    values: list[bool | None] = []
    for word, there in zip(PUBLISHED_WORDS, published, strict=True):
        values += [there, None if better is None else word in better]
    return [*values, any_published, None if better is None else bool(better)]


def published_here(word: str, texts: Sequence[str], released: Mapping[str, bool] | None) -> bool:
    if released is not None and word in released:
        return bool(released[word])
    return any(published_word(word, text) for text in texts)


def own_words(opinion: Opinion, codes: Sequence[str]) -> list[str]:
    return [str(opinion.answers[code]) for code in codes if opinion.answers.get(code)]


def describe_language(found: Sequence[tuple[Opinion, Sequence[bool | None]]], codes: Sequence[str]) -> str:
    """How many reviews the better rule measures."""
    wrote = [values for opinion, values in found if own_words(opinion, codes)]
    english = sum(values[-1] is not None for values in wrote)
    return (
        f"Own words: {len(wrote)} of {len(found)} reviews, of which {english} read as English by their function words; "
        f"the other {len(wrote) - english} are not measured by the better rule."
    )


WORDS = TableSpec(
    name="review.words",
    title="Words that call an image unappetising",
    source="World Wide recipe, Table 3",
    version="2",
    columns=("country", "model", "word"),
    metrics=METRICS,
    inputs=REVIEW_INPUTS,
    filters=(*REVIEW_FILTERS, "word"),
    choices=CHOICES,
    compute=compute_word_table,
    unread=("country", "model", "word"),
)
