"""Takes the second factor of somebody of the staff away, for one who has lost phone and recovery codes."""

import difflib
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from wwd.staff import second_factor


class Command(BaseCommand):
    help = "Takes the second factor of an account away. Be sure who asks: the password alone opens it afterwards."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, username: str, **options: Any) -> None:
        user = User.objects.filter(username=username).first()
        if user is None:
            names = list(User.objects.filter(is_staff=True).values_list("username", flat=True))
            near = difflib.get_close_matches(username, names, n=3)
            raise CommandError(f"There is no account {username}." + (f" Near: {', '.join(near)}." if near else ""))
        if not second_factor.remove_second_factor(user):
            self.stdout.write(f"{username} has no second factor.")
            return
        again = " It is required of this account: the next log-in leads to setting it up."
        self.stdout.write(
            f"The second factor of {username} is taken away.{again if second_factor.required_of(user) else ''}"
        )
