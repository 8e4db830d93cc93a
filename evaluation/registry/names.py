"""The named tables: name → lazy import path of a `TableSpec`. `manage.py tables` lists them.

Other apps add theirs with `register`, so that nothing here names an app that imports this one.
"""

from collections.abc import Mapping, Sequence

TABLES: dict[str, str] = {
    "association.descriptors": "evaluation.studies.association.ranks:DESCRIPTORS",
    "association.scores": "evaluation.studies.association.tables:SCORES",
    "association.top": "evaluation.studies.association.ranks:TOP",
    "colours.diversity": "evaluation.studies.colours:DIVERSITY",
    "colours.top": "evaluation.studies.colours:TOP",
    "generation.counts": "evaluation.studies.generation:COUNTS",
    "judging.fields": "evaluation.studies.knowledge.specs:JUDGED",
    "knowledge.consistency": "evaluation.studies.knowledge.specs:CONSISTENCY",
    "knowledge.disagreements": "evaluation.studies.knowledge.specs:DISAGREEMENTS",
    "knowledge.failures": "evaluation.studies.knowledge.specs:FAILURES_CONTINENT",
    "knowledge.failures_country": "evaluation.studies.knowledge.specs:FAILURES_COUNTRY",
    "knowledge.failures_language": "evaluation.studies.knowledge.specs:FAILURES_LANGUAGE",
    "knowledge.fields": "evaluation.studies.knowledge.specs:FIELDS_CONTINENT",
    "knowledge.fields_country": "evaluation.studies.knowledge.specs:FIELDS_COUNTRY",
    "knowledge.fields_language": "evaluation.studies.knowledge.specs:FIELDS_LANGUAGE",
    "knowledge.judge": "evaluation.studies.knowledge.specs:JUDGE",
    "novelty.access": "evaluation.novelty.access:ACCESS",
    "novelty.countries": "evaluation.novelty.access:COUNTRIES",
    "novelty.fields": "evaluation.novelty.fields:TABLE",
    "novelty.pairs": "evaluation.novelty.tables:PAIRS",
    "novelty.summary": "evaluation.novelty.tables:SUMMARY",
    "overview.countries": "evaluation.overview.tables:COUNTRIES",
    "overview.coverage": "evaluation.overview.tables:COVERAGE",
    "overview.devices": "evaluation.overview.tables:DEVICES",
    "overview.growth": "evaluation.overview.tables:GROWTH",
    "overview.totals": "evaluation.overview.tables:TOTALS",
    "stereotypes.answers": "evaluation.studies.stereotypes.tables:ANSWERS",
    "stereotypes.answers_country": "evaluation.studies.stereotypes.tables:ANSWERS_COUNTRY",
    "stereotypes.flattening": "evaluation.studies.stereotypes.tables:FLATTENING",
    "stereotypes.flattening_country": "evaluation.studies.stereotypes.tables:FLATTENING_COUNTRY",
    "stereotypes.readings": "evaluation.studies.stereotypes.tables:READINGS",
}

# What cells count, by the beginning of the table's name, the longest first; see `evaluation/drilldown/cells.py`.
DRILLDOWNS: dict[str, str] = {
    "": "evaluation.drilldown.observed:drill_down_observed",
    "association.descriptors": "evaluation.drilldown.images:association_descriptors",
    "association.scores": "evaluation.drilldown.images:association_scores",
    "colours.": "evaluation.drilldown.images:drill_down_colours",
    "colours.top": "evaluation.drilldown.studies:drill_down_group",
    "compare.": "evaluation.drilldown.derived:drill_down_comparison",
    "disparity.": "evaluation.drilldown.derived:drill_down_disparity",
    "generation.": "evaluation.drilldown.units:of_units",
    "knowledge.": "evaluation.drilldown.units:of_units",
    "stereotypes.": "evaluation.drilldown.images:drill_down_stereotypes",
    "stereotypes.readings": "evaluation.drilldown.images:stereotypes_readings",
}

# How much data of a kind there is, for plans that are made before it: kind → lazy import path of a function that takes
# the part (campaign, study; "" for all) and the run ("" for all) and gives None where there is no such thing yet.
EVIDENCE: dict[str, str] = {"units": "evaluation.plans.evidence:count_units"}
# Lazy import paths of functions that give what people said of images, for the pages of images.
REGISTERED_OPINIONS: list[str] = []
# The permission to read answers one by one, never with a name.
READ_ANSWERS = "review.read_answers"


def register_app_entries(
    tables: Mapping[str, str], drilldowns: Mapping[str, str], evidence: Mapping[str, str], opinions: Sequence[str]
) -> None:
    """Adds what an app brings: its tables, what their cells count, its kinds of data, people's opinions of images."""
    TABLES.update(tables)
    DRILLDOWNS.update(drilldowns)
    EVIDENCE.update(evidence)
    REGISTERED_OPINIONS.extend(path for path in opinions if path not in REGISTERED_OPINIONS)
