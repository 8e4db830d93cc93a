"""Typed reading of environment variables: a wrong value stops start-up and says which values are accepted."""

import os
from collections.abc import Mapping
from pathlib import Path

TRUE = ("1", "true", "yes", "on")
FALSE = ("0", "false", "no", "off")


class EnvError(Exception):
    """An environment variable holds a value that cannot be used; the text says what is accepted."""


class Env:
    """Reads variables of one environment. `NAME_FILE` names a file to read a secret from."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self._environ = environ
        self.known: set[str] = set()

    def text(self, name: str, default: str = "") -> str:
        """The text of `name`, or of the file named by `NAME_FILE`; surrounding blanks are dropped."""
        self.known.add(name)
        value = self._environ.get(name, "").strip()
        path = self._environ.get(f"{name}_FILE", "").strip()
        if value and path:
            raise EnvError(f"{name} and {name}_FILE are both set. Keep one of them.")
        if path:
            try:
                value = Path(path).read_text().strip()
            except (OSError, UnicodeDecodeError) as error:
                reason = getattr(error, "strerror", None) or "it holds no text"
                raise EnvError(f"{name}_FILE names {path}, which cannot be read: {reason}.") from error
        return value or default

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.text(name).lower()
        if not value:
            return default
        if value in TRUE + FALSE:
            return value in TRUE
        raise EnvError(f"{name} is {value!r}. Accepted: {', '.join(TRUE)} or {', '.join(FALSE)}.")

    def whole(self, name: str, default: int, least: int = 0) -> int:
        value = self.text(name)
        if not value:
            return default
        try:
            number = int(value)
        except ValueError:
            raise EnvError(f"{name} is {value!r}. Accepted: a whole number of at least {least}.") from None
        if number < least:
            raise EnvError(f"{name} is {number}. Accepted: a whole number of at least {least}.")
        return number

    def items(self, name: str, default: tuple[str, ...] = ()) -> list[str]:
        """Comma-separated texts, blanks dropped."""
        return [part.strip() for part in self.text(name).split(",") if part.strip()] or list(default)

    def choice(self, name: str, accepted: tuple[str, ...], default: str) -> str:
        value = self.text(name, default).lower()
        if value not in accepted:
            raise EnvError(f"{name} is {value!r}. Accepted: {', '.join(accepted)}.")
        return value

    def path(self, name: str, default: Path) -> Path:
        value = self.text(name)
        return Path(value).expanduser().resolve() if value else default
