"""Scores of captions by hand, and against pycocoevalcap and nltk on fifty captions, Japanese, Thai and Arabic too."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import meteor_score
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge

from evaluation.metrics.captions.labels import find_labels
from evaluation.metrics.captions.meteor import compute_meteor
from evaluation.metrics.captions.overlap import compute_bleu, compute_cider, compute_rouge_l
from evaluation.metrics.captions.porter import stem_word
from evaluation.metrics.captions.scores import CaptionScores, compute_clipscore, compute_mean_length
from evaluation.metrics.captions.tokens import GRAPHEMES, WORDS, Tokens, choose_tokenizer
from tests.evaluation.metrics.captions.food_captions import ARABIC, CAPTIONS, JAPANESE, THAI

# All fifty, and each language whose script is another.
SETS = {"all": slice(None), "English": slice(27), "Japanese": JAPANESE, "Thai": THAI, "Arabic": ARABIC}
SCORES = {"bleu": compute_bleu, "rouge": compute_rouge_l, "cider": compute_cider, "meteor": compute_meteor}
REFERENCES: dict[str, Any] = {"bleu": Bleu(4), "rouge": Rouge(), "cider": Cider()}


class EmptyWordNet:
    def synsets(self, word: str) -> list[Any]:
        return []


def tokens_of(part: slice) -> tuple[list[Tokens], list[list[Tokens]]]:
    rows = CAPTIONS[part]
    tokenizer = choose_tokenizer([text for caption, references in rows for text in (caption, *references)])
    return (
        [tokenizer.split(caption) for caption, _ in rows],
        [[tokenizer.split(text) for text in references] for _, references in rows],
    )


def test_there_are_fifty() -> None:
    assert len(CAPTIONS) == len(set(CAPTIONS)) == 50


@pytest.mark.parametrize("part", SETS)
@pytest.mark.parametrize("name", REFERENCES)
def test_equal_to_pycocoevalcap_on_the_same_tokens(name: str, part: str, capsys: pytest.CaptureFixture[str]) -> None:
    captions, references = tokens_of(SETS[part])
    truths = {row: [" ".join(tokens) for tokens in each] for row, each in enumerate(references)}
    found = SCORES[name](captions, references)
    value, each = REFERENCES[name].compute_score(truths, {row: [" ".join(c)] for row, c in enumerate(captions)})
    value, each = (value[-1], each[-1]) if name == "bleu" else (value, each)
    assert found.value == pytest.approx(value, rel=1e-9)
    assert found.by_caption == pytest.approx(np.asarray(each), rel=1e-9, abs=1e-12)
    assert found.value > 0


@pytest.mark.parametrize("part", SETS)
def test_meteor_equals_nltk_with_an_empty_wordnet(part: str) -> None:
    captions, references = tokens_of(SETS[part])
    found = compute_meteor(captions, references)
    theirs = [
        meteor_score(each, caption, wordnet=EmptyWordNet()) for caption, each in zip(captions, references, strict=True)
    ]
    assert found.by_caption == pytest.approx(np.array(theirs), rel=1e-12)
    assert found.value == pytest.approx(np.mean(theirs))


words = st.lists(st.sampled_from(["rice", "beans", "bean", "fried", "fry", "frying", "a", "お茶"]), max_size=9)


@given(words.map(tuple), st.lists(words.filter(bool).map(tuple), min_size=1, max_size=3))
@settings(deadline=None)
def test_whatever_the_words_the_references_say_the_same(caption: Tokens, references: list[Tokens]) -> None:
    found = compute_meteor([caption], [references]).value
    assert found == pytest.approx(meteor_score(references, caption, wordnet=EmptyWordNet()), abs=1e-12)
    assert 0 <= found <= 1
    if caption:
        truths, given_caption = {0: [" ".join(each) for each in references]}, {0: [" ".join(caption)]}
        assert compute_rouge_l([caption], [references]).value == pytest.approx(
            Rouge().compute_score(truths, given_caption)[0]
        )
        assert compute_bleu([caption], [references]).value == pytest.approx(
            Bleu(4).compute_score(truths, given_caption, verbose=0)[0][-1], abs=1e-12
        )


@given(
    st.text("abcdefghilmnoprstuyz", max_size=12), st.sampled_from(["", "ing", "ed", "ies", "ation", "alli", "y", "eed"])
)
@settings(deadline=None, max_examples=500)
def test_stems_are_those_of_nltk(start: str, ending: str) -> None:
    assert stem_word(start + ending) == PorterStemmer().stem(start + ending)


def test_stems_of_known_words() -> None:
    known = "caresses ponies ties cats feed agreed plastered motoring sing conflated hopping falling fizzed happy sky "
    known += "relational conditional valency digitizer conformably radically differently analogously operator "
    known += (
        "feudalism hopefulness formality sensitivity sensibility triplicate formative electricity goodness revival "
    )
    known += (
        "allowance adoption homologous effective probate rate cease controlling roll skies dying news geology theology "
    )
    known += "enjoy enjoyment died spied fully gracefully is I Käse ラーメン حمص hissing xyyz yyyying s es"
    for word in known.split():
        assert stem_word(word) == PorterStemmer().stem(word), word


def test_bleu_by_hand() -> None:
    """7 of 8, 5 of 7, 3 of 6, 2 of 5 tokens and runs match; the closest reference has 9: exp(1 − 9 ÷ 8)."""
    caption = ("a", "b", "c", "d", "e", "x", "f", "g")
    reference = ("a", "b", "c", "d", "e", "f", "g", "h", "i")
    found = compute_bleu([caption], [[reference]])
    assert found.value == pytest.approx((7 / 8 * 5 / 7 * 3 / 6 * 2 / 5) ** 0.25 * np.exp(1 - 9 / 8))


def test_rouge_by_hand() -> None:
    """Common subsequence a c of 3 and 4 tokens: P = 2 ÷ 3, R = 1 ÷ 2, β² = 1.44."""
    found = compute_rouge_l([("a", "b", "c")], [[("a", "c", "d", "e")]])
    assert found.value == pytest.approx(2.44 * (2 / 3) * 0.5 / (0.5 + 1.44 * 2 / 3))


def test_cider_by_hand() -> None:
    """A caption of one token, its reference's: one of four lengths agrees, the others have none. The other caption has
    no token of its reference: (2.5 + 0) ÷ 2."""
    found = compute_cider([("rice",), ("soup",)], [[("rice",)], [("stew",)]])
    assert found.by_caption == pytest.approx([2.5, 0])
    assert found.value == pytest.approx(1.25)


def test_meteor_by_hand() -> None:
    """Three of three match, *frying* by its stem, in two pieces of four tokens: P = 1, R = 3 ÷ 4."""
    found = compute_meteor([("frying", "rice", "now")], [[("fried", "rice", "and", "now")]])
    assert stem_word("frying") == "fri" == stem_word("fried")
    assert found.value == pytest.approx((0.75 / (0.9 + 0.1 * 0.75)) * (1 - 0.5 * (2 / 3) ** 3))


@pytest.mark.parametrize("name", SCORES)
def test_captions_as_their_references_and_unlike_them(name: str) -> None:
    texts = [("a", "plate", "of", "rice"), ("fried", "tofu", "in", "broth")]
    best = SCORES[name](texts, [[text] for text in texts])
    highest = {"cider": 10.0, "meteor": 1 - 0.5 / 4**3}.get(name, 1.0)
    assert best.value == pytest.approx(highest)
    assert SCORES[name](texts[::-1], [[text] for text in texts]).value == pytest.approx(0, abs=1e-9)
    silent = SCORES[name]([(), texts[1]], [[text] for text in texts])
    assert silent.by_caption[0] == pytest.approx(0, abs=1e-9)
    with pytest.raises(ValueError, match="captions and their references are needed"):
        SCORES[name]([], [])
    with pytest.raises(ValueError, match="caption 2 has no reference with a word"):
        SCORES[name](texts, [[texts[0]], [()]])


def test_cider_of_one_image_is_refused() -> None:
    with pytest.raises(ValueError, match="two images or more"):
        compute_cider([("rice",)], [[("rice",)]])


def test_lengths_and_clipscores_by_hand() -> None:
    assert compute_mean_length([("a",), ("a", "b", "c")]) == 2
    with pytest.raises(ValueError, match="no captions"):
        compute_mean_length([])
    assert compute_clipscore(np.array([0.312, -0.1])).tolist() == pytest.approx([0.78, 0])


def split(text: str, graphemes: bool = False) -> str:
    return "|".join((GRAPHEMES if graphemes else WORDS).split(text))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("A baker's loaf, 1.5 kg – deep-fried!", "a|baker's|loaf|1.5|kg|deep|fried"),
        ("Weißwürste", "weisswürste"),
        ("Ka\u0308se", "k\u00e4se"),
        ("'quoted' 3, 4.", "quoted|3|4"),
        ("حُمُّص، مع الخبز", "حُمُّص|مع|الخبز"),
        ("김치 찌개", "김치|찌개"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("🍜 ...", ""),
    ],
)
def test_words(text: str, tokens: str) -> None:
    assert split(text) == tokens
    assert split(text, graphemes=True) == tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("醤油ラーメン、2杯 ramen", "醤|油|ラ|ー|メ|ン|2|杯|ramen"),
        ("か\u3099", "\u304c"),
        ("น้ำพริก กับ rice", "น้ำ|พ|ริ|ก|กั|บ|rice"),
    ],
)
def test_scripts_without_blanks_are_split_into_graphemes(text: str, tokens: str) -> None:
    assert split(text, graphemes=True) == tokens


@pytest.mark.parametrize("part", [JAPANESE, THAI])
def test_graphemes_are_those_of_unicode(part: slice) -> None:
    for caption, references in CAPTIONS[part]:
        for text in (caption, *references):
            assert GRAPHEMES.split(text) == tuple(regex.findall(r"\X", text))


def test_a_set_has_one_tokenizer_and_it_is_named() -> None:
    assert choose_tokenizer(["rice", "حمص"]).name == "words-1"
    assert choose_tokenizer(["rice", "飯"]).name == "graphemes-1"
    assert find_labels(["rice"], ["rice"]).tokenizer == "words-1"


LABELS = (
    ("a slice of apple pie", "apple pie", True, True),
    ("a pie with apples", "apple pie", False, True),
    ("a piece of cake", "apple pie", False, False),
    ("Deep-Fried Mars Bar on a plate", "deep fried mars bar", True, True),
    ("pie apple", "apple pie", False, True),
    ("醤油ラーメンの写真", "ラーメン", True, True),
    ("ラーの写真", "ラーメン", False, False),
    ("ข้าวผัดกุ้งในจาน", "ข้าวผัด", True, True),
    ("طبق من الكسكس", "الكسكس المغربي", False, True),
)


def test_semantic_label_accuracy_by_hand() -> None:
    captions, labels = [row[0] for row in LABELS], [row[1] for row in LABELS]
    found = find_labels(captions, labels)
    assert found.accurate.tolist() == [row[2] for row in LABELS]
    assert found.relaxed.tolist() == [row[3] for row in LABELS]
    assert found.tokenizer == "graphemes-1"
    assert (found.accurate.mean(), found.relaxed.mean()) == (pytest.approx(4 / 9), pytest.approx(7 / 9))
    with pytest.raises(ValueError, match="holds no letter"):
        find_labels(["rice"], ["?"])
    with pytest.raises(ValueError, match="one label for each caption"):
        find_labels(["rice"], [])


@given(st.lists(st.sampled_from(["apple", "pie", "rice", "of"]), min_size=1, max_size=5), st.integers(0, 4))
def test_what_names_the_label_names_a_word_of_it(caption: Sequence[str], start: int) -> None:
    label = " ".join(caption[min(start, len(caption) - 1) :])
    found = find_labels([" ".join(caption)], [label])
    assert found.accurate.all() and found.relaxed.all()


def test_scores_are_those_of_each_caption() -> None:
    captions, references = tokens_of(slice(None))
    found = [score(captions, references) for score in SCORES.values()]
    assert all(isinstance(each, CaptionScores) and each.by_caption.shape == (50,) for each in found)
