"""Language models on own cards that chat, by identifier and revision.

Samples are drawn by the Gumbel-max trick (Gumbel 1954; Maddison et al. 2014): adding Gumbel noise to the logarithm of
each token's probability and taking the largest draws from exactly these probabilities. The noise of a conversation
comes from its own seed, on the processor, so neither the batch nor the card decides what a sample begins with.

Model parameters: `precision` (fp32, bf16, fp16), `temperature` (0: always the likeliest token), `top_p`,
`most_new_tokens` (length of an answer), `at_once` (conversations in one pass), `spread` (true: over all cards).
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.backends import weight_files, weights
from evaluation.contracts import parameters
from evaluation.contracts.backend import Answer, BackendError, Conversation
from evaluation.contracts.study import ModelData

if TYPE_CHECKING:
    from torch import Tensor

# The smallest number that a uniform draw is taken for: its double logarithm is finite.
TINY = 1e-20


class Sampler:
    """Turns the scores of each row into noisy ones, whose largest is a sample. Row i draws from `seeds[i]`."""

    def __init__(self, seeds: Sequence[int], temperature: float, top_p: float) -> None:
        import torch

        self.generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        self.temperature, self.top_p = temperature, top_p

    def __call__(self, ids: "Tensor", scores: "Tensor") -> "Tensor":
        """`scores` (rows, tokens) → the same shape, float32."""
        import torch

        if self.temperature == 0:
            return scores
        chances = mask_outside_top_p(torch.log_softmax(scores.float() / self.temperature, dim=-1), self.top_p)
        draws = torch.stack([torch.rand(scores.shape[-1], generator=each) for each in self.generators])
        noise = -torch.log(-torch.log(draws.clamp(TINY, 1 - 1e-7)))
        return chances + noise.to(chances.device)


def mask_outside_top_p(chances: "Tensor", top_p: float) -> "Tensor":
    """Logarithms of probabilities (rows, tokens), −∞ outside the likeliest tokens that together reach `top_p`."""
    import torch

    if top_p >= 1:
        return chances
    ordered, places = chances.sort(dim=-1, descending=True)
    before = ordered.exp().cumsum(dim=-1) - ordered.exp()
    return chances.masked_fill(
        torch.zeros_like(before).scatter(-1, places, (before >= top_p).float()).bool(), -torch.inf
    )


class LocalChat:
    """A model of the registry. Not for several threads."""

    def __init__(self, model: ModelData) -> None:
        from transformers import AutoModelForCausalLM

        given = parameters.resolve_parameter_values(model)
        self.tokenizer = tokenizer_of(model)
        self.network: Any = weights.load_pretrained_model(
            model, AutoModelForCausalLM, given["precision"], spread=given["spread"]
        )
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        self.temperature, self.top_p = given["temperature"], given["top_p"]
        self.most_new_tokens, self.at_once = given["most_new_tokens"], given["at_once"]
        self.circumstances = weights.describe_environment(given["precision"])

    @staticmethod
    def inspect(model: ModelData) -> list[str]:
        """See `evaluation.backends.inspect_model`."""
        family = family_of(model)
        weight_files.require_complete_weights(model, weight_files.missing_of_model(model, images=False))
        tokenizer_of(model)
        return [f"family {family}"]

    def converse(self, conversations: Sequence[Conversation]) -> Iterator[Answer]:
        """See `Chat`."""
        for start in range(0, len(conversations), self.at_once):
            yield from self.together(conversations[start : start + self.at_once])

    def together(self, conversations: Sequence[Conversation]) -> list[Answer]:
        import torch

        texts = [
            self.tokenizer.apply_chat_template(list(each.messages), tokenize=False, add_generation_prompt=True)
            for each in conversations
        ]
        asked = self.tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=False)
        sampler = Sampler([each.seed for each in conversations], self.temperature, self.top_p)
        with weights.convert_memory_errors(), torch.inference_mode():
            made = self.network.generate(
                **asked.to(self.network.device),
                do_sample=False,
                max_new_tokens=self.most_new_tokens,
                logits_processor=[sampler],
                pad_token_id=self.tokenizer.pad_token_id,
                temperature=None,
                top_p=None,
                top_k=None,
            )
        return [self.answer(row[asked["input_ids"].shape[1] :]) for row in made]

    def answer(self, ids: "Tensor") -> Answer:
        text = str(self.tokenizer.decode(ids, skip_special_tokens=True)).strip()
        if not text:
            return Answer(state="empty", reason="The model wrote no words.", circumstances=self.circumstances)
        return Answer(text=text, circumstances=self.circumstances)


def family_of(model: ModelData) -> str:
    """The family of a language model that writes. Raises BackendError for any other, before its weights are opened."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as WRITERS

    config = weights.config_of(model, WRITERS)
    family, saved = str(config["model_type"]), config.get("architectures") or [WRITERS[config["model_type"]]]
    if WRITERS[family] not in saved:
        raise BackendError(
            f"{model.slug} was saved as {', '.join(saved)}, which writes no answers. "
            f"Supported of {family}: {WRITERS[family]}."
        )
    return family


def tokenizer_of(model: ModelData) -> Any:
    """The tokenizer with its template for conversations. Raises BackendError; no weights are opened."""
    from transformers import AutoTokenizer

    family_of(model)
    with weights.convert_loading_errors(model):
        found = AutoTokenizer.from_pretrained(model.identifier, padding_side="left", **weights.source_of(model))
    if not found.chat_template:
        raise BackendError(f"{model.slug} comes without a chat template: nobody knows how it wants to be asked.")
    return found
