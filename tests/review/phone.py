"""A browser that keeps no cookie and runs no script, for walking through the pages of the review."""

import re
from typing import Any

from django.test import Client

from review.models import Invitation
from tests.review.make import GOOD, form_of, make_invitation

PROOF = re.compile(r'name="proof" value="([^"]+)"')
LEFT = re.compile(r'name="left" value="([^"]+)"')
CODE = re.compile(r'class="code">([\d ]+)<')


class Phone:
    """Knows only the page in front of it."""

    def __init__(self, invitation: Invitation | None = None, **headers: Any) -> None:
        self.invitation = invitation or make_invitation()
        self.headers = headers
        self.page = ""
        self.status = 0

    def send(self, address: str, **fields: Any) -> str:
        client = Client(headers=self.headers)
        response = client.post(address, fields) if fields else client.get(address)
        self.page, self.status = response.content.decode(), response.status_code
        return self.page

    @property
    def address(self) -> str:
        return self.invitation.get_absolute_url()

    def proof(self, near: str = "") -> str:
        """The proof of the form that holds `near`, or of the last form before the foot of the page."""
        forms = [form for form in self.page.split("<form")[1:] if PROOF.search(form)]
        found = [form for form in forms if near in form] if near else [form for form in forms if "forget" not in form]
        return PROOF.findall(found[-1])[0]

    def join(self, country: str = "Nigeria") -> str:
        self.send(self.address)
        choices = {"begun": "no", "country": country, "role": "volunteer", "adult": "on", "agree": "on"}
        return self.send(self.address, proof=self.proof(), **choices)

    def say_why(self, why: str, **fields: Any) -> str:
        """Presses one of the reasons that are under a skip or report."""
        left = LEFT.findall(self.page)[0]
        return self.send(f"{self.address}pictures/", proof=self.proof("why"), left=left, why=why, **fields)

    def press(self, do: str, near: str = "", **fields: Any) -> str:
        return self.send(f"{self.address}pictures/", proof=self.proof(near), do=do, **fields)

    def answer(self, answers: Any = GOOD, **fields: Any) -> str:
        self.press("show")
        return self.press("answer", page="2", shown="1", **form_of(answers), **fields)


def joined(invitation: Invitation | None = None) -> Phone:
    phone = Phone(invitation)
    phone.join()
    return phone
