"""The named tables: name → lazy import path of a `TableSpec`. `manage.py tables` lists them.

This list stands above the apps because tables come from `evaluation` and `review` alike, and imports go one way.
"""

TABLES = {
    "association.scores": "evaluation.studies.association:SCORES",
    "generation.counts": "evaluation.studies.generation:COUNTS",
    "review.quality": "review.tables:QUALITY",
}
