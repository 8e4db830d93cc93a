"""Answers from a server that speaks the OpenAI chat protocol (OpenAI, vLLM, SGLang, Groq …), with or without a picture.

Further parameters of a model: `options`, sent with every call as they are (`temperature`, `max_tokens`, `seed` …).
Questions about pictures are asked at temperature 0 for at most 32 tokens where the options say nothing; an option
that is null is not sent at all, for models that accept none such.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from evaluation.backends.base import Answer, Asked, BackendError, Conversation, Question, Reading
from evaluation.backends.provider import CallFailed, Provider, Refused
from evaluation.image_decode import as_sent
from evaluation.studies.base import ModelData

Message = Mapping[str, Any]
ABOUT_PICTURES = {"temperature": 0, "max_tokens": 32}


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
            picture = {"type": "image_url", "image_url": {"url": data_url(each.image)}}
            yield map(partial(self.about, picture), each.questions)

    def about(self, picture: Mapping[str, Any], question: Question) -> Answer:
        content = [picture, {"type": "text", "text": question.text}]
        return self.chat([{"role": "user", "content": content}], ABOUT_PICTURES)

    def converse(self, conversations: Sequence[Conversation]) -> Iterator[Answer]:
        """See `Chat`. Providers take no seed of ours: each sample is a call, answered before the next is paid for."""
        return (self.chat(each.messages) for each in conversations)

    def chat(self, messages: Sequence[Message], options: Mapping[str, Any] | None = None) -> Answer:
        """The answer to a conversation. `options` stand where the model's own say nothing. Raises BackendError."""
        note: dict[str, Any] = {"backend": "openai"}
        given = {name: value for name, value in {**(options or {}), **self.options}.items() if value is not None}
        try:
            answer, call = self.provider.call(lambda client: self.ask(client, messages, given))
        except Refused as error:
            return Answer(text=error.words, state="refused", reason=error.category, circumstances=note)
        except CallFailed as error:
            return Answer(state="failed", reason=str(error), circumstances=note)
        return read(answer, note | call | counted(answer))

    def ask(self, client: Any, messages: Sequence[Message], options: Mapping[str, Any]) -> Any:
        return client.chat.completions.with_streaming_response.create(
            model=self.identifier, messages=list(messages), extra_body=dict(options)
        )


def data_url(content: bytes) -> str:
    """The picture as everybody sees it, as an address that holds it. Raises ImageError for what is no picture."""
    sent, media_type = as_sent(content)
    return f"data:{media_type};base64,{base64.b64encode(sent).decode()}"


def read(answer: Mapping[str, Any], note: Mapping[str, Any]) -> Answer:
    """The words of an answer, or why there are none."""
    choices = answer.get("choices")
    choice = held(choices[0]) if isinstance(choices, list) and choices else {}
    message = held(choice.get("message"))
    ended = str(choice.get("finish_reason") or "")
    told = {**note, **({"finish_reason": ended} if ended else {})}
    if message.get("refusal"):
        return Answer(text=str(message["refusal"]), state="refused", reason="refusal", circumstances=told)
    if ended == "content_filter":
        words = "The provider's filter held the answer back."
        return Answer(text=words_of(message), state="filtered", reason=words, circumstances=told)
    text = words_of(message)
    if not text.strip():
        return Answer(state="empty", reason="The provider's answer holds no words.", circumstances=told)
    return Answer(text=text, circumstances=told)


def held(value: Any) -> Mapping[str, Any]:
    """The value where it is an object, as the protocol says; else an empty one."""
    return value if isinstance(value, dict) else {}


def words_of(message: Mapping[str, Any]) -> str:
    """The content of a message, which some servers give in parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def counted(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Tokens, and what the server says of the model that answered."""
    usage = held(answer.get("usage"))
    names = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
    found: dict[str, Any] = {
        name: usage[theirs] for name, theirs in names.items() if isinstance(usage.get(theirs), int | float)
    }
    served = {"served_model": answer.get("model"), "system_fingerprint": answer.get("system_fingerprint")}
    return found | {name: str(value)[:200] for name, value in served.items() if value}
