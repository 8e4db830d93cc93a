"""Rows of the evaluation: what is asked of which model, the units of work, and what came out."""

import hashlib
import uuid
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Now

from collection.models import Dish
from evaluation.contracts import parameters as contracts_parameters
from evaluation.models import cost
from evaluation.models.cached_counts import KeptReport as KeptReport
from evaluation.models.exports import ExportJob as ExportJob
from evaluation.models.image_downloads import ImageDownload as ImageDownload
from evaluation.models.plans import MaskedName as MaskedName
from evaluation.models.plans import Plan as Plan
from evaluation.models.plans import PlanAct as PlanAct
from evaluation.models.reference_lists import ReferenceDish as ReferenceDish
from evaluation.models.reference_lists import ReferenceList as ReferenceList
from evaluation.models.weights import FetchedWeights as FetchedWeights
from evaluation.models.worker_tokens import WorkerToken as WorkerToken
from evaluation.models.worker_tokens import WorkerUpload as WorkerUpload


class Role(models.TextChoices):
    """What a model does; studies name the roles that they need."""

    IMAGE_GENERATOR = "image_generator", "image generator"
    ENCODER = "encoder", "image–text encoder"
    VQA = "vqa", "visual question answering"
    CHAT = "chat", "chat"
    FEATURES = "features", "feature extractor"
    CAPTIONER = "captioner", "captioner"
    INPAINTER = "inpainter", "inpainter"
    CAMERA = "camera", "real photographs"


class Model(models.Model):
    """A model as data: identifiers change and vanish, results must still say what made them."""

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=120)
    role = models.CharField(max_length=20, choices=Role)
    backend = models.CharField(max_length=40, help_text="Key in evaluation/backends.")
    identifier = models.CharField(max_length=200, help_text="The maker's name for it.")
    revision = models.CharField(max_length=80, blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    price = models.JSONField(default=dict, blank=True, help_text="Price per unit, with currency and date.")
    demonstration = models.BooleanField(default=False, help_text="A stand-in: its results are never a measurement.")

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.title

    def clean(self) -> None:
        """Backend, parameters and revision by what the backend declares. Raises ValidationError with near names."""
        found = {
            "backend": [contracts_parameters.backend_problem(self.role, self.backend)] if self.backend else [],
            "parameters": contracts_parameters.parameter_problems(self.role, self.backend, self.parameters),
            "price": cost.list_price_problems(self.price),
            "revision": [contracts_parameters.source_problem(self.backend, self.identifier, self.revision)],
        }
        # The form names a field that is empty itself.
        if problems := {name: kept for name, each in found.items() if (kept := [text for text in each if text])}:
            raise ValidationError(problems)


class PromptTemplate(models.Model):
    """A prompt with placeholders in braces; a changed word is a new version."""

    slug = models.SlugField(max_length=80)
    version = models.CharField(max_length=40)
    text = models.TextField()
    source = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["slug", "version"], name="one_prompt_per_version")]

    def __str__(self) -> str:
        return f"{self.slug} {self.version}"


class QuestionSet(models.Model):
    """Machine questions (VQA probes, LLM questions), versioned; `questions` as in the data file."""

    slug = models.SlugField(max_length=80)
    version = models.CharField(max_length=40)
    questions = models.JSONField()
    source = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["slug", "version"], name="one_question_set_per_version")]

    def __str__(self) -> str:
        return f"{self.slug} {self.version}"


class DescriptorSet(models.Model):
    """Descriptor words per group and sign: {"taste": {"positive": [...], "negative": [...]}} (App. G)."""

    slug = models.SlugField(max_length=80)
    version = models.CharField(max_length=40)
    groups = models.JSONField()
    prompt = models.CharField(max_length=200, help_text="With {descriptor}.")
    source = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["slug", "version"], name="one_descriptor_set_per_version")]

    def __str__(self) -> str:
        return f"{self.slug} {self.version}"


class Subject(models.Model):
    """What a model is asked about. Linked to a dish only where the match is exact."""

    class Kind(models.TextChoices):
        DISH = "dish", "dish"
        PLACE = "place", "place"
        OBJECT = "object", "object"
        GARMENT = "garment", "garment"
        FESTIVAL = "festival", "festival"

    kind = models.CharField(max_length=10, choices=Kind)
    name = models.CharField(max_length=200)
    dish = models.ForeignKey(Dish, on_delete=models.CASCADE, null=True, blank=True, related_name="subjects")
    source_key = models.CharField(max_length=200, unique=True, help_text="Origin and name: never twice.")
    labels = models.JSONField(default=dict, help_text="Dimension to list of values: country, continent, language.")
    demonstration = models.BooleanField(default=False)

    class Meta:
        indexes = [
            models.Index(fields=["kind", "name"]),
            models.Index(fields=["name"], opclasses=["varchar_pattern_ops"], name="subjects_by_name"),
        ]

    def __str__(self) -> str:
        return self.name


class Run(models.Model):
    """One study with one configuration. Its units say how far it is."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting for an earlier run"
        PLANNED = "planned", "planned"
        RUNNING = "running", "running"
        PAUSED = "paused", "paused"
        CANCELLED = "cancelled", "cancelled"
        DONE = "done", "done"

    study = models.SlugField(max_length=40)
    study_version = models.CharField(max_length=20)
    slug = models.SlugField(max_length=80, unique=True)
    config = models.JSONField(default=dict)
    definition = models.JSONField(default=dict, help_text="What never mixes: prompt hash, model revision, precision.")
    state = models.CharField(max_length=10, choices=State, default=State.PLANNED)
    queue = models.CharField(max_length=8, default="cpu")
    priority = models.SmallIntegerField(default=0, help_text="Higher numbers come first on their queue.")
    after = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="followers",
        help_text="Planned once this run is done: what it asks about does not exist before.",
    )
    demonstration = models.BooleanField(default=False)
    imported = models.BooleanField(default=False, help_text="Made elsewhere: its units were never executed here.")
    problem = models.TextField(blank=True, help_text="Why it paused by itself.")
    announced = models.PositiveIntegerField(default=0, help_text="Number of the last announcement.")
    heard = models.PositiveIntegerField(default=0, help_text="Announcements up to this number are spent.")
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["study", "state"])]

    def __str__(self) -> str:
        return self.slug


class RunLabel(models.Model):
    """A label of a subject, frozen for a run: one row per value (a dish may lie in two continents)."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="labels")
    subject = models.ForeignKey(Subject, on_delete=models.CASCADE)
    dimension = models.CharField(max_length=20)
    value = models.CharField(max_length=120)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "subject", "dimension", "value"], name="one_run_label")]
        # From a label to its subjects: what is behind a cell of a table.
        indexes = [models.Index(fields=["run", "dimension", "value", "subject"], name="subjects_of_labels")]

    def __str__(self) -> str:
        return f"{self.dimension}: {self.value}"


class Batch(models.Model):
    """The lease: a worker holds units until `until`; anyone who holds the token may finish them, once."""

    token = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE)
    worker = models.CharField(max_length=120)
    until = models.DateTimeField(help_text="By the database's clock.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)
    access = models.ForeignKey(
        WorkerToken, on_delete=models.SET_NULL, null=True, editable=False, help_text="Whose worker leased it by HTTPS."
    )
    request = models.UUIDField(
        null=True, unique=True, editable=False, help_text="The call that leased it: asked again, the same batch."
    )
    seconds_computed = models.FloatField(null=True, help_text="How long its units were executed.")
    seconds_waited = models.FloatField(null=True, help_text="How long its worker executed nothing before it.")

    class Meta:
        verbose_name_plural = "batches"
        indexes = [
            models.Index(fields=["until"], condition=Q(finished_at=None), name="open_batches"),
            models.Index(fields=["run", "finished_at"]),
        ]

    def __str__(self) -> str:
        return str(self.token)


class Unit(models.Model):
    """One thing that a model computes. Narrow on purpose: there are millions of them."""

    class State(models.TextChoices):
        PENDING = "pending", "waiting"
        LEASED = "leased", "being worked on"
        DONE = "done", "done"
        REFUSED = "refused", "refused by the provider"
        FILTERED = "filtered", "held back by a safety filter"
        EMPTY = "empty", "empty: nothing came, or nothing that can be used"
        FAILED = "failed", "failed"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="units")
    key = models.CharField(max_length=120)
    subject = models.ForeignKey(Subject, on_delete=models.CASCADE, null=True)
    model = models.ForeignKey(Model, on_delete=models.PROTECT)
    payload = models.JSONField(default=dict)
    affinity = models.CharField(max_length=80, help_text="Units with the same affinity go to one worker together.")
    state = models.CharField(max_length=8, choices=State, default=State.PENDING)
    deliveries = models.PositiveSmallIntegerField(default=0)
    batch = models.ForeignKey(Batch, on_delete=models.SET_NULL, null=True, related_name="units")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "key"], name="one_unit_per_run_and_key")]
        indexes = [
            models.Index(fields=["run", "state", "id"], name="units_by_state"),
            models.Index(fields=["run", "affinity", "id"], condition=Q(state="pending"), name="waiting_units"),
            models.Index(fields=["key"], opclasses=["varchar_pattern_ops"], name="units_by_key"),
            models.Index(fields=["run", "id"], name="units_in_order"),
            # Everything that machines said of an image, also when it is erased.
            models.Index(KeyTransform("image", "payload"), name="units_about_images"),
        ]

    def __str__(self) -> str:
        return self.key


class GeneratedImage(models.Model):
    """An image of a subject by a model, or the record that there is none. Real photographs have role *camera*."""

    class State(models.TextChoices):
        HELD = "held", "held"
        REFUSED = "refused", "refused by the provider"
        FILTERED = "filtered", "held back by a safety filter"
        HELD_BACK = "held_back", "held back here: black, flat or blurred"
        NOT_HELD = "not_held", "not held: the picture was never given to us"
        ERASED = "erased", "erased: its dish was withdrawn"

    subject = models.ForeignKey(Subject, on_delete=models.CASCADE, related_name="images")
    model = models.ForeignKey(Model, on_delete=models.PROTECT, null=True, help_text="Empty where the source lacks it.")
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, blank=True)
    prompt = models.ForeignKey(PromptTemplate, on_delete=models.PROTECT, null=True)
    prompt_sent = models.TextField(blank=True)
    prompt_revised = models.TextField(blank=True)
    seed = models.BigIntegerField(null=True, help_text="Where the model takes one.")
    sample = models.PositiveIntegerField(null=True, help_text="Number of the picture where there is no seed.")
    state = models.CharField(max_length=10, choices=State, default=State.HELD)
    sha256 = models.CharField(max_length=64, blank=True, db_index=True)
    media_type = models.CharField(max_length=20, blank=True)
    width = models.PositiveIntegerField(null=True)
    height = models.PositiveIntegerField(null=True)
    source_key = models.CharField(max_length=260, unique=True, help_text="Run and unit, or the origin's own key.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["subject", "model"])]

    def __str__(self) -> str:
        return self.source_key


def hash_of(text: str) -> str:
    """By what a text is found and distinguished, SHA-256 in hexadecimal digits; empty for none."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() if text else ""


class Embedding(models.Model):
    """A vector of an image or of a text by one encoder and one preprocessing, float32, as the encoder gave it."""

    model = models.ForeignKey(Model, on_delete=models.PROTECT)
    preprocessing = models.CharField(max_length=80, blank=True)
    image = models.ForeignKey(GeneratedImage, on_delete=models.CASCADE, null=True, related_name="embeddings")
    text = models.TextField(blank=True)
    text_hash = models.CharField(max_length=64, blank=True, help_text="Of the text: no index holds long ones.")
    dimensions = models.PositiveIntegerField()
    vector = models.BinaryField(help_text="Little-endian float32, not normalised.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["model", "preprocessing", "image"],
                condition=Q(text=""),
                name="one_embedding_per_image",
            ),
            models.UniqueConstraint(
                fields=["model", "preprocessing", "text_hash"],
                condition=Q(image=None),
                name="one_embedding_per_text",
            ),
            models.CheckConstraint(condition=Q(image=None) ^ Q(text=""), name="embedding_of_an_image_or_a_text"),
        ]

    def __str__(self) -> str:
        return self.text or str(self.image_id)

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.text_hash = hash_of(self.text)
        super().save(*args, **kwargs)


class Outcome(models.Model):
    """What a unit gave last. Inserted once together with the unit's final state, never changed: readers come later."""

    unit = models.OneToOneField(Unit, on_delete=models.CASCADE, primary_key=True, related_name="outcome")
    batch = models.ForeignKey(Batch, on_delete=models.SET_NULL, null=True)
    text = models.TextField(blank=True, help_text="The raw answer, or the provider's words of refusal.")
    numbers = models.JSONField(default=dict)
    image = models.ForeignKey(GeneratedImage, on_delete=models.SET_NULL, null=True)
    embedding = models.ForeignKey(Embedding, on_delete=models.SET_NULL, null=True)
    reason = models.TextField(blank=True, help_text="Why it was refused, filtered or failed.")
    circumstances = models.JSONField(default=dict, help_text="Batch size, library versions, card, seconds.")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return str(self.unit_id)


class EarlierOutcome(models.Model):
    """What a unit gave before somebody had it tried again: the outcome as it was, with the number of the try."""

    unit = models.ForeignKey(Unit, on_delete=models.CASCADE, related_name="earlier")
    number = models.PositiveSmallIntegerField(help_text="1 for the first try.")
    state = models.CharField(max_length=8, choices=Unit.State)
    text = models.TextField(blank=True)
    numbers = models.JSONField(default=dict)
    image = models.ForeignKey(GeneratedImage, on_delete=models.SET_NULL, null=True)
    reason = models.TextField(blank=True)
    circumstances = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["unit", "number"], name="one_outcome_per_try")]

    def __str__(self) -> str:
        return f"{self.unit_id} try {self.number}"


class TokenBucket(models.Model):
    """When the next call with a provider's key may go out, for all workers together."""

    name = models.CharField(max_length=120, primary_key=True, help_text="Host and the hash of the key.")
    next_at = models.DateTimeField(help_text="By the database's clock.")

    def __str__(self) -> str:
        return self.name


class InputCounter(models.Model):
    """Counts changes of what tables are computed from ("reviews", "runs.association")."""

    name = models.CharField(max_length=80, primary_key=True)
    value = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.name} {self.value}"


class StoredTable(models.Model):
    """A computed table. Stale once `fingerprint` differs from the present one; then shown with its time."""

    name = models.CharField(max_length=80)
    version = models.CharField(max_length=20)
    filters = models.JSONField(default=dict)
    filters_hash = models.CharField(max_length=64)
    fingerprint = models.CharField(max_length=64)
    content = models.JSONField(null=True, help_text="Columns, rows, notes; empty while first being computed.")
    error = models.TextField(blank=True)
    wanted_at = models.DateTimeField(null=True, blank=True, help_text="When a page last asked for a fresh one.")
    computed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["name", "version", "filters_hash"], name="one_stored_table")]

    def __str__(self) -> str:
        return self.name
