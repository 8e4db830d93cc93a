"""Health check of a container: exit 0 when the web server answers /healthz."""

import http.client
import os
import sys


def main() -> int:
    # The site answers only to its own names.
    host = os.environ.get("WWD_ALLOWED_HOSTS", "localhost").split(",")[0].strip().lstrip(".")
    connection = http.client.HTTPConnection("127.0.0.1", 8000, timeout=4)
    try:
        connection.request("GET", "/healthz", headers={"Host": host})
        return 0 if connection.getresponse().status == 200 else 1
    except OSError:
        return 1


if __name__ == "__main__":
    sys.exit(main())
