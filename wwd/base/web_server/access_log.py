"""gunicorn's access log: each request by its route, never by its path, its query, its sender or its browser."""

from datetime import timedelta
from typing import Any

from django.core.handlers.wsgi import get_path_info
from gunicorn.glogging import Logger

from wwd.base.routes import UNKNOWN_ROUTE, route_of


class RouteLogger(Logger):
    """Gives the access log nothing that could tell who somebody is: what is not here cannot be written."""

    def atoms(self, resp: Any, req: Any, environ: dict[str, Any], request_time: timedelta) -> dict[str, Any]:
        """m: method, U: route, s: status, B: bytes sent, M: milliseconds."""
        return {
            "m": environ.get("REQUEST_METHOD"),
            "U": route_of(get_path_info(environ)) if "PATH_INFO" in environ else UNKNOWN_ROUTE,
            "s": str(resp.status).split(None, 1)[0],
            "B": getattr(resp, "sent", None),
            "M": int(request_time.total_seconds() * 1000),
        }
