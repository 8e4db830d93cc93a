"""Readers: what models write, and the option that they chose. Never guessed, never raising, never slow."""

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.readers.choice import Choice, read_choice

YES_NO = {"A": "Yes", "B": "No"}
PLATE = {"A": "Ceramic", "B": "Glass", "C": "Metal", "D": "Plastic", "E": "Wood"}
PLACE = {"A": "Outdoors", "B": "Indoors"}
SURFACE = {
    "A": "Wood", "B": "Glass", "C": "Metal", "D": "Plastic", "E": "Stone or concrete", "F": "Bamboo", "G": "Cloth",
    "H": "Other", "I": "No table or surface visible",
}  # fmt: skip
UTENSILS = {"A": "Fork", "B": "Spoon", "C": "Knife", "D": "Chopsticks", "E": "No utensils shown"}
COUNT = {"A": "3", "B": "4", "C": "5", "D": "None of the above"}
ARABIC = {"أ": "نعم", "ب": "لا"}
CYRILLIC = {"А": "Да", "Б": "Нет"}
SMALL = {"a": "Yes", "b": "No"}
LETTERS = {letter: f"Shape {number}" for number, letter in enumerate(string.ascii_uppercase)}
NOTHING, UNCLEAR, BROKEN = "no answer", "ambiguous", "failed"

ANSWERS = [
    # Letters, bare and dressed.
    ("B", PLATE, "B"),
    ("b", PLATE, "B"),
    (" B \n", PLATE, "B"),
    ("(B)", PLATE, "B"),
    ("[B]", PLATE, "B"),
    ("B.", PLATE, "B"),
    ("**B**", PLATE, "B"),
    ("`B`", PLATE, "B"),
    ('"B"', PLATE, "B"),
    ("\uff22", PLATE, "B"),
    ("B\u200b", PLATE, "B"),
    ("B. 4", COUNT, "B"),
    ("B) Glass", PLATE, "B"),
    ("B: Glass", PLATE, "B"),
    ("B - glass", PLATE, "B"),
    ("Answer: **D**", PLATE, "D"),
    ("Answer:D", PLATE, "D"),
    ("The answer is A: Ceramic", PLATE, "A"),
    ("The answer is (C).", PLATE, "C"),
    ("Option E", PLATE, "E"),
    ("A Ceramic", PLATE, "A"),
    ("I think it's B", PLATE, "B"),
    ("I would choose option C, because it shines.", PLATE, "C"),
    ('{"answer": "B"}', PLATE, "B"),
    ("<think>It could be A or C.</think>\nB", PLATE, "B"),
    ("B\n\nThe plate reflects the light.", PLATE, "B"),
    ("The letter corresponding to my choice is E.", UTENSILS, "E"),
    ("I", SURFACE, "I"),
    ("I: No table or surface visible", SURFACE, "I"),
    ("A", YES_NO, "A"),
    ("A. Yes, the image shows food", YES_NO, "A"),
    ("b. Glass", PLATE, "B"),
    ("the answer is b", PLATE, "B"),
    ("Option (b)", PLATE, "B"),
    ("The answer is 'A'", PLATE, "A"),
    ("A is the answer", PLATE, "A"),
    ("Option A shows it", PLATE, "A"),
    ("It is A because it is shiny", PLATE, "A"),
    ("B. No, there is no food", YES_NO, "B"),
    ("E - No utensils shown", UTENSILS, "E"),
    ("B because there is no table", YES_NO, "B"),
    ("I'm not sure, but B", PLATE, "B"),
    ("B", SMALL, "b"),
    ("I think it's N", LETTERS, "N"),
    # Said after others were weighed, or before they are explained.
    ("After considering A and C, the answer is B", PLATE, "B"),
    ("It could be A or C.\nB", PLATE, "B"),
    ("A: Ceramic B: Glass C: Metal D: Plastic E: Wood. Answer: B", PLATE, "B"),
    ("B\n\nExplanation: A would be rough.", PLATE, "B"),
    ("Answer: B. Explanation: A is not right.", PLATE, "B"),
    ("Perhaps A or C </think>\nB", PLATE, "B"),
    ("<think>" + "A or C? " * 1000 + "</think>B", PLATE, "B"),
    # Other languages, the letter as it was asked for.
    ("La respuesta es B", PLATE, "B"),
    ("La réponse est C.", PLATE, "C"),
    ("Die Antwort ist D", PLATE, "D"),
    ("الإجابة هي B", PLATE, "B"),
    ("答案是B", PLATE, "B"),
    ("उत्तर: C", PLATE, "C"),
    ("Jibu ni A.", PLATE, "A"),
    ("C'est B", PLATE, "B"),
    ("A resposta é B", PLATE, "B"),
    ("Ìdáhùn: B", PLATE, "B"),
    ("መልሱ B ነው", PLATE, "B"),
    ("الإجابة هي ب", ARABIC, "ب"),
    ("أ", ARABIC, "أ"),
    ("Ответ: Б", CYRILLIC, "Б"),
    ("В", PLATE, NOTHING),  # A Cyrillic letter that only looks like one that was asked.
    ("Aṣọ ni", PLATE, NOTHING),
    ("Bếp ở nhà", PLATE, NOTHING),
    # Words of an option.
    ("Glass", PLATE, "B"),
    ("glass.", PLATE, "B"),
    ("Yes", YES_NO, "A"),
    ("Yes, it is a plate of rice.", YES_NO, "A"),
    ("No.", YES_NO, "B"),
    ("No, there is no food in it.", YES_NO, "B"),
    ("The plate seems to be made of ceramic.", PLATE, "A"),
    ("Stone or concrete", SURFACE, "E"),
    ("No table or surface visible", SURFACE, "I"),
    ("None of the above", COUNT, "D"),
    # Nothing that answers.
    ("", PLATE, NOTHING),
    ("   \n\t", PLATE, NOTHING),
    ("…", PLATE, NOTHING),
    ("None of the above", PLATE, NOTHING),
    ("Don't know", PLATE, NOTHING),
    ("I don't know.", SURFACE, NOTHING),
    ("I'm sorry, but I can't help with that.", PLATE, NOTHING),
    ("As an AI, I am unable to see images.", SURFACE, NOTHING),
    ("An image of food on a table", YES_NO, NOTHING),
    ("K", PLATE, NOTHING),
    ("Z.", YES_NO, NOTHING),
    ("<think>It may be B, or", PLATE, NOTHING),
    ("Porcelain", PLATE, NOTHING),
    ("N/A", PLATE, NOTHING),
    ("Rich in vitamin C", PLATE, NOTHING),
    ("U.S.A.", PLATE, NOTHING),
    ("A C-shaped bowl", PLATE, NOTHING),
    ("A Chinese bowl", PLATE, NOTHING),
    ("It was taken at 25 °C", PLATE, NOTHING),
    # Several readings.
    ("A or B", PLATE, UNCLEAR),
    ("A, B and D", PLATE, UNCLEAR),
    ("A: Ceramic B: Glass C: Metal D: Plastic E: Wood", PLATE, UNCLEAR),
    ("A: Glass", PLATE, UNCLEAR),
    ("B. Ceramic", PLATE, UNCLEAR),
    ("Not A", PLATE, UNCLEAR),
    ("It isn't B.", PLATE, UNCLEAR),
    ("B is not correct", PLATE, UNCLEAR),
    ("B is incorrect.", PLATE, UNCLEAR),
    ("I don't think it is B", PLATE, UNCLEAR),
    ("The wrong answer is B", PLATE, UNCLEAR),
    ("B is wrong, A is right", PLATE, UNCLEAR),
    ("B, not glass", PLATE, UNCLEAR),
    ("Die Antwort ist nicht B", PLATE, UNCLEAR),
    ("La respuesta no es B", PLATE, UNCLEAR),
    ("答案不是B", PLATE, UNCLEAR),
    ("الإجابة ليست B", PLATE, UNCLEAR),
    ("Answer: A\nAnswer: B", PLATE, UNCLEAR),
    ("The answer is A. Or perhaps C.", PLATE, UNCLEAR),
    ("A\nB\nC", PLATE, UNCLEAR),
    ("The plate is ceramic. Answer: B", PLATE, UNCLEAR),
    ("a) Glass", PLATE, UNCLEAR),
    ("A Glass", PLATE, UNCLEAR),
    ("B or K", PLATE, UNCLEAR),
    ("Is it B?", PLATE, UNCLEAR),
    ("Is it glass?", PLATE, UNCLEAR),
    ("أ: لا", ARABIC, UNCLEAR),
    ("B", {"A": "B", "B": "C"}, UNCLEAR),
    ("Either glass or metal", PLATE, UNCLEAR),
    ("It is not indoors", PLACE, UNCLEAR),
    ("The food is not outdoors.", PLACE, UNCLEAR),
    ("Glass. But it might as well be something shiny.", PLATE, "B"),
    ("It is hard to say. Perhaps glass.", PLATE, UNCLEAR),
    ("There is no food, so I cannot tell", YES_NO, UNCLEAR),
    # What is not the model's answer.
    ("Error: 502 Bad Gateway", PLATE, BROKEN),
    ("<html><body>B</body></html>", PLATE, BROKEN),
    ("Traceback (most recent call last): B", PLATE, BROKEN),
    ("Rate limit reached for requests", PLATE, BROKEN),
    ("openai.APIConnectionError: B", PLATE, BROKEN),
    ("Request failed: A", PLATE, BROKEN),
    ("CUDA out of memory. Tried to allocate 2 GiB", PLATE, BROKEN),
]


@pytest.mark.parametrize(("raw", "choices", "wanted"), ANSWERS, ids=[str(number) for number in range(len(ANSWERS))])
def test_answers_are_read_as_people_read_them(raw: str, choices: dict[str, str], wanted: str) -> None:
    state = wanted if wanted in (NOTHING, UNCLEAR, BROKEN) else "answered"
    assert read_choice(raw, choices) == Choice(state, wanted if state == "answered" else "")  # type: ignore[arg-type]


def test_the_table_is_long_enough() -> None:
    assert len(ANSWERS) >= 60


def test_ten_thousand_random_texts_are_read_without_a_word() -> None:
    source = random.Random(20260101)
    pieces = [
        *string.printable,
        *"ABCDEا答Вक\u0301\u200f\0",
        "A: ",
        "answer is ",
        "Ceramic",
        "not ",
        "<think>",
        "((((",
        "**",
    ]
    for _ in range(10_000):
        raw = "".join(source.choices(pieces, k=source.randrange(60)))
        found = read_choice(raw, PLATE)
        assert (found.state == "answered") == (found.letter in PLATE)


@given(st.text(max_size=300))
def test_any_text_gives_a_state(raw: str) -> None:
    assert read_choice(raw, SURFACE).state in ("answered", UNCLEAR, NOTHING, BROKEN)


LONG = ["A " * 100_000, "(" * 500_000, "<think>" * 100_000, "Glass, " * 100_000, "\n" * 10**6, "A\n" * 10**5]


@pytest.mark.parametrize("raw", LONG, ids=[str(number) for number in range(len(LONG))])
def test_long_answers_are_cut_and_not_pondered(raw: str) -> None:
    assert read_choice(raw, PLATE).state in ("answered", UNCLEAR, NOTHING)


@given(st.sampled_from(sorted(PLATE)), st.permutations(sorted(PLATE)))
def test_the_letter_as_asked_is_always_found(letter: str, order: list[str]) -> None:
    choices = dict(zip(sorted(PLATE), (PLATE[name] for name in order), strict=True))
    for raw in (letter, f"{letter}.", f"({letter})", f"{letter}: {choices[letter]}", f"Answer: {letter}"):
        assert read_choice(raw, choices) == Choice("answered", letter)
