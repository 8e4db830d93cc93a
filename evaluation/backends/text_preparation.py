"""Texts as image–text encoders were trained to read them: case, filling, length and ends, a row for each family.

Sources: the training code of CLIP (openai/CLIP, `clip.tokenize`), of SigLIP and SigLIP 2 (google-research/big_vision);
pull requests 26522, 43101 and 47613 of transformers on what the published tokenizers do of it. A tokenizer that does
otherwise is refused: its vectors would be near the right ones, and wrong.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evaluation.backends import weights
from evaluation.contracts.backend import BackendError
from evaluation.contracts.study import ModelData

# A tokenizer that states no length states an immense one.
STATED = 1_000_000
FIXED_ONLY = (
    "It is a SigLIP 2 of flexible resolution (NaFlex), whose images are prepared otherwise. Supported: SigLIP 2 of a "
    "fixed resolution, such as siglip2-base-patch16-224."
)


def as_is(text: str) -> str:
    return text


def lowercase_letters(text: str) -> str:
    """Letter by letter, as tokenizers do it: no letter depends on its place in the word."""
    return "".join(letter.lower() for letter in text)


@dataclass(frozen=True)
class TextFamily:
    """One row. `tokenizers`: classes that the published models name. `length`: tokens that the encoder reads.

    `filled`: to the longest text of a batch, or always to the full length. `masked`: whether what fills is hidden from
    the encoder. `begin`, `end`, `pad`: the tokens themselves; `pad` is empty where it changes nothing. `mark`: what
    names this preparation with a vector, where another was used before. `prepared`: what is done to a text before the
    tokenizer, which does the rest of what the training did.
    """

    title: str
    model_type: str
    tokenizers: tuple[str, ...]
    length: int
    filled: Literal["longest", "max_length"]
    masked: bool
    begin: str
    end: str
    pad: str = ""
    mark: str = ""
    prepared: Callable[[str], str] = as_is


TEXT_FAMILIES = (
    TextFamily(
        "CLIP", "clip", ("CLIPTokenizer", "CLIPTokenizerFast"), 77, "longest", True, "<|startoftext|>", "<|endoftext|>"
    ),
    TextFamily(
        "SigLIP", "siglip", ("SiglipTokenizer",), 64, "max_length", False, "", "</s>", "</s>", " siglip-texts-1"
    ),
    TextFamily(
        "SigLIP 2",
        "siglip",
        ("GemmaTokenizer", "GemmaTokenizerFast", "Siglip2Tokenizer"),
        64,
        "max_length",
        False,
        "",
        "<eos>",
        "<pad>",
        " siglip2-texts-1",
        lowercase_letters,
    ),
)
MODEL_TYPES = tuple(dict.fromkeys(family.model_type for family in TEXT_FAMILIES))


class Texts:
    """Token ids of texts, as the encoder's family wants them. Nothing of the weights is needed for it."""

    def __init__(self, family: TextFamily, tokenizer: Any) -> None:
        self.family, self.tokenizer = family, tokenizer

    def ids(self, texts: Sequence[str]) -> dict[str, Any]:
        """What the text encoder is given, tensors (n, tokens). Raises ValueError for a text not read to its end."""
        family = self.family
        given = [family.prepared(text) for text in texts]
        read = self.tokenizer(
            given, padding=family.filled, max_length=family.length, truncation=False, return_tensors="pt"
        )
        if read["input_ids"].shape[1] > family.length:
            raise ValueError(f"A text has more than the {family.length} tokens that the text encoder reads.")
        return {name: read[name] for name in ("input_ids", *(("attention_mask",) if family.masked else ()))}

    def one(self, text: str) -> list[int]:
        return [int(token) for token in self.tokenizer(self.family.prepared(text))["input_ids"]]


def texts_of(model: ModelData) -> Texts:
    """The tokenizer, compared with what its family was trained with. Raises BackendError; no weights are opened."""
    from transformers import AutoConfig, AutoTokenizer

    config = family_config(model)
    family = family_of(model, str(config["model_type"]))
    source = weights.source_of(model)
    with weights.convert_loading_errors(model):
        words = AutoConfig.from_pretrained(model.identifier, **source).text_config
        tokenizer = AutoTokenizer.from_pretrained(model.identifier, **source)
    texts = Texts(family, tokenizer)
    if differences := find_tokenizer_mismatches(texts, words):
        raise BackendError(
            f"{model.slug} does not read texts as {family.title} was trained to: {'; '.join(differences)}."
        )
    return texts


def family_config(model: ModelData) -> Mapping[str, Any]:
    """`config.json` of an encoder that is known here; see `loading.config_of`."""
    config = weights.config_of(model, (*MODEL_TYPES, "siglip2"))
    if config["model_type"] == "siglip2":
        raise BackendError(f"{model.slug} is of the family siglip2. {FIXED_ONLY}")
    return config


def family_of(model: ModelData, model_type: str) -> TextFamily:
    """The row of the table, by the tokenizer that the model names: SigLIP and SigLIP 2 are one kind of network."""
    fitting = [family for family in TEXT_FAMILIES if family.model_type == model_type]
    named = (weights.read_model_json(model, "tokenizer_config.json") or {}).get("tokenizer_class")
    found = next((family for family in fitting if named in family.tokenizers), None if named else fitting[0])
    if found is None:
        known = ", ".join(name for family in fitting for name in family.tokenizers)
        raise BackendError(f"{model.slug}: the tokenizer {named} is not known for {model_type}. Supported: {known}.")
    return found


def find_tokenizer_mismatches(texts: Texts, words: Any) -> list[str]:
    """What differs between the family's row and the tokenizer and text encoder that are there."""
    family, tokenizer = texts.family, texts.tokenizer
    ids = texts.one("a")
    ends = [token_of(tokenizer, family.begin), *[token_of(tokenizer, name) for name in (family.end, family.pad)]]
    stated = tokenizer.model_max_length
    checks = (
        (words.max_position_embeddings == family.length, f"it reads {words.max_position_embeddings} tokens"),
        (stated > STATED or stated == family.length, f"its tokenizer states a length of {stated} tokens"),
        (len(tokenizer) <= words.vocab_size, f"its tokenizer has {len(tokenizer)} tokens, it knows {words.vocab_size}"),
        (ends[1] is not None and ids[-1] == ends[1], f"a text does not end with {family.end}"),
        (
            has_expected_start(ids[0], ends[0], tokenizer),
            f"a text does not begin with {family.begin or 'itself'}",
        ),
        (not family.pad or tokenizer.pad_token_id == ends[2], f"texts are not filled up with {family.pad}"),
        (tokenizer.padding_side == "right", "texts are filled up before their beginning"),
        (texts.one("Rice") == texts.one("rice"), "capitals are told apart"),
        (texts.one("rice") != texts.one("bean"), "its tokenizer knows no words"),
    )
    return [f"{words} (expected: {describe_text_family(family)})" for fine, words in checks if not fine]


def has_expected_start(first: int, wanted: int | None, tokenizer: Any) -> bool:
    """Whether a text begins with the token of its family, or, where that has none, with its own words."""
    return first == wanted if wanted is not None else first not in tokenizer.all_special_ids


def token_of(tokenizer: Any, token: str) -> int | None:
    return tokenizer.get_vocab().get(token) if token else None


def describe_text_family(family: TextFamily) -> str:
    return f"{family.length} tokens, lower-case, ended by {family.end}"
