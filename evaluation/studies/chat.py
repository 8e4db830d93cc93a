"""What studies that talk to chat models share: question sets, messages, results."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from evaluation.contracts.backend import Chat, Conversation
from evaluation.contracts.study import Catalogue, ConfigError, ModelData, QuestionsData, Result, Work

# Parameters of a model that change what it answers.
DEFINING = ("precision", "temperature", "top_p", "most_new_tokens", "options")


def chat_model(catalogue: Catalogue, slug: str) -> ModelData:
    """The model of this slug, if it chats. Raises ConfigError."""
    model = catalogue.model(slug)
    if model.role != "chat":
        raise ConfigError(f"model: {model.slug} does not chat; it has the role {model.role}.")
    return model


def check_chat_questions(asked: QuestionsData, codes: Collection[str], placeholders: Collection[str]) -> QuestionsData:
    """The set, where all of it can be asked. Raises ConfigError that names the first question that cannot."""
    seen: set[str] = set()
    for number, question in enumerate(asked.questions, start=1):
        if wrong := find_chat_question_flaw(question, codes, placeholders, seen):
            raise ConfigError(f"questions: question {number} of {asked.slug} {asked.version} {wrong}.")
        seen.add(question["code"])
    if not seen:
        raise ConfigError(f"questions: {asked.slug} {asked.version} holds no question.")
    return asked


def find_chat_question_flaw(
    question: Any, codes: Collection[str], placeholders: Collection[str], seen: Collection[str]
) -> str:
    """What keeps a question from being asked; empty where nothing does."""
    code = question.get("code") if isinstance(question, Mapping) else None
    if code not in codes or code in seen:
        return f"has the code {code!r}. Accepted, each once: {', '.join(codes)}"
    messages = question.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(text, str) and text for text in messages):
        return "lacks its messages, a list of texts"
    if not any(f"{{{name}}}" in text for name in placeholders for text in messages):
        return f"names none of {', '.join(f'{{{name}}}' for name in placeholders)}"
    return ""


def fill_messages(messages: Sequence[str], words: Mapping[str, str]) -> list[str]:
    """The messages with `{name}` replaced by `words[name]`, each word as it is: braces in it mean nothing."""
    return [replace_placeholders(text, words) for text in messages]


def replace_placeholders(text: str, words: Mapping[str, str]) -> str:
    parts = [text]
    for name, word in words.items():
        parts = [piece for part in parts for piece in split_around(part, f"{{{name}}}", word)]
    return "".join(parts)


class Word(str):
    """A word that was put in, in which nothing is replaced any more."""


def split_around(part: str, name: str, word: str) -> list[str]:
    if isinstance(part, Word):
        return [part]
    pieces = part.split(name)
    return [piece for number, text in enumerate(pieces) for piece in ([Word(word), text] if number else [text])]


def build_chat_definition(models: Sequence[ModelData], asked: QuestionsData) -> dict[str, Any]:
    """What never mixes: the words that were asked, and what each model is."""
    return {
        "questions": f"{asked.slug} {asked.version}",
        "prompt": hashlib.sha256(json.dumps(list(asked.questions), sort_keys=True).encode()).hexdigest()[:16],
        "models": {
            model.slug: {
                "identifier": model.identifier,
                "revision": model.revision,
                **{name: model.parameters[name] for name in DEFINING if name in model.parameters},
            }
            for model in models
        },
    }


def iterate_chat_results(units: Sequence[Work], backend: Chat) -> Iterator[Result]:
    """The answer to the messages of each unit, as they come."""
    asked = [build_conversation(unit.payload) for unit in units]
    for unit, answer in zip(units, backend.converse(asked), strict=True):
        yield Result(
            unit.key,
            answer.state,
            text=answer.text,
            reason=answer.reason,
            circumstances=answer.circumstances,
        )


def build_conversation(payload: Mapping[str, Any]) -> Conversation:
    messages = tuple({"role": "user", "content": text} for text in payload["messages"])
    return Conversation(messages, int(payload["seed"]))
