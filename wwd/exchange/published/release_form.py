"""The form behind the released reviews: which column and wording stands for which question and answer code.

Codes are those of `review/questionnaires/e2-release-2024.json`. The wording serves to read the file and enters the
questionnaire as its wording as published.
"""

from collections.abc import Mapping

from wwd.exchange.published.source import InvalidRowError, Row

YES_NO: Mapping[str, str] = {"Yes": "yes", "No": "no"}

# question → column of the release
COLUMN_OF: Mapping[str, str] = {
    "associates": "Would you associate the dish_name with your home and/or culture?",
    "familiarity": "How familiar are you with the dish_name?",
    "food": "Is this an image of food?",
    "correct_dish": "Is this an image of the dish_name",
    "quality": "Please rate quality of the image",
    "match": ("In your opinion, how closely does this image match what you’d expect an image of the dish_name to be?"),
    "match_group": "Image_match",
    "explanation": (
        "Please provide an explanation for your answer "
        "( especially important if the image doesn't resemble the dish in question)"
    ),
    "seen": (
        "What do you see in the image? "
        "( if this is not an image of food you can submit the form after answering this question)"
    ),
    "presentation": "Please check any of the below that apply; presentation of the dish",
    "utensils": "Please check any of the below that apply; utensils",
    "background": "Please check any of the below that apply; background",
    "others": "Please check any of the below that apply; others",
}
TEXTS = ("explanation", "seen")

# question with one answer → wording → code
ONE: Mapping[str, Mapping[str, str]] = {
    "associates": YES_NO,
    "familiarity": {
        "Not familiar at all": "not",
        "Somewhat familiar, I looked it up or asked someone": "somewhat",
        "Very familiar, I eat this dish regularly": "very",
    },
    "food": YES_NO,
    "correct_dish": YES_NO,
    "quality": {f"{rating}.0": str(rating) for rating in range(1, 6)},
    "match": {
        "Very close, it looks real–the image looks exactly like the dish_name": "exact",
        "The image resembles the dish_name, but it is not what I’d expect": "resembles",
        "The image is not at all close to the dish_name / looks completely different from what I would expect "
        "an image of the dish_name to look like": "none",
        "This is the dish but there are some components added that should not be there": "added",
        "The image misses key components of the dish, only some minor ingredients are present": "missing",
    },
    "match_group": {
        "Looks exactly like the dish": "exact",
        "Resembles the dish, but defies expectations": "resembles",
        "Does not look like the dish": "none",
        "Resembles the dish, but has unexpected components": "unexpected",
        "Reviewer did not know": "unknown",
    },
}
# question with several answers and room for own words → wording → code
SEVERAL: Mapping[str, Mapping[str, str]] = {
    "presentation": {
        "The image sort of looks like the {dish_name} but it’s not quite right": "almost",
        "The dish is shown served in a way that I’m used to": "usual_way",
        "The dish should be served on plate but it is not shown on a plate here": "plate_missing",
        "The dish is shown served on plate but it is not typically eaten on a plate": "plate_unusual",
    },
    "utensils": {
        "The utensils are correct": "utensils_correct",
        "The utensils are incorrect": "utensils_incorrect",
        "There should be no utensils": "utensils_unwanted",
        "There should be utensils": "utensils_wanted",
    },
    "background": {
        "The dish is shown served on a weird background": "background_weird",
        "The image has one or more people in it": "people",
        "The image has one or more people in it and I can see their face(s)": "faces",
        "The dish is shown served in a setting that I would expect": "setting_expected",
        "The dish is shown served in a setting that I would not expect": "setting_unexpected",
        "The dish is in an outdoor setting": "outdoors",
        "The dish is in an indoor setting": "indoors",
    },
    "others": {"This image looks disturbing": "disturbing"},
}
WITH_OWN_WORDS = ("match", *SEVERAL)

# The 16 words of Table 3 that the release looked for in the free text.
WORDS = (
    "Gross",
    "Vomit",
    "Disgusting",
    "Rotten",
    "Ugly",
    "Burnt",
    "Burned",
    "Unappealing",
    "Poop",
    "Dung",
    "Stale",
    "Trash",
    "Dirt",
    "Horrible",
    "Hideous",
    "Unappetising",
)
FLAGS = {"good_quality": "Good_quality", "disturbing": "Disturbing", "unappetising": "Unappetising_combined"}

Answers = dict[str, str | list[str]]


def parse_released_answers(row: Row) -> Answers:
    """What the reviewer said, by question code. Wordings that the form did not offer are stored as own words.

    A group of boxes without a tick is an empty list where the image is said to be food: the form had been shown it.
    Elsewhere it is left out, since the form could be sent before it.
    """
    found: Answers = {code: row[COLUMN_OF[code]] for code in TEXTS if row[COLUMN_OF[code]]}
    for code, wordings in ONE.items():
        cell = row[COLUMN_OF[code]]
        if cell in wordings:
            found[code] = wordings[cell]
        elif cell and code in WITH_OWN_WORDS:
            found[f"{code}_other"] = cell
        elif cell:
            raise InvalidRowError(f"{COLUMN_OF[code]} has a value that is not known: {cell[:80]}")
    for code, wordings in SEVERAL.items():
        ticked, own_words = parse_boxes(row[COLUMN_OF[code]], wordings)
        if ticked or own_words or found.get("food") == "yes":
            found[code] = ticked
        if own_words:
            found[f"{code}_other"] = own_words
    return found


def parse_boxes(cell: str, wordings: Mapping[str, str]) -> tuple[list[str], str]:
    """The codes ticked in a cell, and the rest of it: the form joined boxes and own words with comma and blank."""
    parts = cell.split(", ") if cell else []
    ticked = [wordings[part] for part in parts if part in wordings]
    own_words = ", ".join(part for part in parts if part not in wordings)
    return list(dict.fromkeys(ticked)), own_words if own_words.strip(" ,") else ""


def parse_flags(row: Row) -> dict[str, object]:
    """The derived columns as released, beside what our own readers find in the answers."""
    return {
        **{name: parse_yes_no(row, column) for name, column in FLAGS.items()},
        "words": {word.lower(): parse_yes_no(row, word) for word in WORDS},
    }


def parse_yes_no(row: Row, column: str) -> bool:
    if row[column] not in YES_NO:
        raise InvalidRowError(f"{column} is neither Yes nor No: {row[column][:40]!r}")
    return row[column] == "Yes"


def collect_wordings() -> dict[str, str]:
    """Question or question.option → the text as it was shown, for `review.seed_data.add_wording`."""
    texts = {code: column for code, column in COLUMN_OF.items() if code != "match_group"}
    for code, wordings in (*ONE.items(), *SEVERAL.items()):
        if code not in ("quality", "match_group"):
            texts |= {f"{code}.{option}": text for text, option in wordings.items()}
    return texts
