"""Review copies: all pictures in one size and encoding, without metadata: nothing but the pixels differs."""

from io import BytesIO

from PIL import Image, ImageCms, ImageOps

from evaluation import files

SIDE = 512
MAX_BYTES = 60_000
QUALITY = 60
GROUND = (128, 128, 128)
SOFTER = 0.8


class CopyError(Exception):
    """The content is no picture that can be read; the text says what was wrong."""


def keep_copy(sha256: str) -> str:
    """Makes and stores the review copy of a held picture; returns the copy's SHA-256. Raises CopyError."""
    try:
        content = files.read(sha256)
    except FileNotFoundError as error:
        raise CopyError("the file is not held") from error
    return files.keep(review_copy(content))


def review_copy(content: bytes) -> bytes:
    """A square JPEG of 512 px and at most 60,000 bytes, by one encoder setting for all pictures.

    A picture that the setting does not bring under the limit is softened, never encoded otherwise: the
    setting would tell pictures apart.
    """
    square = _square(content)
    side = SIDE
    while True:
        encoded = _encode(square if side == SIDE else _softened(square, side))
        if len(encoded) <= MAX_BYTES:
            return encoded
        side = int(side * SOFTER)


def _square(content: bytes) -> Image.Image:
    """The middle of the picture as RGB pixels in sRGB, upright, on grey where it is transparent."""
    try:
        with Image.open(BytesIO(content)) as opened:
            upright = _in_srgb(ImageOps.exif_transpose(opened))
            coloured = upright.convert("RGBA")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise CopyError(f"the picture cannot be read: {error}") from error
    fitted = ImageOps.fit(coloured, (SIDE, SIDE), Image.Resampling.LANCZOS)
    plain = Image.new("RGB", (SIDE, SIDE), GROUND)
    plain.paste(fitted, mask=fitted.getchannel("A"))
    return plain


def _in_srgb(picture: Image.Image) -> Image.Image:
    """The picture in sRGB; one whose profile cannot be used is taken to be in sRGB already."""
    profile = picture.info.get("icc_profile")
    if not profile or picture.mode not in ("RGB", "RGBA", "CMYK", "L"):
        return picture
    mode = "RGBA" if picture.mode == "RGBA" else "RGB"
    try:
        given = ImageCms.ImageCmsProfile(BytesIO(profile))
        converted = ImageCms.profileToProfile(picture, given, ImageCms.createProfile("sRGB"), outputMode=mode)
    except ImageCms.PyCMSError:
        return picture
    return converted or picture


def _softened(square: Image.Image, side: int) -> Image.Image:
    small = square.resize((side, side), Image.Resampling.LANCZOS)
    return small.resize((SIDE, SIDE), Image.Resampling.BICUBIC)


def _encode(picture: Image.Image) -> bytes:
    out = BytesIO()
    picture.save(out, "JPEG", quality=QUALITY, subsampling="4:2:0", optimize=True, progressive=True)
    return out.getvalue()
