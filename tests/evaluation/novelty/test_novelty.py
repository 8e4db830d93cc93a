"""What a reference list lacks: names in all scripts, two rules, and tables that say when nothing is known."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from collection.dishes.write import save_dish
from collection.models import Dish
from evaluation.models import ReferenceList
from evaluation.novelty import reference
from evaluation.novelty.access import estimate_correlation
from evaluation.novelty.cells import names_in
from evaluation.novelty.fields import filled_here
from evaluation.novelty.folding import extract_name_forms, fold_name
from evaluation.novelty.matching import SAME_NAME, SUBSTRING, SUBSTRING_3, Entry, create_searcher, edit_distance
from evaluation.novelty.reference import ReferenceListError, import_reference
from evaluation.registry import lookup
from evaluation.tables import compute, read

pytestmark = pytest.mark.embedded

LIST = (
    "name,aliases,countries\nKushari,كشرى; Koshary,Egypt\nPeppersoup,,Nigeria\n"
    "Rice cake,,China\nHarira,,Morocco\nFanta,K,Italy\n"
)


def found(rule: str, names: tuple[str, ...], countries: str = "", entries: str = LIST) -> list[tuple[str, str]]:
    rows = [line.split(",") for line in entries.splitlines()[1:]]
    listed = [Entry(name, (name, *names_in(aliases)), frozenset({country})) for name, aliases, country in rows]
    dish = Entry("1", names, frozenset(countries.split(";")))
    return [(match.key, match.how) for match in create_searcher(rule, listed).matches(dish)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ndolè", "ndole"),
        ("كُشَرِي", "كشرى"),
        ("Kaastengel’s", "KAASTENGELS"),
        ("ＳＵＳＨＩ", "sushi"),
        ("Ọ̀gbọ̀nọ̀", "ogbono"),
        ("Mọ́ínmọ́ín", "moinmoin"),
    ],
)
def test_spellings_of_one_word_fold_to_one_form(one: str, other: str) -> None:
    assert fold_name(one) == fold_name(other)


@pytest.mark.parametrize(("one", "other"), [("खीर", "खर"), ("ข้าว", "ขาว"), ("ナン", "ナシ"), ("が", "か")])
def test_vowels_and_tones_that_are_letters_stay(one: str, other: str) -> None:
    assert [form.compact for form in extract_name_forms(one)] != [form.compact for form in extract_name_forms(other)]


def test_one_field_may_hold_several_names() -> None:
    assert [form.compact for form in extract_name_forms("Tli Tli B'djedj - تليتلي (soup)")] == [
        "tlitlibdjedj",
        "تليتلي",
        "soup",
    ]


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_is_folded_and_searched(name: str, alias: str) -> None:
    for rule in (SUBSTRING, SUBSTRING_3, SAME_NAME):
        listed = [Entry("1", (alias or "x",), frozenset({"XXX"}))]
        matches = list(create_searcher(rule, listed).matches(Entry("d", (name,), frozenset({"XXX"}))))
        assert len(matches) <= 1
        if rule == SUBSTRING and name.strip() and alias.strip():
            low, other = name.lower().strip(), alias.lower().strip()
            if "\x00" not in low + other:
                assert bool(matches) == (low in other or other in low)


def test_the_papers_rule_takes_any_part_of_a_name() -> None:
    assert ("Fanta", SUBSTRING) in found(SUBSTRING, ("Koki",), "Cameroon")
    assert found(SUBSTRING_3, ("Koki",), "Cameroon") == []
    assert found(SUBSTRING, ("Rice",)) == [("Rice cake", SUBSTRING)]


@pytest.mark.parametrize(
    ("names", "country", "expected"),
    [
        (("كشري",), "Egypt", [("Kushari", "same name")]),
        (("Pepper soup",), "Nigeria", [("Peppersoup", "same name")]),
        (("Hrira", "Soup"), "Morocco", []),
        (("Hariira",), "Morocco", [("Harira", "spelled otherwise")]),
        (("Hariira",), "Kenya", []),
        (("Cake of rice",), "Ghana", []),
        (("Fish rice",), "China", []),
        (("Harira soup",), "Morocco", [("Harira", "same words")]),
    ],
)
def test_the_stronger_rule_asks_for_the_same_name(
    names: tuple[str, ...], country: str, expected: list[tuple[str, str]]
) -> None:
    assert found(SAME_NAME, names, country) == expected


@pytest.mark.parametrize(
    ("one", "other", "steps"), [("abcdef", "abdcef", 1), ("kilishi", "kilichi", 1), ("abc", "xyz", 3), ("ab", "ab", 0)]
)
def test_distance_by_hand(one: str, other: str, steps: int) -> None:
    assert edit_distance(one, other, 2) == min(steps, 3)
    assert edit_distance(other, one, 2) == min(steps, 3)


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("[{'ꦫꦮꦺꦴꦤ꧀': 'Javanese'}]", ["ꦫꦮꦺꦴꦤ꧀"]),
        ("[{'no_alias': True}]", []),
        ("[{'section': 'no_alias'}]", []),
        ("[{'alternative_name': '鹹飯', 'language': 'Chinese'}]", ["鹹飯"]),
        ('{"bg - Bulgarian": "Равон", "ca - Catalan": "Rawon"}', ["Равон", "Rawon"]),
        ("[{\"oreggia d'elefant\": 'Milanese'}, {'milanesa': 'Spanish'}]", ["oreggia d'elefant", "milanesa"]),
        ("Koshary; كشرى", ["Koshary", "كشرى"]),
        ('["Koshary", 7, null]', ["Koshary"]),
        ("[" * 5000, []),
        ("[{'__import__(\"os\").system(\"x\")': 'a'}]", ['__import__("os").system("x")']),
        ("", []),
    ],
)
def test_names_of_a_cell(cell: str, names: list[str]) -> None:
    assert names_in(cell) == names


@pytest.fixture
def listed(tmp_path: Path, db: None) -> ReferenceList:
    path = tmp_path / "list.csv"
    path.write_text(LIST, encoding="utf-8")
    return import_reference(path, "tiny", "plain")[0]


def dish(name: str, country: str, english: str = "") -> Dish:
    words = {"local_name": name, "english_name": english, "ingredients": "water"}
    return save_dish(words, [country], [("Arabic", "arb")], state=Dish.State.ACCEPTED)


def test_tables_count_what_is_new_and_become_stale_with_a_dish(listed: ReferenceList) -> None:
    dish("كشري", "Egypt")
    dish("Zilzil", "Ethiopia")
    view = compute.compute_and_store("novelty.summary", {"rule": SAME_NAME})
    assert view.table is not None
    counts = {row.groups["continent"]: row.estimate.value for row in view.table.rows if row.metric == "new"}
    assert counts == {"Africa": 1, "Asia": 0, "all": 1}
    share = next(
        row.estimate for row in view.table.rows if row.metric == "share_new" and row.groups["continent"] == "all"
    )
    assert (share.value, share.n, share.small) == (0.5, 2, True)
    dish("Harira", "Morocco")
    assert read.read_stored_table("novelty.summary", {"rule": SAME_NAME}).state == "stale"
    [row] = [
        row
        for row in compute.compute_table(lookup.find_table_spec("novelty.pairs"), {}).rows
        if "Harira" in row.groups["dish"]
    ]
    assert row.groups["entry"] == "Harira"


def test_a_withdrawn_dish_is_no_longer_counted(listed: ReferenceList) -> None:
    gone = dish("Zilzil", "Ethiopia")
    Dish.objects.filter(pk=gone.pk).update(state=Dish.State.WITHDRAWN)
    assert compute.compute_table(lookup.find_table_spec("novelty.summary"), {}).rows == ()


@pytest.mark.parametrize("name", ["summary", "pairs", "fields", "access", "countries"])
def test_an_empty_site_says_what_is_missing(name: str, db: None) -> None:
    found = compute.compute_table(lookup.find_table_spec(f"novelty.{name}"), {})
    assert found.rows == ()
    assert any("no dishes" in note or "no reference list" in note for note in found.notes)


def test_a_field_that_the_list_lacks_is_not_measured(listed: ReferenceList) -> None:
    dish("Zilzil", "Ethiopia")
    rows = {
        (row.groups["field"], row.metric): row.estimate
        for row in compute.compute_table(lookup.find_table_spec("novelty.fields"), {}).rows
    }
    assert rows["ingredients", "ours"].value == 1.0
    assert rows["ingredients", "reference"].value is None
    assert "no such field" in rows["ingredients", "reference"].reason
    assert rows["countries", "reference"].value == 1.0


def test_without_a_dish_the_fields_of_the_list_alone_are_counted(listed: ReferenceList) -> None:
    rows = {
        (row.groups["field"], row.metric): row.estimate
        for row in compute.compute_table(lookup.find_table_spec("novelty.fields"), {}).rows
    }
    assert (rows["countries", "ours"].value, rows["countries", "ours"].reason) == (None, "there are no dishes")
    assert rows["countries", "reference"].value == 1.0


def test_only_dishes_that_are_compared_count_in_a_field(db: None) -> None:
    one, _other = dish("Zilzil", "Ethiopia"), dish("Harira", "Morocco")
    assert filled_here([one.number])["countries"] == 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"name,aliases\nx,y\n", "lacks the columns: countries"),
        (b"name,aliases,countries\n", "no dish with a name"),
        (b"\xff\xfe\x00n", "not UTF-8"),
        (b"name,aliases,countries\n,,\n", "no dish with a name"),
        (b"name,aliases,countries\n" + b"x" * 2000 + b",,\n", "cannot be read as CSV: field larger than"),
        (b"name,aliases,countries\n" + b"Soup,,\n" * 4, "more than 3 rows"),
    ],
)
def test_a_file_that_is_no_list_is_refused_whole(
    content: bytes, reason: str, tmp_path: Path, db: None, monkeypatch: pytest.MonkeyPatch, short_cells: int
) -> None:
    monkeypatch.setattr(reference, "MOST_ROWS", 3)
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(ReferenceListError, match=reason):
        import_reference(path, "bad", "plain")
    assert not ReferenceList.objects.exists()


def test_the_command_says_what_it_did_and_what_is_wrong(
    tmp_path: Path, db: None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "list.csv"
    path.write_text(LIST, encoding="utf-8")
    call_command("import_reference", str(path), name="tiny")
    call_command("import_reference", str(path), name="tiny")
    assert capsys.readouterr().out == "tiny: 5 dishes added.\ntiny: 5 dishes are here already.\n"
    path.write_text(LIST + "Pizza,,Italy\n", encoding="utf-8")
    for wrong in ({"name": "tiny"}, {"name": "a b"}, {"name": "other", "form": "nothing"}):
        with pytest.raises(CommandError):
            call_command("import_reference", str(path), **wrong)
    for long in ({"name": "x" * 81}, {"name": "y", "title": "x" * 201}, {"name": "y", "source": "x" * 301}):
        with pytest.raises(CommandError, match="at most"):
            call_command("import_reference", str(path), **long)
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("import_reference", str(tmp_path / "absent.csv"), name="x")


def test_without_countries_there_is_no_correlation_and_a_reason() -> None:
    found = estimate_correlation([])
    assert (found.value, found.n, found.reason) == (None, 0, "fewer than two countries, or all alike")
