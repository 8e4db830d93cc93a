"""What a bundle says of itself: README, terms of use, and the list of its contents."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import translation

from evaluation.images.download_log import TERMS
from wwd.base.csv_files import CSV_NOTE
from wwd.exchange.bundles.listings import NO_ETHICS

DATA_TERMS = (
    "The rows are for checking and reusing the numbers. Nobody tries to find out who a reviewer or contributor is.",
    "No model is trained, tuned or adapted with them.",
    "Dishes may be withdrawn after this bundle was made. Anyone who stores it reads the list of withdrawn dishes of "
    "the platform (/withdrawn/), and deletes what is listed there.",
    "Code: see LICENSE. Data of others that lies in source/: see NOTICE.",
    "Who publishes numbers cites the sources named with each table, and this bundle by the SHA-256 of its file.",
)
CONTENTS = (
    (
        "tables/",
        "the tables as CSV, and as JSON with definitions, notes, methods, and reasons for what is not measured; the "
        "column plan says which numbers were planned before the data",
    ),
    ("plans/", "the frozen plans that list these tables or their data, each with its hash"),
    ("runs/", "configuration, definition, models with revision, hardware and library versions, states of the units"),
    ("campaigns.json", "campaigns of reviews, each with its ethics approval"),
    ("prompts.csv", "prompts as sent, and as the provider rewrote them"),
    ("answers.csv", "raw answers of models"),
    ("refusals.csv", "what was refused, held back, empty or failed, with the reason; earlier tries too"),
    ("data/", "the rows that the tables are computed from, one JSON object a line"),
    ("source/", "the code that computed them"),
    ("LICENSE, NOTICE", "the licence of the code; the licences of data and fonts of others that it uses"),
    ("requirements.txt, requirements-worker.txt", "the packages, pinned; the second file is for hosts of models"),
    ("*.spreadsheet.csv, *.jsonl", "the same tables and listings for spreadsheets, and as JSON Lines"),
    ("bundle.json", "the list of the tables, the commit, versions, numbers of rows"),
    ("recompute.py", "computes the tables again and compares them"),
    ("SHA256SUMS", "a checksum of every file: sha256sum --check SHA256SUMS"),
)
LEFT_OUT = (
    "Contributors, personal details, what reviewers said about themselves, accounts of staff, times of reviews. "
    "Reviewers are numbers that are used nowhere else.",
    "Everything about dishes that were withdrawn. Words of dishes that are not shown to the public say “withdrawn”.",
    "What people said about their dishes, but for names, places, languages: of the rest an x says that it was given.",
    "What reviewers wrote in their own words and nobody of the staff has read yet: of it only function words and the "
    "words that a table counts are left, the others are an x. The tables come out the same.",
    "Addresses and keys of providers.",
)


def write_readme(manifest: Mapping[str, Any], campaigns: Sequence[Mapping[str, Any]], ethics: str, plans: int) -> str:
    """The README, in English, as Markdown."""
    versions = manifest["versions"]
    parts = [
        f"# {manifest['name']}: tables of World Wide Dishes, with what they are computed from",
        *(
            ["**Demonstration: these numbers come from stand-ins and are no measurement.**"]
            if manifest["demonstration"]
            else []
        ),
        "Content warning: what reviewers and models say of images can be offensive.",
        "## Tables",
        "\n".join(_of_view(view) for view in manifest["views"]),
        "## Compute them again",
        "    python -m venv fresh && fresh/bin/pip install -r requirements.txt\n    fresh/bin/python recompute.py",
        "The second line needs no network and opens no connection. It says of each table whether it is equal, byte for "
        f"byte. Made with Python {versions['python']} on {versions['machine']}; another "
        "processor or version of numpy may differ in the last digit of an interval.",
        "## What is in here",
        "\n".join(f"- `{name}`: {what}" for name, what in list_bundle_contents(manifest)),
        "## Read the files",
        CSV_NOTE,
        "## What is not",
        "\n".join(f"- {sentence}" for sentence in (*LEFT_OUT, *_describe_images(manifest))),
        "## Plan",
        f"{plans} frozen plan(s) in `plans/`. The column `plan` of each table says which numbers they list."
        if plans
        else "No plan was frozen about these tables: all numbers are exploratory.",
        "## Ethics approval",
        "\n".join([f"- Collection of dishes: {ethics}.", *(_of_campaign(campaign) for campaign in campaigns)]),
        "## Code",
        _of_code(manifest["code"]),
        "## Terms of use",
        "See `TERMS.md`.",
    ]
    return "\n\n".join(parts) + "\n"


def list_bundle_contents(manifest: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    images = (
        (("pictures/", "images by their SHA-256; prompts.csv says which is which"),) if manifest["pictures"] else ()
    )
    return (*CONTENTS, *images)


def write_terms(images: int) -> str:
    """The terms of the data, and of the images where there are some."""
    with translation.override("en"):
        sentences = [*DATA_TERMS, *(str(sentence) for sentence in (TERMS if images else ()))]
    return "# Terms of use\n\n" + "\n".join(f"- {sentence}" for sentence in sentences) + "\n"


def _of_view(view: Mapping[str, Any]) -> str:
    only = "".join(f", {name} = {value}" for name, value in view["filters"].items())
    not_again = f" Not computed again here: {view['not_recomputed']}." if view["not_recomputed"] else ""
    return f"- `{view['csv']}`: {view['title']}{only}. Version {view['version']}. {view['standing']}{not_again}"


def _of_campaign(campaign: Mapping[str, Any]) -> str:
    mark = "**" if campaign["ethics_approval"] == NO_ETHICS else ""
    return f"- Campaign `{campaign['campaign']}`: {mark}{campaign['ethics_approval']}{mark}."


def _of_code(code: Mapping[str, Any]) -> str:
    if not code["commit"]:
        return "The commit is not known: the installation is no checkout. `source/` holds the files as they ran."
    changed = " The files in `source/` differ from it: they had been changed." if code["changed"] else ""
    return f"Commit {code['commit']}.{changed}"


def _describe_images(manifest: Mapping[str, Any]) -> Sequence[str]:
    return () if manifest["pictures"] else ("Images. prompts.csv holds their SHA-256.",)
