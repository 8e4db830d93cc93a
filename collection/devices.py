"""What kind of device a dish was sent from: one of three words, decided at once. What the browser said is not kept."""

import re
from collections.abc import Mapping

from collection.models import Submission

# Browsers on phones and tablets, those of simple phones and of data savers among them.
MOBILE = re.compile(r"Mobi|Android|iPhone|iPad|iPod|Opera Mini|UCBrowser|UCWEB|KAIOS|BlackBerry|Nokia|J2ME|MIDP", re.I)
DESKTOP = re.compile(r"Windows NT|Macintosh|X11|CrOS")
HINTS = {"?1": Submission.Device.MOBILE, "?0": Submission.Device.DESKTOP}


def device_class(headers: Mapping[str, str]) -> str:
    """Mobile or desktop, by the browser's own hint, else by the name that it gives; else unknown.

    Tablets that call themselves desktops (iPads since 2019) are counted as what they say.
    """
    if hint := HINTS.get(headers.get("Sec-CH-UA-Mobile", "").strip()):
        return hint
    name = headers.get("User-Agent", "")[:500]
    if MOBILE.search(name):
        return Submission.Device.MOBILE
    return Submission.Device.DESKTOP if DESKTOP.search(name) else Submission.Device.UNKNOWN
