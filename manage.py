#!/usr/bin/env python
"""Command line of the project: `manage.py help` lists what it can do."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wwd.settings")
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    from wwd.base.planner_statistics import TIMEOUT_SENTENCE, is_statement_timeout

    try:
        execute_from_command_line(sys.argv)
    except OperationalError as error:
        if not is_statement_timeout(error):
            raise
        sys.exit(TIMEOUT_SENTENCE)


if __name__ == "__main__":
    main()
