"""From JSON to a configuration, with a sentence for each fault: the field, what was given, what is accepted."""

import json
from collections.abc import Iterator, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from evaluation.contracts.study import ConfigError
from evaluation.suggestions import describe_unknown_name, find_near_names

Checked = TypeVar("Checked", bound=BaseModel)
LONGEST_SHOWN = 120
# Kind of value → one and several, as sentences name them.
KINDS: Mapping[Any, tuple[str, str]] = {
    str: ("a text", "texts"),
    bool: ("true or false", ""),
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    NoneType: ("null", ""),
}
LISTS = (tuple, list, Sequence)
# Faults that the words for the accepted values explain; of others pydantic's own words are added.
EXPLAINED = ("greater_than", "greater_than_equal", "less_than", "less_than_equal", "literal_error", "finite_number")


def check_fields(model: type[Checked], given: Mapping[str, Any], *, owner: str = "", within: str = "") -> Checked:
    """The model that `given` says. Raises ConfigError with a sentence for each fault, one a line.

    `owner` names what has the fields; `within` is the field that `given` is the value of.
    """
    try:
        # Lists become tuples only where pydantic reads JSON itself.
        text = json.dumps(given, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{within or 'The configuration'} cannot be written as JSON: {error}.") from error
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        # A value that fits none of several types has a fault for each of them: the sentences are equal.
        sentences = dict.fromkeys(describe_fault(model, fault, owner, within) for fault in faults)
        raise ConfigError("\n".join(sentences)) from error


def describe_fault(model: type[BaseModel], fault: ErrorDetails, owner: str, within: str) -> str:
    """One sentence about one fault, with near names where a name is unknown."""
    inner = fault.get("ctx", {}).get("error")
    if isinstance(inner, ConfigError):
        return str(inner)
    if fault["type"] == "json_invalid":
        return f"{within or 'The configuration'} cannot be read: {inner}."
    parents, hint = follow_location(model, fault["loc"], within)
    path = parents[-1] if parents[-1] else "The configuration"
    accepted = describe_accepted(hint)
    match fault["type"]:
        case "extra_forbidden":
            outer, holder = parents[-2], find_model(model, fault["loc"][:-1])
            what = outer if outer else owner
            return describe_unknown_name(f"field of {what} named", str(fault["loc"][-1]), holder.model_fields)
        case "missing":
            needed = f"The {owner} needs it" if owner and len(fault["loc"]) == 1 else f"Accepted: {accepted}"
            return f"{path} is missing. {needed}."
        case "value_error":
            return f"{path} is {format_value(fault['input'])}. Accepted: {inner}."
    said = f"{path} is {format_value(fault['input'])}. Accepted: {accepted}."
    if fault["type"] not in EXPLAINED and not fault["type"].endswith("_type"):
        return f"{said} {fault['msg']}."
    return said + suggest_choices(hint, fault["input"])


def format_value(value: Any) -> str:
    """A value as people wrote it: JSON, texts in single quotes, cut where it is long."""
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def suggest_choices(hint: Any, value: Any) -> str:
    """Which choices look like `value`, as a further sentence; empty where none does."""
    choices = [choice for choice in list_choices(hint) if isinstance(choice, str)]
    near = find_near_names(value, choices) if isinstance(value, str) else []
    return f" Did you mean {' or '.join(near)}?" if near else ""


def list_choices(hint: Any) -> list[Any]:
    """What the literals in an annotation name."""
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    if get_origin(hint) in (Annotated, Union, UnionType):
        return [choice for each in get_args(hint) for choice in list_choices(each)]
    return []


def describe_accepted(hint: Any, bounds: str = "") -> str:
    """What an annotation accepts, in words."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return describe_accepted(arguments[0], describe_bounds(arguments[1:]) or bounds)
    if origin in (Union, UnionType):
        return " or ".join(describe_accepted(each, bounds) for each in arguments)
    if origin is Literal:
        return " or ".join(map(format_value, arguments))
    if hint in (int, float):
        return f"{KINDS[hint][0]}{bounds}"
    if hint in KINDS:
        return KINDS[hint][0]
    if (origin or hint) in LISTS:
        several = KINDS.get(arguments[0], ("", ""))[1] if arguments else ""
        return f"a list of {several}" if several else "a list"
    return "an object with fields"


def describe_bounds(metadata: Sequence[Any]) -> str:
    """Bounds of a number, with a blank in front; empty where it has none."""
    flat = [each for part in metadata for each in (part.metadata if isinstance(part, FieldInfo) else [part])]
    found = {name: getattr(each, name) for each in flat for name in ("ge", "gt", "le", "lt") if hasattr(each, name)}
    words = {"ge": "from" if "le" in found else "of at least", "gt": "above", "le": "to", "lt": "below"}
    if "le" in found and "ge" not in found:
        words["le"] = "of at most"
    return "".join(f" {words[name]} {found[name]}" for name in words if name in found)


def annotate(field: FieldInfo) -> Any:
    """The field's annotation together with its bounds."""
    return Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation


def follow_location(model: type[BaseModel], location: Sequence[int | str], within: str) -> tuple[list[str], Any]:
    """Paths from the outermost value to the faulty one, and the annotation of the latter.

    Ends at a value of several plain types: they are described together.
    """
    paths, hint = [within], model
    for part, inner in walk_types(model, location):
        name = f"[{part}]" if isinstance(part, int) else f".{part}" if paths[-1] else part
        paths.append(paths[-1] + name)
        hint = inner
    return paths, hint


def find_model(model: type[BaseModel], location: Sequence[int | str]) -> type[BaseModel]:
    """The model at this place."""
    found = follow_location(model, location, "")[1]
    return next(each for each in list_types(found) if is_model(each))


def walk_types(hint: Any, location: Sequence[int | str]) -> Iterator[tuple[int | str, Any]]:
    """Each part of a location with the annotation of the value there."""
    for part in location:
        types = list_types(hint)
        if len(types) > 1:
            named = [each for each in types if is_model(each) and each.__name__ == part]
            if not named:
                return
            # A part that names the model that was tried is no part of the value.
            [hint] = named
            continue
        [hint] = types
        if is_model(hint):
            field = hint.model_fields.get(str(part))
            hint = annotate(field) if field else Any
        else:
            # Of an object the values, of a list its items; a tuple of fixed length has a type for each place.
            arguments = get_args(hint) or (Any,)
            fixed = get_origin(hint) is tuple and ... not in arguments and isinstance(part, int)
            last = [each for each in arguments if each is not ...][-1]
            hint = arguments[part] if fixed and isinstance(part, int) else last
        yield part, hint


def is_model(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, BaseModel)


def list_types(hint: Any) -> list[Any]:
    """The types that an annotation allows, without null and without bounds."""
    if get_origin(hint) is Annotated:
        return list_types(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return [each for argument in get_args(hint) if argument is not NoneType for each in list_types(argument)]
    return [hint]
