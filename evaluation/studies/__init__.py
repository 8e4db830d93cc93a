"""The table of studies: slug → lazy import path. Adding a study is one module and one line here."""

from django.utils.module_loading import import_string

from evaluation.contracts.study import ConfigError, Study
from evaluation.suggestions import describe_unknown_name

STUDIES = {
    "generation": "evaluation.studies.generation:Generation",
    "association": "evaluation.studies.association.study:Association",
    "stereotypes": "evaluation.studies.stereotypes.study:Stereotypes",
    "colours": "evaluation.studies.colours:Colours",
    "judging": "evaluation.studies.knowledge.judge_study:Judging",
    "knowledge": "evaluation.studies.knowledge.study:Knowledge",
}


def load_study(slug: str) -> Study:
    """The study named `slug`. Raises ConfigError with the near names."""
    if slug not in STUDIES:
        raise ConfigError(describe_unknown_name("study", slug, STUDIES))
    found = import_string(STUDIES[slug].replace(":", "."))
    assert issubclass(found, Study)
    return found()
