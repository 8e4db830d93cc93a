"""Health check of a container: exit 0 when the web server answers /healthz. `probe.py [PORT]`, 8000 unless given."""

import http.client
import os
import sys


def main() -> int:
    # The site answers only to its own names.
    host = os.environ.get("WWD_ALLOWED_HOSTS", "localhost").split(",")[0].strip().lstrip(".")
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=4)
    try:
        connection.request("GET", "/healthz", headers={"Host": host})
        return 0 if connection.getresponse().status == 200 else 1
    except OSError:
        return 1


if __name__ == "__main__":
    sys.exit(main())
