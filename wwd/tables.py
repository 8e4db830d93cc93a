"""The named tables: name → lazy import path of a `TableSpec`. `manage.py tables` lists them.

This list stands above the apps because tables come from `evaluation` and `review` alike, and imports go one way.
"""

TABLES = {
    "agreement.calibration": "review.people_machine.reliability:CALIBRATION",
    "agreement.disagreements": "review.people_machine.disagreements:DISAGREEMENTS",
    "agreement.labels": "review.people_machine.labels:LABELS_TABLE",
    "agreement.scores": "review.people_machine.scores:SCORES",
    "association.descriptors": "evaluation.studies.association_ranks:DESCRIPTORS",
    "association.scores": "evaluation.studies.association_tables:SCORES",
    "association.top": "evaluation.studies.association_ranks:TOP",
    "colours.diversity": "evaluation.studies.colours:DIVERSITY",
    "colours.top": "evaluation.studies.colours:TOP",
    "generation.counts": "evaluation.studies.generation:COUNTS",
    "judging.fields": "evaluation.studies.knowledge_specs:JUDGED",
    "knowledge.consistency": "evaluation.studies.knowledge_specs:CONSISTENCY",
    "knowledge.disagreements": "evaluation.studies.knowledge_specs:DISAGREEMENTS",
    "knowledge.failures": "evaluation.studies.knowledge_specs:FAILURES_CONTINENT",
    "knowledge.failures_country": "evaluation.studies.knowledge_specs:FAILURES_COUNTRY",
    "knowledge.failures_language": "evaluation.studies.knowledge_specs:FAILURES_LANGUAGE",
    "knowledge.fields": "evaluation.studies.knowledge_specs:FIELDS_CONTINENT",
    "knowledge.fields_country": "evaluation.studies.knowledge_specs:FIELDS_COUNTRY",
    "knowledge.fields_language": "evaluation.studies.knowledge_specs:FIELDS_LANGUAGE",
    "knowledge.judge": "evaluation.studies.knowledge_specs:JUDGE",
    "novelty.access": "evaluation.novelty.access:ACCESS",
    "novelty.countries": "evaluation.novelty.access:COUNTRIES",
    "novelty.fields": "evaluation.novelty.fields:TABLE",
    "novelty.pairs": "evaluation.novelty.tables:PAIRS",
    "novelty.summary": "evaluation.novelty.tables:SUMMARY",
    "overview.countries": "evaluation.overview:COUNTRIES",
    "overview.coverage": "evaluation.overview:COVERAGE",
    "overview.devices": "evaluation.overview:DEVICES",
    "overview.growth": "evaluation.overview:GROWTH",
    "overview.totals": "evaluation.overview:TOTALS",
    "review.agreement": "review.agreement:AGREEMENT",
    "review.checks": "review.tables.answers:TICKED",
    "review.controls": "review.tables.controls:CONTROLS",
    "review.match": "review.tables.answers:MATCH",
    "review.quality": "review.tables.quality:QUALITY",
    "review.quality_answered": "review.tables.quality:QUALITY_ANSWERED",
    "review.quality_own": "review.tables.quality:QUALITY_OWN",
    "review.reviewers": "review.tables.reviewers:REVIEWERS",
    "review.skips": "review.tables.skips:SKIPS",
    "review.words": "review.tables.words:WORDS",
    "stereotypes.answers": "evaluation.studies.stereotypes_tables:ANSWERS",
    "stereotypes.answers_country": "evaluation.studies.stereotypes_tables:ANSWERS_COUNTRY",
    "stereotypes.flattening": "evaluation.studies.stereotypes_tables:FLATTENING",
    "stereotypes.flattening_country": "evaluation.studies.stereotypes_tables:FLATTENING_COUNTRY",
    "stereotypes.readings": "evaluation.studies.stereotypes_tables:READINGS",
}

# What stands behind the cells of tables whose names begin like this; see `evaluation/behind.py`. The longest counts.
BEHIND = {
    "": "evaluation.behind_studies:group",
    "agreement.": "review.people_machine.behind:behind",
    "association.descriptors": "evaluation.behind_pictures:association_descriptors",
    "association.scores": "evaluation.behind_pictures:association_scores",
    "colours.": "evaluation.behind_pictures:colours",
    "colours.top": "evaluation.behind_studies:group",
    "compare.": "evaluation.behind_derived:comparison",
    "disparity.": "evaluation.behind_derived:disparity",
    "generation.": "evaluation.behind_units:of_units",
    "knowledge.": "evaluation.behind_units:of_units",
    "review.": "review.behind_tables:behind",
    "stereotypes.": "evaluation.behind_pictures:stereotypes",
    "stereotypes.readings": "evaluation.behind_pictures:stereotypes_readings",
}

# Reviews of pictures, for the pages of pictures in `evaluation`, which may not import `review`.
OPINIONS = "review.opinions:opinions_of"
# Whoever may read answers one by one, never with a name.
ANSWERS = "review.read_answers"
