"""Who on the staff may do what: four groups, written after each migration exactly as they are here.

A person may be in several. For other rights make a group of your own: these four are set back to this list.
docs/operations/staff.md explains them, docs/privacy.md says who reads what about people.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth.models import Group, Permission
from django.db import connections

# group → app → permissions, by their code names.
GROUPS: Mapping[str, Mapping[str, str]] = {
    # Results and blurred images. Nothing about people: no contributors, reviewers, notes, details.
    "researcher": {
        "evaluation": """
            view_storedtable view_run view_unit view_outcome view_earlieroutcome view_subject view_generatedimage
            view_model view_prompttemplate view_questionset view_descriptorset add_imagedownload
            view_plan add_plan change_plan unmask_plan view_referencelist
        """,
        "review": "view_questionnaire read_answers",
    },
    # People and what they told: curation, reports, withdrawals, notes, exclusions, campaigns.
    "steward": {
        "collection": """
            view_dish change_dish view_photo change_photo view_report change_report view_ingredient change_ingredient
            view_withdrawal change_withdrawal view_contributor change_contributor view_aboutyou view_country
            view_dishlanguage view_dishcountry view_photolink view_dishchange
            view_ambassador add_ambassador change_ambassador view_consenttext view_opening
        """,
        "review": """
            view_campaign add_campaign change_campaign view_campaigntext add_campaigntext change_campaigntext
            delete_campaigntext view_supportcontact add_supportcontact change_supportcontact delete_supportcontact
            view_invitation add_invitation change_invitation view_campaignimage view_reviewer change_reviewer
            view_reviewerbackground view_note change_note view_assignment change_assignment view_review change_review
            read_answers
            view_exclusion add_exclusion view_questionnaire view_reviewerconsent
        """,
    },
    # What runs and what it may: runs, models, prompts, consent texts, the opening, the log of downloads.
    "operator": {
        "evaluation": """
            view_storedtable view_run add_run change_run view_unit view_outcome view_earlieroutcome view_subject
            view_generatedimage view_model add_model change_model view_prompttemplate add_prompttemplate
            view_questionset add_questionset view_descriptorset add_descriptorset view_imagedownload
            view_plan add_plan change_plan unmask_plan view_referencelist
            view_workertoken add_workertoken change_workertoken
        """,
        "collection": "view_consenttext add_consenttext change_consenttext view_opening add_opening view_country",
        "review": "view_questionnaire view_reviewerconsent change_reviewerconsent",
    },
    # Dishes of one country, through a row of `Ambassador` that names the account.
    "ambassador": {"collection": "see_own_country"},
}


def load_groups(using: str = "default", **signal: Any) -> None:
    """Receiver of `post_migrate`: makes the groups and sets their permissions. A second run changes nothing."""
    if Group._meta.db_table not in connections[using].introspection.table_names():
        return
    wanted = {name: set(iterate_permission_keys(apps)) for name, apps in GROUPS.items()}
    known = find_permissions(using, {key for names in wanted.values() for key in names})
    for name, names in wanted.items():
        group, _ = Group.objects.using(using).get_or_create(name=name)
        group.permissions.set([known[key] for key in names if key in known])


def iterate_permission_keys(apps: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """(app, code name) of each permission of a group."""
    return ((app, codename) for app, names in apps.items() for codename in names.split())


def find_permissions(using: str, names: set[tuple[str, str]]) -> dict[tuple[str, str], Permission]:
    """Those of the permissions that exist already: a database that is migrated half-way has not all of them."""
    rows = Permission.objects.using(using).select_related("content_type")
    found = rows.filter(codename__in={codename for _, codename in names})
    return {(row.content_type.app_label, row.codename): row for row in found}
