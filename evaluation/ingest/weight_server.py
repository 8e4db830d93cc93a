"""Fetching weights from a server of the Hub's protocol: one revision, safetensors and small files, nothing that runs.

Format: `/api/models/ID/tree/COMMIT?recursive=true` lists files with size and checksum (SHA-256 of large files, the
Git blob's SHA-1 of small ones); `/ID/resolve/COMMIT/PATH` gives one, often by leading on to another host.
"""

import hashlib
import http.client
import json
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit

from evaluation.backends import weight_cache
from evaluation.backends.weight_cache import HeldFile
from evaluation.contracts.parameters import COMMIT
from wwd.base import fetching
from wwd.base.atomic_files import write_text_atomically

# Weights as the library saves them; other precisions and other formats of the same repository are left.
WEIGHTS = re.compile(r"(?:model|diffusion_pytorch_model)(?:-\d{5}-of-\d{5})?\.safetensors")
SMALL = re.compile(r".+\.(?:json|jinja|txt|model)")
NAME = re.compile(r"[\w.-]+(?:/[\w.-]+)?")
PART = re.compile(r"[\w.+ -]+")
MOST_SMALL = 256 * 1024 * 1024
MOST_LIST = 64 * 1024 * 1024
MOST_FILES = 5000
SECONDS = 60.0
CHUNK = 1024 * 1024
TRIES = 4
HOPS = 4


class WeightError(Exception):
    """A model cannot be fetched; the text says why, in a sentence. `again`: another try may help."""

    def __init__(self, sentence: str, again: bool = False) -> None:
        super().__init__(sentence)
        self.again = again


@dataclass(frozen=True)
class ListedFile:
    """A file as the server lists it. `checksum`: SHA-256 of a large file, else the SHA-1 of its Git blob."""

    path: str
    size: int
    checksum: str


@dataclass(frozen=True)
class WeightServer:
    """`url`: where its paths begin. `local`: it may lie in the own network, and speak http. `token`: for its host."""

    url: str
    local: bool = False
    token: str = ""

    def fetch_model(
        self, identifier: str, revision: str, say: Callable[[str], None] = lambda text: None
    ) -> list[HeldFile]:
        """Brings one revision of a model into the cache → its files. What is there and right is not fetched again.

        A file that was cut goes on where it stopped. Raises WeightError; what is whole by then stays.
        """
        check_name(identifier, revision)
        folder = weight_cache.folder_of(identifier, revision)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            listed = choose_files(self.list_files(identifier, revision))
            check_space(folder, listed)
            known = {each.path: each for each in weight_cache.read_manifest(identifier, revision)}
            held = []
            for each in listed:
                say(f"{each.path}, {each.size:,} bytes")
                held.append(self.bring(identifier, revision, folder, each, known.get(each.path)))
            if held == list(known.values()):
                return held
            target = weight_cache.manifest_path(identifier, revision)
            target.parent.mkdir(parents=True, exist_ok=True)
            write_text_atomically(target, json.dumps(weight_cache.describe_manifest(held, self.url), indent=1))
        except OSError as error:
            raise WeightError(f"The cache {folder} cannot be written: {error.strerror or error}.") from error
        return held

    def list_files(self, identifier: str, revision: str) -> list[ListedFile]:
        """All files of a revision. Raises WeightError."""
        url: str | None = f"{self.url}/api/models/{identifier}/tree/{revision}?recursive=true"
        found: list[ListedFile] = []
        while url and len(found) <= MOST_FILES:
            with self.opened(url) as response:
                content = response.read(MOST_LIST + 1)
                url = next_page(response.getheader("Link") or "", url)
            try:
                rows = json.loads(content)
                found += [read_row(row) for row in rows if row["type"] == "file"]
            except (ValueError, LookupError, TypeError) as error:
                raise WeightError(f"The list of files of {identifier} cannot be read.") from error
        if len(found) > MOST_FILES:
            raise WeightError(f"{identifier} has more than {MOST_FILES} files: it is no model.")
        return found

    def bring(
        self, identifier: str, revision: str, folder: Path, listed: ListedFile, known: HeldFile | None
    ) -> HeldFile:
        """One file, from the cache where it is right there, else from the server."""
        target = folder / listed.path
        if target.is_file() and target.stat().st_size == listed.size:
            held = HeldFile(listed.path, listed.size, weight_cache.hash_file(target))
            if held == known or checksum_of(target, listed) == listed.checksum:
                return held
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f"{target.name}.part-{listed.checksum[:16]}")
        url = f"{self.url}/{identifier}/resolve/{revision}/{quote(listed.path)}"
        for attempt in range(1, TRIES + 1):
            try:
                self.go_on(url, part, listed)
                break
            except WeightError as error:
                if not error.again or attempt == TRIES:
                    raise
        if checksum_of(part, listed) != listed.checksum:
            # Going on from wrong bytes would only give wrong bytes again.
            part.unlink()
            raise WeightError(f"{listed.path} of {identifier} came with another checksum than the server lists.")
        part.replace(target)
        return HeldFile(listed.path, listed.size, weight_cache.hash_file(target))

    def go_on(self, url: str, part: Path, listed: ListedFile) -> None:
        """What is missing of `part`, or all of it where the server cannot begin in the middle. Raises WeightError."""
        begun = part.stat().st_size if part.exists() else 0
        if begun > listed.size:
            part.unlink()
            begun = 0
        if begun == listed.size and part.exists():
            return
        headers = {"Range": f"bytes={begun}-"} if begun else {}
        with self.opened(url, headers) as response:
            if begun and response.status != 206:
                begun = 0
            elif begun and not (response.getheader("Content-Range") or "").startswith(f"bytes {begun}-"):
                raise WeightError(f"{listed.path}: the server began at another place than was asked for.")
            with part.open("ab" if begun else "wb") as file:
                while chunk := read_chunk(response, listed.path):
                    begun += len(chunk)
                    if begun > listed.size:
                        raise WeightError(f"{listed.path} is larger than the server lists.")
                    file.write(chunk)
        if begun < listed.size:
            raise WeightError(f"{listed.path} came only in part: ask again, it goes on from there.", again=True)

    @contextmanager
    def opened(self, url: str, headers: Mapping[str, str] | None = None) -> Iterator[http.client.HTTPResponse]:
        """The answer of `url`, wherever it leads. Raises WeightError for any that is not of a file."""
        own = urlsplit(self.url).netloc
        for _ in range(HOPS):
            try:
                parts = fetching.check_url(url, self.local)
                connection = fetching.open_connection(parts, fetching.address_of(parts, self.local), SECONDS)
            except fetching.FetchError as error:
                said = str(error).replace("of the image ", "").replace("The image", "It")
                raise WeightError(f"{parts_shown(url)} may not or cannot be asked. {said}", error.again) from error
            sent = {"Accept-Encoding": "identity", **(headers or {})}
            if self.token and parts.netloc == own and parts.scheme == urlsplit(self.url).scheme:
                # To no other host, wherever this one leads.
                sent["Authorization"] = f"Bearer {self.token}"
            watch = threading.Timer(SECONDS, fetching.shut_down_connection, [connection])
            watch.daemon = True
            watch.start()
            try:
                try:
                    path = parts.path or "/"
                    connection.request("GET", f"{path}?{parts.query}" if parts.query else path, headers=sent)
                    response = connection.getresponse()
                except (OSError, http.client.HTTPException, ValueError) as error:
                    raise WeightError(f"{parts_shown(url)} did not answer: {type(error).__name__}.", True) from error
                finally:
                    watch.cancel()
                if response.status in fetching.MOVED:
                    url = urljoin(url, response.getheader("Location") or "")
                    continue
                if response.status not in (200, 206):
                    raise WeightError(described_status(url, response.status), response.status in (429, 500, 502, 503))
                yield response
                return
            finally:
                connection.close()
        raise WeightError(f"{parts_shown(url)} leads on and on to other addresses.")


def described_status(url: str, status: int) -> str:
    hint = {
        401: " It wants a token: set HF_TOKEN.",
        403: " Its terms were not accepted, or the token does not suffice.",
        404: " It has no such model or revision.",
    }
    return f"{parts_shown(url)} answered {status}.{hint.get(status, '')}"


def parts_shown(url: str) -> str:
    """Host and path of an address: what follows may be a signature."""
    parts = urlsplit(url)
    return f"{parts.hostname}{parts.path}"[:200]


def read_chunk(response: http.client.HTTPResponse, path: str) -> bytes:
    try:
        return response.read(CHUNK)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise WeightError(f"{path} came only in part: ask again, it goes on from there.", again=True) from error


def check_name(identifier: str, revision: str) -> None:
    if not NAME.fullmatch(identifier) or ".." in identifier:
        raise WeightError(f"{identifier!r} is no name on a server of models, such as maker/model.")
    if not COMMIT.fullmatch(revision):
        raise WeightError(f"The revision of {identifier} is not a commit of 40 hexadecimal digits.")


def check_space(folder: Path, listed: list[ListedFile]) -> None:
    """Raises WeightError where the disk would be full before the last file."""
    missing = sum(each.size for each in listed if not (folder / each.path).is_file())
    free = shutil.disk_usage(folder).free
    if missing > free:
        raise WeightError(f"The cache lacks room: {missing:,} bytes are missing and {free:,} are free.")


def read_row(row: Mapping[str, object]) -> ListedFile:
    """Raises LookupError, TypeError or ValueError."""
    large = row.get("lfs")
    path, size = str(row["path"]), int(str(row["size"]))
    checksum = str(large["oid"] if isinstance(large, Mapping) else row["oid"]).lower().removeprefix("sha256:")
    if len(checksum) not in (40, 64) or size < 0:
        raise ValueError(checksum)
    return ListedFile(path, int(str(large["size"])) if isinstance(large, Mapping) else size, checksum)


def next_page(link: str, url: str) -> str | None:
    found = re.search(r'<([^>]+)>;\s*rel="next"', link)
    return urljoin(url, found.group(1)) if found else None


def choose_files(listed: list[ListedFile]) -> list[ListedFile]:
    """What loading needs, small files first. Raises WeightError where there are no weights among it."""
    kept = []
    for each in listed:
        parts = each.path.split("/")
        if len(parts) > 3 or not all(PART.fullmatch(part) and not part.startswith(".") for part in parts):
            continue
        if WEIGHTS.fullmatch(parts[-1]) or (SMALL.fullmatch(parts[-1]) and each.size <= MOST_SMALL):
            kept.append(each)
    if not any(WEIGHTS.fullmatch(Path(each.path).name) for each in kept):
        raise WeightError("The revision holds no safetensors under a name that is known: nothing else is loaded.")
    return sorted(kept, key=lambda each: (each.path.endswith(".safetensors"), each.path))


def checksum_of(path: Path, listed: ListedFile) -> str:
    """As the server computes it: SHA-256, or the SHA-1 of a Git blob."""
    if len(listed.checksum) == 64:
        return weight_cache.hash_file(path)
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
