"""Recordings of consent texts: MP3 files that staff upload, stored under random names."""

import re
import secrets

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from collection.models import ConsentText

FOLDER = "recordings"
MOST_BYTES = 3 * 1024 * 1024
# kbit/s and Hz of MPEG-1, MPEG-2 and 2.5 layer III, by the numbers in a frame's header (ISO 11172-3, 13818-3).
RATES_1 = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
RATES_2 = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
HERTZ = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
FRAMES = 3
RANGE = re.compile(r"bytes=(\d*)-(\d*)")


class RecordingError(ValueError):
    """The file cannot be used; the text says why and what to do."""


def frame_bytes(data: bytes, start: int) -> int:
    """Length of the MPEG layer III frame that starts there; 0 where none does."""
    head = data[start : start + 4]
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return 0
    version, layer = head[1] >> 3 & 3, head[1] >> 1 & 3
    rate, hertz, padding = head[2] >> 4, head[2] >> 2 & 3, head[2] >> 1 & 1
    if layer != 1 or version not in HERTZ or rate in (0, 15) or hertz == 3:
        return 0
    rates, samples = (RATES_1, 144) if version == 3 else (RATES_2, 72)
    return samples * rates[rate] * 1000 // HERTZ[version][hertz] + padding


def after_tag(data: bytes) -> int:
    """Where the sound begins: after an ID3v2 tag, if there is one."""
    if data[:3] != b"ID3" or len(data) < 10:
        return 0
    size = 0
    for byte in data[6:10]:
        size = size << 7 | byte & 0x7F
    return size + 10


def validate_recording(data: bytes) -> None:
    """Raises RecordingError unless these bytes are an MP3 of a size that a phone can fetch."""
    if len(data) > MOST_BYTES:
        raise RecordingError("The recording is larger than 3 MB. Save it as mono, 32 kbit/s.")
    start = after_tag(data)
    for _frame in range(FRAMES):
        length = frame_bytes(data, start)
        if not length or start + length > len(data):
            raise RecordingError("This is not a whole MP3 file. Save the recording as MP3 and send it again.")
        start += length


def attach_recording(text: ConsentText, data: bytes) -> None:
    """Stores a checked recording and names it in its text; the former one goes. The file is written first."""
    validate_recording(data)
    former = text.recording
    name = f"{secrets.token_urlsafe(12)}.mp3"
    default_storage.save(path_of(name), ContentFile(data))
    ConsentText.objects.filter(pk=text.pk).update(recording=name, recording_bytes=len(data))
    if former:
        default_storage.delete(path_of(former))


def path_of(name: str) -> str:
    return f"{FOLDER}/{name}"


def parse_byte_range(header: str, size: int) -> tuple[int, int] | None:
    """First and last byte of a request's Range header; None where it asks for everything or cannot be followed."""
    match = RANGE.fullmatch(header.strip())
    if match is None or not any(match.groups()):
        return None
    first, last = match.groups()
    if not first:
        return max(0, size - int(last)), size - 1
    start, end = int(first), min(int(last), size - 1) if last else size - 1
    return (start, end) if start <= end else None
