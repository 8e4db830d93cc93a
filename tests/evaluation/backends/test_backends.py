"""Stand-ins and imported material: deterministic, honest about what they are, hard to upset."""

import io
from pathlib import Path

import numpy as np
import pytest
from django.utils.module_loading import import_string
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from evaluation import backends
from evaluation.backends.standin.encoder import DIMENSIONS, StandinEncoder
from evaluation.backends.standin.images import BANNER, Sketch, draw_labels, encode_png, filter_drawable_name
from evaluation.backends.stored import StoredEncoder
from evaluation.contracts import parameters
from evaluation.contracts.backend import BackendError, ImageRequest
from evaluation.contracts.study import ConfigError, ModelData, Vector
from evaluation.ingest.folder_pattern import MOST_BYTES, FoundImage, LeftOut, pattern_of, scan_image_folder
from evaluation.models import Role
from evaluation.registry import backend_table

SKETCH = ModelData(1, "sketch", "image_generator", "sketch", "sketch", "1", {"size": 128}, demonstration=True)
STANDIN = ModelData(2, "standin", "encoder", "standin", "standin", "1", {}, demonstration=True)


def draw(name: str, seed: int = 1, model: ModelData = SKETCH) -> bytes:
    [result] = Sketch(model).generate([ImageRequest("key", f"Draw {name}", name, seed=seed)])
    assert result.image is not None
    return result.image.content


def cosine(one: Vector, other: Vector) -> float:
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))


@pytest.mark.parametrize("path", [path for role in backend_table.BACKENDS.values() for path in role.values()])
def test_every_backend_in_the_table_loads(path: str) -> None:
    assert import_string(path.replace(":", "."))


def test_roles_in_the_table_are_roles_of_models() -> None:
    assert set(backend_table.BACKENDS) <= set(Role.values)


def test_every_backend_declares_its_parameters() -> None:
    assert {(role, name) for role, known in backend_table.BACKENDS.items() for name in known} == set(
        parameters.DECLARED
    )


def test_an_unknown_backend_names_the_near_one() -> None:
    odd = ModelData(1, "odd", "encoder", "standinn", "odd", "", {})
    with pytest.raises(BackendError, match="Did you mean standin"):
        backends.load_backend(odd)


def test_a_backend_that_is_not_installed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(backend_table.BACKENDS, "chat", {"absent": "evaluation.backends.absent:Absent"})
    monkeypatch.setitem(parameters.DECLARED, ("chat", "absent"), ())
    for look in (backends.load_backend, backends.inspect_model):
        with pytest.raises(BackendError, match="not installed here"):
            look(ModelData(1, "odd", "chat", "absent", "odd", "", {}))


def test_of_a_backend_without_weights_nothing_is_known_before() -> None:
    assert backends.inspect_model(SKETCH) == []


def test_weights_in_a_folder_named_from_here_have_no_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "not a commit" in parameters.source_problem("clip", "weights", "")
    (tmp_path / "weights").mkdir()
    assert parameters.source_problem("clip", "weights", "") == ""


def test_a_sketch_is_the_same_for_the_same_seed_and_differs_for_another() -> None:
    assert draw("Waakye", 1) == draw("Waakye", 1)
    assert len({draw("Waakye", 1), draw("Waakye", 2), draw("Jollof", 1)}) == 3


def test_a_sketch_says_demonstration_on_its_face() -> None:
    with Image.open(io.BytesIO(draw("Waakye"))) as drawn:
        band = np.asarray(drawn.convert("L"))[-8:]
    plain = Image.new("RGB", (128, 128), "#efe3cf")
    draw_labels(plain, "", "")
    assert "DEMONSTRATION" in BANNER
    assert np.array_equal(band, np.asarray(plain.convert("L"))[-8:])
    assert len(np.unique(band)) > 8, "the band holds no letters"


@pytest.mark.parametrize(
    "name",
    [
        "Waakye",
        "كسكس",
        "ဒံပေါက်",
        "खिचड़ी",
        "餃子",
        "🍲🍲",
        "",
        " ",
        "a" * 5000,
        "x\x00y",
        "\ud800",
        "e\u0301" * 99,
        "\u202eabc",
    ],
)
def test_a_sketch_of_any_name_is_an_image(name: str) -> None:
    with Image.open(io.BytesIO(draw(name))) as image:
        image.load()
        assert image.size == (128, 128)


@given(st.text())
def test_no_name_upsets_the_sketch(name: str) -> None:
    assert filter_drawable_name(name) in ("", " ".join(name.split())[:60])


def test_only_names_that_the_font_can_write_are_written() -> None:
    assert filter_drawable_name("Waakye") == "Waakye"
    assert filter_drawable_name("ဒံပေါက်") == ""


def test_the_stand_in_encoder_gives_the_same_vectors_in_any_batch() -> None:
    encoder, contents = StandinEncoder(STANDIN), [draw("Waakye", seed) for seed in range(4)]
    together = encoder.encode_images(contents)
    alone = np.concatenate([encoder.encode_images([content]) for content in contents])
    assert (together.shape, together.dtype) == ((4, DIMENSIONS), np.float32)
    assert np.allclose(together, alone, atol=1e-6)
    assert np.array_equal(encoder.encode_texts(["fresh"]), StandinEncoder(STANDIN).encode_texts(["fresh"]))


def test_the_stand_in_encoder_puts_like_near_like() -> None:
    encoder = StandinEncoder(STANDIN)
    red, pink, blue = (encode_png(Image.new("RGB", (40, 30), colour)) for colour in ("#c00000", "#d01010", "#0000c0"))
    first, near, far = encoder.encode_images([red, pink, blue])
    assert cosine(first, near) > cosine(first, far)
    word, like, other = encoder.encode_texts(["tasty food", "tasty foods", "grey concrete"])
    assert cosine(word, like) > cosine(word, other)


def test_the_stand_in_encoder_takes_nothing_and_strange_texts() -> None:
    encoder = StandinEncoder(STANDIN)
    assert encoder.encode_images([]).shape == encoder.encode_texts([]).shape == (0, DIMENSIONS)
    assert np.isfinite(encoder.encode_texts(["", "\ud800", "餃子"])).all()
    assert (np.abs(encoder.encode_texts([""])).sum() > 0).all()


def test_the_stored_encoder_knows_only_what_was_imported() -> None:
    encoder = StoredEncoder(ModelData(3, "clip", "encoder", "stored", "clip", "", {"preprocessing": "as published"}))
    assert encoder.preprocessing == "as published"
    with pytest.raises(LookupError, match="No vector of this text was imported for clip"):
        encoder.encode_texts(["fresh"])
    with pytest.raises(LookupError, match="No vector of this image"):
        encoder.encode_images([b""])


def write(folder: Path, name: str, content: bytes | None = None) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if content is not None else encode_png(Image.new("RGB", (6, 4), "#a8431f")))


def test_file_names_say_subject_model_and_seed(tmp_path: Path) -> None:
    write(tmp_path, "dalle/Waakye_7.png")
    [found] = scan_image_folder(tmp_path, "{model}/{subject}_{seed}.png")
    assert isinstance(found, FoundImage)
    assert found.fields == {"model": "dalle", "subject": "Waakye", "seed": "7"}
    assert (found.media_type, found.width, found.height) == ("image/png", 6, 4)


def test_the_kind_of_an_image_is_read_from_its_content(tmp_path: Path) -> None:
    stream = io.BytesIO()
    Image.new("RGB", (6, 4)).save(stream, "JPEG")
    write(tmp_path, "Waakye.png", stream.getvalue())
    [found] = scan_image_folder(tmp_path, "{subject}.png")
    assert isinstance(found, FoundImage) and found.media_type == "image/jpeg"


def test_files_that_cannot_be_taken_are_listed_with_the_reason(tmp_path: Path) -> None:
    whole = encode_png(Image.effect_noise((64, 64), 50).convert("RGB"))
    outside = tmp_path / "secret.png"
    outside.write_bytes(whole)
    folder = tmp_path / "pictures"
    write(folder, "a.png", b"<svg/>")
    write(folder, "b.png", whole[: len(whole) // 2])
    write(folder, "c.txt", b"notes")
    write(folder, "e.png", b"")
    (folder / "d.png").symlink_to(outside)
    with (folder / "f.png").open("wb") as large:
        large.truncate(MOST_BYTES + 1)
    (folder / "g.png").symlink_to(folder / "gone.png")
    assert list(scan_image_folder(folder, "{subject}.png")) == [
        LeftOut("a.png", "What came is no PNG, JPEG or WebP image."),
        LeftOut("b.png", "The image is damaged."),
        LeftOut("c.txt", "its name does not fit the pattern"),
        LeftOut("d.png", "it is a link to a file outside the folder"),
        LeftOut("e.png", "What came is no PNG, JPEG or WebP image."),
        LeftOut("f.png", "it is larger than 50 MB"),
        LeftOut("g.png", "it cannot be read: No such file or directory"),
    ]


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [
        ("{sujet}.png", "There is no part 'sujet'"),
        ("{subjct}.png", "Did you mean subject"),
        ("{seed}.png", "{subject} is needed"),
        ("{subject}_{subject}.png", "may occur once"),
        ("{subject}_{seed}_{sample}.png", "not both"),
        ("plain.png", "{subject} is needed"),
    ],
)
def test_a_pattern_that_cannot_be_used_says_why(pattern: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        pattern_of(pattern)
    assert sentence in str(caught.value)


def test_signs_in_a_pattern_mean_themselves() -> None:
    assert pattern_of("a.b/{subject}+{seed}.png").fullmatch("a.b/Waakye+3.png")
    assert not pattern_of("a.b/{subject}.png").fullmatch("aXb/Waakye.png")
