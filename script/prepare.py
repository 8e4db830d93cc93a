"""What must be there before the site starts. Every step looks first and does nothing where nothing is missing."""

import hashlib
import os
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path

BASE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Prepared:
    """What to tell the person at the terminal. `password` is set only when the staff account was just made."""

    password: str
    paths: dict[str, str]


def prepare() -> Prepared:
    """Database, static files, demonstration data and staff account; where to look."""
    sys.path.insert(0, str(BASE))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wwd.settings")
    import django
    from django.core.management import call_command

    django.setup()
    call_command("check")
    call_command("migrate", interactive=False, verbosity=0)
    collect_static()
    load_demonstration()
    return Prepared(password=staff_password(), paths=paths())


def static_fingerprint() -> str:
    """Hash of the names, sizes and times of all static files."""
    from django.contrib.staticfiles.finders import get_finders

    digest = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list([]):
            seen = Path(storage.path(name)).stat()
            digest.update(f"{name} {seen.st_size} {seen.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def collect_static() -> None:
    from django.conf import settings
    from django.core.management import call_command

    mark = Path(settings.STATIC_ROOT) / "collected"
    wanted = static_fingerprint()
    if mark.exists() and mark.read_text() == wanted:
        return
    call_command("collectstatic", interactive=False, verbosity=0)
    mark.write_text(wanted)


def load_demonstration() -> None:
    """Once, into an empty database: anyone who cleared the demonstration does not get it back."""
    from django.contrib.auth import get_user_model
    from django.core.management import call_command

    from collection.models import Dish

    if not get_user_model().objects.exists() and not Dish.objects.exists():
        print("Loading demonstration data …", flush=True)
        call_command("demo", "load")


def staff_password() -> str:
    """Makes the account `admin` where no account exists; its password, shown this once, or nothing."""
    from django.contrib.auth import get_user_model

    users = get_user_model().objects
    if users.exists():
        return ""
    password = secrets.token_urlsafe(12)
    users.create_superuser(username="admin", password=password)
    return password


def paths() -> dict[str, str]:
    """What there is to look at: label to path. The review link is the newest invitation that can still be used."""
    from django.urls import reverse

    from review.models import Campaign, Invitation

    found = {
        "Start page": reverse("collection:start"),
        "Describe a dish": reverse("collection:describe"),
        "Leaderboard": reverse("collection:leaderboard"),
        "For staff": reverse("admin:index"),
    }
    usable = Invitation.objects.filter(revoked_at=None, campaign__state=Campaign.State.OPEN)
    invitation = usable.order_by("-created_at").first()
    return {**found, "Judge pictures": invitation.get_absolute_url()} if invitation else found
