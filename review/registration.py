"""What the review adds to the tables of the evaluation: name → lazy import path. Registered by `ReviewConfig`."""

TABLES = {
    "agreement.calibration": "review.people_machine.reliability:CALIBRATION",
    "agreement.disagreements": "review.people_machine.disagreements:DISAGREEMENTS",
    "agreement.labels": "review.people_machine.labels:LABELS_TABLE",
    "agreement.scores": "review.people_machine.scores:SCORES",
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
}
# What the cells of tables whose names begin like this count; see `evaluation/drilldown/cells.py`.
DRILLDOWNS = {
    "agreement.": "review.drilldown.people_machine:drill_down_people_machine",
    "review.": "review.drilldown.tables:drill_down_review_table",
}
OPINIONS = ("review.drilldown.opinions:opinions_of",)
# How much data there is of a kind, for plans that are made before it; see `evaluation/registry/names.py`.
EVIDENCE = {"reviews": "review.receivers:count_campaign_reviews"}
