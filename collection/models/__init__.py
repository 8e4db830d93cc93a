"""What people tell: contributors, their consent, dishes, photos. Rules here are about one row."""

import uuid
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from collection.models.consent import Ambassador as Ambassador
from collection.models.consent import ConsentText as ConsentText
from collection.models.consent import Opening as Opening
from collection.models.leaderboard import BoardName as BoardName
from collection.models.leaderboard import Heard as Heard
from collection.models.leaderboard import Tally as Tally
from collection.models.rights import FinishedTurn as FinishedTurn
from collection.models.rights import PhoneCode as PhoneCode
from collection.models.rights import ReturnCode as ReturnCode
from collection.models.rights import Tries as Tries
from collection.models.rights import Withdrawal as Withdrawal
from collection.models.takebacks import NetworkKey as NetworkKey
from collection.models.takebacks import TakeBack as TakeBack
from collection.text_confusables import mixes_confusable_letters


class Continent(models.TextChoices):
    """The seven continents of the paper; a country may lie in more than one."""

    AFRICA = "Africa", _("Africa")
    ANTARCTICA = "Antarctica", _("Antarctica")
    ASIA = "Asia", _("Asia")
    EUROPE = "Europe", _("Europe")
    NORTH_AMERICA = "North America", _("North America")
    OCEANIA = "Oceania", _("Oceania")
    SOUTH_AMERICA = "South America", _("South America")


class TimeOfDay(models.TextChoices):
    """App. B.4, stable codes."""

    BREAKFAST = "breakfast", _("Breakfast")
    LUNCH = "lunch", _("Lunch")
    DINNER = "dinner", _("Dinner")
    SNACK = "snack", _("Snack")
    ANYTIME = "anytime", _("Any time")
    OTHER = "other", _("Another time")


class DishKind(models.TextChoices):
    """App. B.4, stable codes."""

    STARTER = "starter", _("Starter")
    SOUP = "soup", _("Soup")
    SALAD = "salad", _("Salad")
    SAUCE = "sauce", _("Sauce")
    SIDE = "side_dish", _("Side dish")
    MAIN_ALONE = "main_alone", _("Main dish, on its own (one pot, for example)")
    MAIN_SIDES = "main_sides", _("Main dish, eaten with sides")
    SMALL_SHARED = "small_shared", _("Small plate or bowl for sharing")
    SMALL_COLLECTION = "small_collection", _("Small plate or bowl, one of several")
    DESSERT = "dessert", _("Dessert")
    OTHER = "other", _("Something else")


class Occasion(models.TextChoices):
    """App. B.4, stable codes."""

    REGULAR = "regular", _("Regularly")
    SPECIAL = "special", _("Only on special occasions")
    BOTH = "both", _("Both")


class Source(models.TextChoices):
    """Where a row came from; *demonstration* rows say so wherever they are shown."""

    FORM = "form", _("form")
    IMPORT = "import", _("published data")
    DEMONSTRATION = "demonstration", _("demonstration")


class Country(models.Model):
    """A country or territory; `code` is ISO 3166-1 alpha-3 where one exists."""

    code = models.CharField(max_length=8, primary_key=True)
    name = models.CharField(max_length=120, unique=True)
    aliases = models.JSONField(default=list, help_text="Other names that people use, any script.")
    continents = models.JSONField(default=list, help_text="One or more of the seven continents.")

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "countries"

    def __str__(self) -> str:
        return self.name


class Contributor(models.Model):
    """Somebody who describes dishes; nothing that names a person is stored here."""

    class Way(models.TextChoices):
        READ = "read", _("read")
        SPOKEN = "spoken", _("spoken")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    consent = models.ForeignKey(ConsentText, on_delete=models.PROTECT, null=True, help_text="The text that counts.")
    consent_draft = models.ForeignKey(
        ConsentText,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="The unconfirmed translation that stood beside it.",
    )
    consent_opening = models.ForeignKey(
        Opening, on_delete=models.PROTECT, null=True, blank=True, help_text="What was filled in into the text."
    )
    consent_way = models.CharField(max_length=8, choices=Way, default=Way.READ)
    understood = models.JSONField(
        default=list, blank=True, help_text="First answers to the three questions: true, false, or null for none."
    )
    consent_at = models.DateTimeField(null=True)
    entered_by = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True)
    alias = models.CharField(max_length=60, blank=True)
    alias_key = models.CharField(
        max_length=240,
        unique=True,
        null=True,
        blank=True,
        editable=False,
        help_text="One form of all its spellings.",
    )
    alias_hidden = models.BooleanField(default=False, help_text="A steward decided that it is not shown.")
    source = models.CharField(max_length=16, choices=Source, default=Source.FORM)
    crowd = models.BooleanField(
        default=False, help_text="Agreed within a minute with many others of one network: for stewards to look at."
    )
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        indexes = [models.Index(fields=["id"], condition=Q(crowd=True), name="people_of_a_crowd")]

    def __str__(self) -> str:
        return str(self.id)


class Counter(models.Model):
    """A number that only grows, so that a dish's id is never used twice, not even after an erasure."""

    name = models.CharField(max_length=20, primary_key=True)
    value = models.PositiveBigIntegerField()

    def __str__(self) -> str:
        return f"{self.name} {self.value}"


class AboutYou(models.Model):
    """Personal details, given last and freely. Only stewards may read them; no export contains them."""

    contributor = models.OneToOneField(Contributor, on_delete=models.CASCADE, primary_key=True)
    agreed_at = models.DateTimeField()
    year_of_birth = models.PositiveSmallIntegerField(null=True, blank=True)
    nationalities = models.ManyToManyField(Country, blank=True)
    nationalities_more = models.CharField(max_length=200, blank=True)
    name = models.CharField(max_length=120, blank=True)
    email = models.EmailField(blank=True)
    credit_me = models.BooleanField(default=False)
    may_contact = models.BooleanField(default=False)

    class Meta:
        verbose_name = "personal details"
        verbose_name_plural = "personal details"

    def __str__(self) -> str:
        return str(self.contributor_id)


class DishQuerySet(models.QuerySet["Dish"]):
    """The only definitions of who may see which dishes."""

    def released(self) -> Self:
        """Accepted, not hidden, not a demonstration, not merged into another dish."""
        return self.accepted().exclude(source=Source.DEMONSTRATION)

    def accepted(self) -> Self:
        """Accepted by a steward and not merged into another dish; demonstration rows included."""
        return self.filter(state=Dish.State.ACCEPTED, merged_into=None)

    def live(self) -> Self:
        """Everything its own contributor may see and correct."""
        return self.exclude(state=Dish.State.WITHDRAWN)


class Dish(models.Model):
    """A dish in its contributor's own words (App. B.4). Four fields are required, the rest may follow or not."""

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting for a steward")
        ACCEPTED = "accepted", _("accepted")
        HIDDEN = "hidden", _("hidden")
        REJECTED = "rejected", _("rejected")
        WITHDRAWN = "withdrawn", _("withdrawn")

    number = models.PositiveBigIntegerField(unique=True, help_text="The id in releases, never used twice.")
    contributor = models.ForeignKey(Contributor, on_delete=models.PROTECT, null=True, related_name="dishes")
    source = models.CharField(max_length=16, choices=Source, default=Source.FORM)
    source_key = models.CharField(max_length=120, unique=True, null=True, blank=True)
    state = models.CharField(max_length=12, choices=State, default=State.WAITING)
    merged_into = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="merged")
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    local_name = models.CharField(max_length=200)
    english_name = models.CharField(max_length=200, blank=True)
    ingredients = models.TextField(max_length=4000, help_text="As written, separated by commas or lines.")
    regions = models.TextField(max_length=1000, blank=True)
    cultures = models.TextField(max_length=1000, blank=True)
    time_of_day = models.JSONField(default=list)
    time_of_day_more = models.TextField(max_length=1000, blank=True)
    kinds = models.JSONField(default=list)
    kinds_more = models.TextField(max_length=1000, blank=True)
    utensils = models.TextField(max_length=1000, blank=True)
    drink = models.TextField(max_length=1000, blank=True)
    occasions = models.CharField(max_length=8, choices=Occasion, blank=True)
    occasions_more = models.TextField(max_length=1000, blank=True)
    recipe = models.TextField(max_length=2000, blank=True)
    more_details = models.TextField(max_length=8000, blank=True)
    mixed_letters = models.BooleanField(
        default=False, db_index=True, help_text="A word of its name mixes look-alike letters of several scripts."
    )

    objects = DishQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "dishes"
        permissions = [("see_own_country", "Can see dishes of the country that one is ambassador of")]
        indexes = [models.Index(fields=["state", "source"]), models.Index(fields=["local_name"])]

    def __str__(self) -> str:
        return self.local_name

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.mixed_letters = mixes_confusable_letters(self.local_name)
        super().save(*args, **kwargs)


class DishLanguage(models.Model):
    """The language of a dish's name as its contributor calls it; `code` is ISO 639-3, `mis` where unknown."""

    dish = models.ForeignKey(Dish, on_delete=models.CASCADE, related_name="languages")
    position = models.PositiveSmallIntegerField(default=0)
    name = models.CharField(max_length=120)
    code = models.CharField(max_length=3, default="mis")

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["dish", "position"], name="one_language_per_position")]

    def __str__(self) -> str:
        return self.name


class DishCountry(models.Model):
    """A country of a dish as written; `country` is set where the writing is known to mean one."""

    dish = models.ForeignKey(Dish, on_delete=models.CASCADE, related_name="places")
    position = models.PositiveSmallIntegerField(default=0)
    name = models.CharField(max_length=120)
    country = models.ForeignKey(Country, on_delete=models.PROTECT, null=True, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["dish", "position"], name="one_country_per_position")]

    def __str__(self) -> str:
        return self.name


class DishContinent(models.Model):
    """A continent of a dish: from its countries, or as stated in the published data."""

    dish = models.ForeignKey(Dish, on_delete=models.CASCADE, related_name="continents")
    continent = models.CharField(max_length=16, choices=Continent)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dish", "continent"], name="one_row_per_dish_continent")]

    def __str__(self) -> str:
        return self.continent


class DishChange(models.Model):
    """One change of a dish: what was there before, who changed it."""

    dish = models.ForeignKey(Dish, on_delete=models.CASCADE, related_name="changes")
    at = models.DateTimeField(auto_now_add=True)
    by_contributor = models.ForeignKey(Contributor, on_delete=models.SET_NULL, null=True, blank=True)
    by_steward = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True)
    before = models.JSONField(help_text="Field name to former value, changed fields only.")

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return f"{self.dish_id} {self.at:%Y-%m-%d}"


class Photo(models.Model):
    """A contributor's photo, re-encoded on arrival; private until a steward accepts it."""

    class State(models.TextChoices):
        DRAFT = "draft", _("not yet confirmed by its contributor")
        WAITING = "waiting", _("waiting for a steward")
        ACCEPTED = "accepted", _("accepted")
        HIDDEN = "hidden", _("hidden")
        REJECTED = "rejected", _("rejected")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    dish = models.ForeignKey(Dish, on_delete=models.CASCADE, related_name="photos")
    file = models.CharField(max_length=120, blank=True, db_index=True, help_text="Path in the storage, random.")
    thumbnail = models.CharField(max_length=120, blank=True, db_index=True)
    sha256 = models.CharField(max_length=64, db_index=True, blank=True, help_text="Of the bytes as they arrived.")
    width = models.PositiveIntegerField(default=0)
    height = models.PositiveIntegerField(default=0)
    caption = models.TextField(max_length=1000, blank=True)
    taken_by_me = models.BooleanField(default=False)
    may_be_shared = models.BooleanField(default=False)
    no_people = models.BooleanField(default=False)
    is_photograph = models.BooleanField(default=False)
    state = models.CharField(max_length=12, choices=State, default=State.DRAFT)
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        indexes = [models.Index(fields=["state", "created_at"])]
        constraints = [
            models.CheckConstraint(
                name="shown_photo_is_confirmed",
                condition=Q(state__in=["draft", "rejected"])
                | Q(taken_by_me=True, may_be_shared=True, no_people=True, is_photograph=True),
            )
        ]

    def __str__(self) -> str:
        return str(self.id)


class PhotoLink(models.Model):
    """An image elsewhere, or the statement that none exists (`none_exists`, url empty)."""

    class Kind(models.TextChoices):
        PUBLIC = "public", _("Creative Commons picture")
        UPLOADED = "uploaded", _("uploaded to the former platform")

    dish = models.ForeignKey(Dish, on_delete=models.CASCADE, related_name="links")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.PUBLIC)
    url = models.TextField(blank=True)
    name = models.CharField(max_length=60, blank=True)
    caption = models.TextField(blank=True)
    none_exists = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dish", "kind"], name="one_link_per_dish_and_kind")]

    def __str__(self) -> str:
        return self.url[:80]


class PhotoPart(models.Model):
    """A piece of a photo on its way: anyone who sends it goes on where it stopped. A sweep removes it after a day."""

    dish = models.ForeignKey(Dish, on_delete=models.CASCADE, related_name="parts")
    sha256 = models.CharField(max_length=64, help_text="Of the whole photo, as its sender states it.")
    start = models.PositiveIntegerField(help_text="Bytes of the photo that come before this part.")
    size = models.PositiveIntegerField(help_text="Bytes.")
    file = models.CharField(max_length=120, unique=True, help_text="Path in the storage, random.")
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dish", "sha256", "start"], name="one_part_per_place")]

    def __str__(self) -> str:
        return f"{self.sha256[:8]} {self.start}"


class Ingredient(models.Model):
    """One ingredient under all its spellings, counted over accepted dishes."""

    name = models.CharField(max_length=120, help_text="As most dishes write it.")
    dishes = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-dishes", "name"]

    def __str__(self) -> str:
        return self.name


class IngredientSpelling(models.Model):
    """A way to write an ingredient; spellings that differ in case or accents only share a row."""

    folded = models.CharField(max_length=240, unique=True)
    name = models.CharField(max_length=120)
    ingredient = models.ForeignKey(Ingredient, on_delete=models.CASCADE, related_name="spellings")

    class Meta:
        ordering = ["folded"]

    def __str__(self) -> str:
        return self.name


class DishIngredient(models.Model):
    """An accepted dish that holds an ingredient, in the spelling of its contributor."""

    dish = models.ForeignKey(Dish, on_delete=models.CASCADE, related_name="indexed_ingredients")
    spelling = models.ForeignKey(IngredientSpelling, on_delete=models.CASCADE, related_name="uses")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dish", "spelling"], name="one_row_per_dish_and_spelling")]

    def __str__(self) -> str:
        return f"{self.dish_id} {self.spelling_id}"


class Report(models.Model):
    """Somebody says that a public dish or image should not be shown like this; a steward decides."""

    class Reason(models.TextChoices):
        PERSON = "person", _("I am, or a child is, in it")
        MINE = "mine", _("It is my photo, and I did not give it")
        OUTSIDERS = "outsiders", _("It is not for outsiders")
        INSULTING = "insulting", _("It is insulting")
        WRONG = "wrong", _("It is wrong")
        LOST = "lost", _("Its contributor has lost the code: receipt number and name were right")

    class State(models.TextChoices):
        OPEN = "open", _("waits for a decision")
        UPHELD = "upheld", _("not shown any more")
        DISMISSED = "dismissed", _("shown")
        UNDONE = "undone", _("undone with all reports of its network")

    dish = models.ForeignKey(Dish, on_delete=models.CASCADE, related_name="reports")
    photo = models.ForeignKey(Photo, on_delete=models.CASCADE, null=True, blank=True, related_name="reports")
    reason = models.CharField(max_length=12, choices=Reason)
    words = models.TextField(max_length=1000, blank=True)
    hid = models.BooleanField(default=False, help_text="This report itself hid what it is about.")
    queued = models.BooleanField(
        default=False, help_text="It asks for hiding and came beyond the brake: shown until somebody decides."
    )
    network = models.CharField(
        max_length=24, blank=True, db_index=True, help_text="Hash of the network's prefix, with a key of the month."
    )
    state = models.CharField(max_length=12, choices=State, default=State.OPEN, db_index=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.get_reason_display()} ({self.dish_id})"


class Submission(models.Model):
    """The ledger that makes sending twice harmless: a form's UUID, the hash of its content, its receipt."""

    class Purpose(models.TextChoices):
        DISH = "dish", _("dish")
        MORE = "more", _("more about the dish")
        PHOTO = "photo", _("photo")
        ABOUT = "about", _("about you")

    class Device(models.TextChoices):
        MOBILE = "mobile", _("phone or tablet")
        DESKTOP = "desktop", _("computer")
        UNKNOWN = "unknown", _("not known")

    form = models.UUIDField(primary_key=True)
    purpose = models.CharField(max_length=8, choices=Purpose)
    contributor = models.ForeignKey(Contributor, on_delete=models.CASCADE)
    content_hash = models.CharField(max_length=64)
    dish = models.ForeignKey(Dish, on_delete=models.CASCADE, null=True)
    photo = models.ForeignKey(Photo, on_delete=models.SET_NULL, null=True)
    receipt = models.CharField(max_length=16, unique=True)
    device = models.CharField(
        max_length=7, choices=Device, blank=True, help_text="Of a dish's first sending; empty where not asked for."
    )
    network = models.CharField(
        max_length=24, blank=True, db_index=True, help_text="Hash of the network's prefix, with a key of the month."
    )
    flags = models.JSONField(
        default=list, blank=True, help_text="What looked odd: for stewards, never a reason to refuse."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.receipt
