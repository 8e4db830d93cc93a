"""Uploads stop being written once they are larger than a photo may be; the rest of the request is thrown away."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest, HttpResponse


class LimitHandler(FileUploadHandler):
    """Stands before Django's own handlers and skips a file as soon as it is too large."""

    arrived = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        self.arrived += len(raw_data)
        if self.arrived > settings.MAX_PHOTO_BYTES:
            assert self.request is not None
            self.request.META["wwd.upload_cut_off"] = True
            raise SkipFile
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None


def limited_upload(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Puts the limit in place before anything reads the body."""

    @wraps(view)
    def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        request.upload_handlers = [LimitHandler(request), *request.upload_handlers]
        return view(request, *args, **kwargs)

    return inner
