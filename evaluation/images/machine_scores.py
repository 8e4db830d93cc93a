"""Everything that machines said of an image, in words: the outcomes of all runs, read as their tables read them."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from evaluation.contracts.study import OutcomeData
from evaluation.metrics import association as metrics
from evaluation.models import GeneratedImage, Outcome, Role, Run, Unit
from evaluation.studies.association.tables import compute_sign_cosines, gather_association_data
from evaluation.studies.stereotypes.tables import gather_stereotype_answers as gather_answers
from evaluation.tables.format import format_number
from evaluation.tables.outcomes import Maker, read_outcomes

MOST = 6000
DIGITS = 3


@dataclass(frozen=True)
class Score:
    """What one run gave about an image: label and words of each line."""

    study: str
    run: str
    lines: Sequence[tuple[str, str]]
    demonstration: bool = False


Outcomes = Sequence[OutcomeData]
Lines = Sequence[tuple[str, str]]


def collect_machine_scores(images: Sequence[GeneratedImage]) -> dict[int, list[Score]]:
    """Image id → what each run gave about it, in the order of the runs. The number of images adds no query."""
    wanted = {image.pk: image for image in images}
    found: dict[tuple[int, int], list[OutcomeData]] = defaultdict(list)
    for data in select_outcomes_of_images(wanted):
        if data.image_id in wanted:
            found[data.image_id, data.run_id].append(data)
    runs = Run.objects.in_bulk({run for _image, run in found})
    words = words_of(run for run in runs.values() if run.study == "association")
    scores: dict[int, list[Score]] = defaultdict(list)
    for (image, key), held in sorted(found.items()):
        run = runs[key]
        read = READERS.get(run.study, plain_lines)
        lines = read(held, words.get(key, []))
        if lines:
            scores[image].append(Score(run.study, run.slug, lines, run.demonstration))
    return dict(scores)


def select_outcomes_of_images(images: Mapping[int, GeneratedImage]) -> Iterable[OutcomeData]:
    """Outcomes that made these images, or looked at them."""
    ids = list(images)
    makers = {key: maker_of(image) for key, image in images.items()}
    # Two indexes, joined: a database that is asked for “this or that” of two tables reads both of them whole.
    looked = Unit.objects.filter(payload__image__in=ids).values("pk")
    about = looked.union(Outcome.objects.filter(image__in=ids).values("pk"))
    return islice(read_outcomes(Outcome.objects.filter(pk__in=about), makers=lambda _images: makers), MOST)


def maker_of(image: GeneratedImage) -> Maker:
    return Maker(image.model.slug, photograph=image.model.role == Role.CAMERA) if image.model else Maker("")


def words_of(runs: Iterable[Run]) -> Mapping[int, list[OutcomeData]]:
    """Run id → the outcomes of its descriptor words; one query for all runs, none without runs."""
    named = [run.pk for run in runs]
    found: dict[int, list[OutcomeData]] = defaultdict(list)
    if named:
        for data in read_outcomes(Outcome.objects.filter(unit__run__in=named, unit__subject=None)):
            if "text" in data.payload:
                found[data.run_id].append(data)
    return found


def association_lines(held: Outcomes, words: Sequence[OutcomeData]) -> Lines:
    """The unscaled score of each descriptor group."""
    gathered = gather_association_data([*words, *held])
    if not len(gathered.scored.vectors):
        return plain_lines(held, words)
    nets = {
        group: metrics.net_association(*compute_sign_cosines(gathered.scored, signs))[0]
        for group, signs in gathered.groups().items()
    }
    return [(f"{group}, net score", format_number(float(net), DIGITS)) for group, net in nets.items()]


def stereotypes_lines(held: Outcomes, words: Sequence[OutcomeData]) -> Lines:
    """The likeliest option of each question with its share; free answers as they were given."""
    lines = []
    for each in gather_answers(held).asked:
        if not each.read:
            lines.append((each.question, "not read: {why}".format(why=", ".join(sorted(set(each.unread))))))
            continue
        place = int(each.share.argmax())
        lines.append((each.question, f"{each.options[place]} ({format_number(float(each.share[place]), DIGITS)})"))
    free = [data for data in held if not data.payload.get("options")]
    return [*lines, *((str(data.payload.get("question", "")), data.text or data.reason) for data in free)]


def colours_lines(held: Outcomes, words: Sequence[OutcomeData]) -> Lines:
    """Colourfulness; the 27 shares of colours say nothing to the eye."""
    measured = [data.numbers["colourfulness"] for data in held if "colourfulness" in data.numbers]
    if not measured:
        return plain_lines(held, words)
    return [("colourfulness", format_number(float(value), DIGITS)) for value in measured]


def plain_lines(held: Outcomes, words: Sequence[OutcomeData]) -> Lines:
    """State, raw answer, numbers and reason, as stored: for studies without a reader of their own."""
    lines = []
    for data in held:
        numbers = ", ".join(
            f"{name} {format_number(float(value), DIGITS)}" for name, value in sorted(data.numbers.items())
        )
        told = [Unit.State(data.state).label, data.text, numbers, data.reason]
        lines.append((str(data.payload.get("question", "")), ". ".join(part for part in map(str, told) if part)))
    return lines


READERS: Mapping[str, Callable[[Outcomes, Sequence[OutcomeData]], Lines]] = {
    "association": association_lines,
    "stereotypes": stereotypes_lines,
    "colours": colours_lines,
}
