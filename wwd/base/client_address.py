"""The address that a request came from, as far as our own proxies say it."""

import re

from django.conf import settings
from django.http import HttpRequest

# Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`.
WITH_PORT = re.compile(r"\[(?P<six>[^\]]+)\](?::\d+)?|(?P<four>[\d.]+):\d+")


def client_address(request: HttpRequest) -> str:
    """The address at the other end of the outermost of our `WWD_TRUSTED_PROXIES` proxies.

    Each proxy adds the address that it saw at the right; what stands further left is what somebody claims. A request
    with fewer entries came around them: then the address of the line counts, which nobody chooses.
    """
    line = str(request.META.get("REMOTE_ADDR", ""))
    proxies = settings.TRUSTED_PROXIES or int(settings.BEHIND_TLS_PROXY)
    said = [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",")]
    if not proxies or len(said) < proxies or not said[-proxies]:
        return line
    address = said[-proxies]
    found = WITH_PORT.fullmatch(address)
    return (found["six"] or found["four"]) if found else address
