"""Recordings of consent texts, served by the application. Some phones play only what they may ask for in parts."""

from django.core.files.storage import default_storage
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from collection.consent.recordings import parse_byte_range, path_of
from collection.models import ConsentText
from wwd.base.middleware import disable_compression

YEAR = 365 * 24 * 60 * 60


@require_safe
def serve_recording(request: HttpRequest, name: str) -> HttpResponse:
    """The whole recording, or the part that the request names."""
    if not ConsentText.objects.filter(recording=name).exists():
        raise Http404
    try:
        with default_storage.open(path_of(name)) as file:
            data = file.read()
    except FileNotFoundError:
        raise Http404 from None
    part = parse_byte_range(request.headers.get("Range", ""), len(data))
    response = HttpResponse(data[part[0] : part[1] + 1] if part else data, content_type="audio/mpeg")
    if part:
        response.status_code = 206
        response.headers["Content-Range"] = f"bytes {part[0]}-{part[1]}/{len(data)}"
    # A browser plays it on a page of its own, which must be allowed to fetch this very address.
    response.headers["Content-Security-Policy"] = "default-src 'none'; media-src 'self'; style-src 'unsafe-inline'"
    response.headers["Accept-Ranges"] = "bytes"
    response.headers["Cache-Control"] = f"public, max-age={YEAR}, immutable"
    return disable_compression(response)
