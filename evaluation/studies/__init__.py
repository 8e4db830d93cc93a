"""The table of studies: slug → lazy import path. Adding a study is one module and one line here."""

STUDIES = {
    "generation": "evaluation.studies.generation:Generation",
    "association": "evaluation.studies.association:Association",
}
