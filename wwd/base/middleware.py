"""Compression and headers of every response, and an answer for bodies that cannot be read."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, UnreadablePostError
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_cache_control, patch_vary_headers

from wwd.base import errors
from wwd.base.routes import keys_in_route

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "manifest-src 'self'",
        "worker-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)


def disable_compression(response: HttpResponse) -> HttpResponse:
    """For pages with codes or personal data: compression beside a secret could leak it (BREACH)."""
    response.never_compress = True  # type: ignore[attr-defined]
    return response


def never_compress(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Every answer of this view is `uncompressed`."""

    @wraps(view)
    def inner(*args: Any, **kwargs: Any) -> HttpResponse:
        return disable_compression(view(*args, **kwargs))

    return inner


class CompressMiddleware(GZipMiddleware):
    """Django's gzip with its random padding, left out where a view asks for it."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if getattr(response, "never_compress", False):
            return response
        return super().process_response(request, response)


def forbid_shared_caching(request: HttpRequest, response: HttpResponseBase) -> None:
    """Keeps shared caches from a response that may depend on who this browser remembers.

    A response that has rules of its own gets no `Vary`: Back must find it again although a cookie has come since.
    """
    has_rules = "Cache-Control" in response.headers
    patch_cache_control(response, private=True)
    if has_rules:
        return
    if getattr(request, "asked_cookies", False):
        response.headers["Cache-Control"] = "private, no-cache"
    else:
        patch_vary_headers(response, ("Cookie",))


class HeadersMiddleware:
    """The content security policy: nothing is ever loaded from another host.

    An address that holds a person's key goes into no `Referer`, not even to this site. What does not say that it is the
    same for everybody (`Cache-Control`) is stored by no shared cache, and by no browser for another person.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Permissions-Policy", "geolocation=(), microphone=()")
        if not is_shared(response):
            forbid_shared_caching(request, response)
        found = request.resolver_match
        if found is not None and keys_in_route(found.route):
            response.headers.setdefault("Referrer-Policy", "no-referrer")
        return response


def is_shared(response: HttpResponseBase) -> bool:
    """Whether a view said how everybody's caches may keep its answer; `no-store` forbids it to all of them."""
    said = {part.strip().partition("=")[0] for part in response.headers.get("Cache-Control", "").lower().split(",")}
    return bool(said & {"public", "no-store"} or (said & {"max-age", "no-cache"} and "private" not in said))


class BodyMiddleware:
    """Refuses bodies of an absurd length with a page instead of a broken connection."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if stated_length(request) <= settings.MAX_REQUEST_BYTES:
            return self.get_response(request)
        # A browser shows the answer only when it could send on: read some, keep nothing.
        left = settings.MAX_REQUEST_BYTES
        while left > 0 and (read := len(request.read(min(left, 64 * 1024)))):
            left -= read
        response = errors.too_large(request)
        response.headers["Connection"] = "close"
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """A phone that lost its line in the middle of sending is not an error of ours."""
        return errors.bad_request(request, exception) if isinstance(exception, UnreadablePostError) else None


def stated_length(request: HttpRequest) -> int:
    """The length in bytes that the request states; 0 where it states none."""
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0
