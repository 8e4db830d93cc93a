"""Compression and headers of every response."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.gzip import GZipMiddleware

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


def never_compress(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """For pages with codes or personal data: compression beside a secret could leak it (BREACH)."""

    @wraps(view)
    def inner(*args: Any, **kwargs: Any) -> HttpResponse:
        response = view(*args, **kwargs)
        response.never_compress = True  # type: ignore[attr-defined]
        return response

    return inner


class CompressMiddleware(GZipMiddleware):
    """Django's gzip with its random padding, left out where a view asks for it."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if getattr(response, "never_compress", False):
            return response
        return super().process_response(request, response)


class HeadersMiddleware:
    """The content security policy: nothing is ever loaded from another host."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Permissions-Policy", "geolocation=(), microphone=()")
        return response
