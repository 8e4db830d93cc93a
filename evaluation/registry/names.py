"""The named tables: name → lazy import path of a `TableSpec`. `manage.py tables` lists them.

This list stands above the apps because tables come from `evaluation` and `review` alike, and imports go one way.
"""

TABLES = {
    "agreement.calibration": "review.people_machine.reliability:CALIBRATION",
    "agreement.disagreements": "review.people_machine.disagreements:DISAGREEMENTS",
    "agreement.labels": "review.people_machine.labels:LABELS_TABLE",
    "agreement.scores": "review.people_machine.scores:SCORES",
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
    "review.agreement": "review.tables.agreement:AGREEMENT",
    "review.checks": "review.tables.answers:TICKED",
    "review.controls": "review.tables.controls:CONTROLS",
    "review.match": "review.tables.answers:MATCH",
    "review.quality": "review.tables.quality:QUALITY",
    "review.quality_answered": "review.tables.quality:QUALITY_ANSWERED",
    "review.quality_own": "review.tables.quality:QUALITY_OWN",
    "review.reviewers": "review.tables.reviewers:REVIEWERS",
    "review.skips": "review.tables.skips:SKIPS",
    "review.words": "review.tables.words:WORDS",
    "stereotypes.answers": "evaluation.studies.stereotypes.tables:ANSWERS",
    "stereotypes.answers_country": "evaluation.studies.stereotypes.tables:ANSWERS_COUNTRY",
    "stereotypes.flattening": "evaluation.studies.stereotypes.tables:FLATTENING",
    "stereotypes.flattening_country": "evaluation.studies.stereotypes.tables:FLATTENING_COUNTRY",
    "stereotypes.readings": "evaluation.studies.stereotypes.tables:READINGS",
}

# What stands behind the cells of tables whose names begin like this; see `evaluation/drilldown/cells.py`. The longest counts.
BEHIND = {
    "": "evaluation.drilldown.studies:group",
    "agreement.": "review.drilldown.people_machine:behind",
    "association.descriptors": "evaluation.drilldown.images:association_descriptors",
    "association.scores": "evaluation.drilldown.images:association_scores",
    "colours.": "evaluation.drilldown.images:colours",
    "colours.top": "evaluation.drilldown.studies:group",
    "compare.": "evaluation.drilldown.derived:comparison",
    "disparity.": "evaluation.drilldown.derived:disparity",
    "generation.": "evaluation.drilldown.units:of_units",
    "knowledge.": "evaluation.drilldown.units:of_units",
    "review.": "review.drilldown.tables:behind",
    "stereotypes.": "evaluation.drilldown.images:stereotypes",
    "stereotypes.readings": "evaluation.drilldown.images:stereotypes_readings",
}

# Reviews of pictures, for the pages of pictures in `evaluation`, which may not import `review`.
OPINIONS = "review.drilldown.opinions:opinions_of"
# Whoever may read answers one by one, never with a name.
ANSWERS = "review.read_answers"
