"""Answers from a server that speaks the OpenAI chat protocol (OpenAI, vLLM, SGLang, Groq …), with or without an image.

Further parameters of a model: `options`, sent with every call as they are (`temperature`, `max_tokens`, `seed` …).
Questions about images are asked at temperature 0 for at most 32 tokens where the options say nothing; an option
that is null is not sent at all, for models that accept none such.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from evaluation.backends.provider import CallFailedError, Provider
from evaluation.backends.provider_dialects import Verdict, get_first_choice
from evaluation.contracts.backend import Answer, Asked, BackendError, Conversation, Question, Reading
from evaluation.contracts.study import ModelData
from evaluation.readers import text_cleaning
from evaluation.readers.image_decode import as_sent

Message = Mapping[str, Any]
IMAGE_OPTIONS = {"temperature": 0, "max_tokens": 32}
MOST_LETTERS = 500_000
FILTERED = "The provider's filter held the answer back."
EMPTY = "The provider's answer holds no words."
CUT = "The answer was cut short before its first word: the model may write more tokens (max_tokens)."


class OpenAIChat:
    """Asks a provider, one call per question."""

    readings: ClassVar[tuple[Reading, ...]] = ("generated",)

    def __init__(self, model: ModelData) -> None:
        self.provider = Provider(model)
        self.identifier = model.identifier
        self.options = dict(model.parameters.get("options", {}))

    def answer(self, asked: Sequence[Asked], reading: Reading) -> Iterator[Iterator[Answer]]:
        """See `VisualAnswerer`. A provider gives words only; each answer is given before the next is paid for."""
        if reading not in self.readings:
            raise BackendError("A provider gives words, no probabilities. Accepted reading: generated.")
        for each in asked:
            image = {"type": "image_url", "image_url": {"url": data_url(each.image)}}
            yield map(partial(self.ask_about_image, image), each.questions)

    def ask_about_image(self, image: Mapping[str, Any], question: Question) -> Answer:
        content = [image, {"type": "text", "text": question.text}]
        return self.chat([{"role": "user", "content": content}], IMAGE_OPTIONS)

    def converse(self, conversations: Sequence[Conversation]) -> Iterator[Answer]:
        """See `Chat`. Providers take no seed of ours: each sample is a call, answered before the next is paid for."""
        return (self.chat(each.messages) for each in conversations)

    def chat(self, messages: Sequence[Message], options: Mapping[str, Any] | None = None) -> Answer:
        """The answer to a conversation. `options` stand where the model's own say nothing. Raises BackendError."""
        note: dict[str, Any] = {"backend": "openai"}
        given = {name: value for name, value in {**(options or {}), **self.options}.items() if value is not None}
        try:
            told = self.provider.call(lambda client: self.ask(client, messages, given))
        except CallFailedError as error:
            return Answer(state="failed", reason=str(error), circumstances=note)
        return parse_chat_answer(
            told.body, told.verdict, {**note, **told.circumstances, **extract_token_usage(told.body)}
        )

    def ask(self, client: Any, messages: Sequence[Message], options: Mapping[str, Any]) -> Any:
        return client.chat.completions.with_streaming_response.create(
            model=self.identifier, messages=list(messages), extra_body=dict(options)
        )


def data_url(content: bytes) -> str:
    """The image as everybody sees it, as an address that holds it. Raises ImageError for what is no image."""
    sent, media_type = as_sent(content)
    return f"data:{media_type};base64,{base64.b64encode(sent).decode()}"


def parse_chat_answer(answer: Mapping[str, Any], verdict: Verdict, note: Mapping[str, Any]) -> Answer:
    """The words of an answer, or why there are none."""
    choice = get_first_choice(answer.get("choices"))
    ended = text_cleaning.clean_foreign_text(choice.get("finish_reason"), 80)
    told = {**note, **({"finish_reason": ended} if ended else {})}
    text = words_of(choice.get("message"))
    if verdict.meaning == "refused":
        return Answer(text=verdict.words, state="refused", reason=verdict.category, circumstances=told)
    if verdict.meaning == "filtered":
        return Answer(text=text or verdict.words, state="filtered", reason=FILTERED, circumstances=told)
    cut = {"cut_short": True} if verdict.meaning == "cut short" or len(text) > MOST_LETTERS else {}
    if text.strip():
        return Answer(text=text[:MOST_LETTERS], circumstances={**told, **cut})
    return Answer(state="empty", reason=CUT if cut else EMPTY, circumstances={**told, **cut})


def words_of(message: Any) -> str:
    """The content of a message, which some servers give in parts."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        texts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""


def extract_token_usage(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Tokens, and what the server says of the model that answered."""
    usage = answer.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    names = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
    numbers = {name: text_cleaning.parse_finite_number(usage.get(theirs)) for name, theirs in names.items()}
    served = {"served_model": answer.get("model"), "system_fingerprint": answer.get("system_fingerprint")}
    words = {name: text_cleaning.clean_foreign_text(value, 200) for name, value in served.items()}
    found: dict[str, Any] = {name: value for name, value in numbers.items() if value is not None and value >= 0}
    return found | {name: value for name, value in words.items() if value}
