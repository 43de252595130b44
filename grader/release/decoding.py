"""Unpack files and decode texts: a table of file formats, and the ways to encode something within a text.

Nothing here searches for anything. Each format lists its parts, and says whether these are all there is.
"""

from __future__ import annotations

import base64
import bz2
import codecs
import gzip
import io
import lzma
import quopri
import re
import sqlite3
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pickletools import genops
from typing import NamedTuple
from urllib.parse import unquote, unquote_plus

LARGEST = 50 * 2**20  # bytes of a file, or of anything unpacked from one

Content = bytes | str
Part = tuple[str, Content | None]  # its name, if it has one; None if it cannot be opened


class TooMuchToRead(Exception):
    """This is more than we read of one file."""


class Decoding(NamedTuple):
    """A file format."""

    is_one: Callable[[bytes], bool]
    parts: Callable[[bytes], Iterator[Part]]
    is_all: bool = True  # whether the parts are everything, and not only texts


def forms_of(content: bytes) -> Iterator[Decoding]:
    """All formats that a file has: a picture may have an archive appended to it."""
    return (form for form in _FORMS if form.is_one(content))


# --- texts -----------------------------------------------------------------------------------------------------------

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
          (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))  # fmt: skip
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffe\uffff]")
_PRINTABLE = re.compile(rb"[\t\n\r\x20-\x7e\x80-\xff]{8,}|(?:[\t\n\r\x20-\x7e]\x00){8,}")


_INVISIBLE = "\xad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff"
_LOOKS_LIKE = str.maketrans("−‘’“”", "-''\"\"", _INVISIBLE)


def text_of(content: bytes) -> str | None:
    """The text of a file, in whatever encoding; None if it is not a text."""
    marked = [encoding for mark, encoding in _MARKS if content.startswith(mark)]
    others = ["utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"] if b"\x00" in content[:64] else ["cp1252"]
    for encoding in marked or ["utf-8", *others]:
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if not _CONTROL.search(text) and (encoding in ("utf-8", *marked) or _is_mostly_ascii(text)):
            return text
    return None


def _is_mostly_ascii(text: str) -> bool:
    return sum(map(str.isascii, text)) > 0.7 * len(text)


def printable(content: bytes) -> str:
    """The readable text in a file of unknown format."""
    return "\n".join(run.replace(b"\x00", b"").decode("cp1252", "replace") for run in _PRINTABLE.findall(content))


def plain(text: str) -> str:
    """A text with lookalike characters replaced and invisible ones removed."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_LOOKS_LIKE)


# --- files -----------------------------------------------------------------------------------------------------------


def _begins(*marks: bytes, at: int = 0) -> Callable[[bytes], bool]:
    return lambda content: content.startswith(marks, at)


def _bounded(content: bytes) -> bytes:
    if len(content) > LARGEST:
        raise TooMuchToRead
    return content


def _unpacked(opened: Callable[[io.BytesIO], io.BufferedIOBase]) -> Callable[[bytes], Iterator[Part]]:
    def parts(content: bytes) -> Iterator[Part]:
        with opened(io.BytesIO(content)) as file:
            yield "", _bounded(file.read(LARGEST + 1))

    return parts


def _inflated(content: bytes) -> bytes:
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
    return _bounded(unpacker.decompress(content, LARGEST + 1))


def _zip(content: bytes) -> Iterator[Part]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        yield "", archive.comment
        for entry in archive.infolist():
            if entry.flag_bits & 1:  # encrypted
                yield entry.filename, None
            elif not entry.is_dir():
                with archive.open(entry) as file:
                    yield entry.filename, _bounded(file.read(LARGEST + 1))


def _tar(content: bytes) -> Iterator[Part]:
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
        for entry in archive:
            if entry.isreg() and (file := archive.extractfile(entry)) is not None:
                yield entry.name, _bounded(file.read(LARGEST + 1))


def _array(content: bytes) -> Iterator[Part]:
    """A NumPy array of texts, bytes or objects; larger numbers say nothing."""
    header, _, body = content.partition(b"\n")
    kind = re.search(rb"'descr': '([<>|=]?)([a-zA-Z])(\d*)'", header)
    if kind is None:  # a structured array, or none at all
        yield "", None
    elif kind[2] == b"U":
        yield "", body.decode("utf-32-be" if kind[1] == b">" else "utf-32-le").replace("\x00", "\n")
    elif kind[2] == b"S":
        yield "", body.replace(b"\x00", b"\n")
    elif kind[2] == b"O":
        yield "", body
    elif kind[2] in b"iu" and kind[3] == b"1":
        yield "", text_of(body) or ""


def _pickle(content: bytes) -> Iterator[Part]:
    """The texts in a pickle, which is parsed but not executed."""
    file = io.BytesIO(content)
    said = [argument for _, argument, _ in genops(file)]
    yield "", "\n".join(one for one in said if isinstance(one, str))
    yield from (("", bytes(one)) for one in said if isinstance(one, bytes | bytearray) and len(one) >= 16)
    if rest := file.read():
        yield "", rest


def _database(content: bytes) -> Iterator[Part]:
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(content)
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            quoted = table.replace('"', '""')
            for row in database.execute(f'SELECT * FROM "{quoted}"'):
                yield table, "\n".join(one for one in row if isinstance(one, str))
                yield from ((table, one) for one in row if isinstance(one, bytes))


def _png(content: bytes) -> Iterator[Part]:
    at = 8
    while at + 8 <= len(content):
        size, kind = int.from_bytes(content[at : at + 4]), content[at + 4 : at + 8]
        chunk = content[at + 8 : at + 8 + size]
        at += size + 12
        name, _, said = chunk.partition(b"\x00")
        if kind == b"zTXt":
            yield "", _inflated(said[1:])
        elif kind == b"iTXt":
            text = said[2:].split(b"\x00", 2)[-1]
            yield "", _inflated(text) if said[:1] == b"\x01" else text
        elif kind == b"tEXt":
            yield "", said
        elif kind not in (b"IDAT", b"IHDR", b"PLTE", b"IEND"):
            yield "", printable(name + b"\n" + said)
        if kind == b"IEND":
            break
    if rest := content[at:].strip(b"\x00"):
        yield "", rest


def _gif(content: bytes) -> Iterator[Part]:
    yield "", printable(content)
    for match in re.finditer(rb"\x21[\xfe\xff]", content):  # comments, in blocks that each begin with their size
        at, said = match.end(), b""
        while at < len(content) and content[at]:
            said += content[at + 1 : at + 1 + content[at]]
            at += content[at] + 1
        yield "", printable(said)


def _image(content: bytes) -> Iterator[Part]:
    yield "", printable(content)


_PDF_STREAM = re.compile(rb"<<((?:(?!stream\r?\n).){0,2000}?)>>\s*stream\r?\n(.*?)\r?\n?endstream", re.DOTALL)
_PDF_SHOWN = re.compile(rb"\((?:\\.|[^\\()]|\([^()]*\))*\)|<[0-9A-Fa-f\s]+>|T[jdDm*J]|['\"]|-\d{3,}", re.DOTALL)


def _pdf(content: bytes) -> Iterator[Part]:
    yield "", printable(content)
    for settings, stream in _PDF_STREAM.findall(content):
        if b"FlateDecode" in settings:
            stream = _inflated(stream)
            yield "", printable(stream)
        yield "", "".join(map(_pdf_shown, _PDF_SHOWN.findall(stream)))


def _pdf_shown(piece: bytes) -> str:
    if piece.startswith(b"("):
        return re.sub(r"\\(?=[()\\])", "", piece[1:-1].decode("cp1252", "replace"))
    if piece.startswith(b"<"):
        return printable(bytes.fromhex(piece[1:-1].decode() + "0" * (len(piece.strip(b"<> \n")) % 2)))
    return " " if piece.startswith(b"-") else "" if piece in (b"Tj", b"TJ") else "\n"


_FORMS = (
    Decoding(_begins(b"PK\x03\x04", b"PK\x05\x06"), _zip),
    Decoding(
        lambda content: not content.startswith(b"PK") and zipfile.is_zipfile(io.BytesIO(content)), _zip, is_all=False
    ),
    Decoding(_begins(b"\x1f\x8b"), _unpacked(gzip.open)),
    Decoding(_begins(b"BZh"), _unpacked(bz2.open)),
    Decoding(_begins(b"\xfd7zXZ", b"\x5d\x00\x00"), _unpacked(lzma.open)),
    Decoding(
        _begins(b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"), lambda content: iter([("", _inflated(content))])
    ),
    Decoding(_begins(b"ustar", at=257), _tar),
    Decoding(_begins(b"\x93NUMPY"), _array),
    Decoding(_begins(*(bytes([128, version]) for version in range(2, 6))), _pickle),
    Decoding(_begins(b"SQLite format 3\x00"), _database),
    Decoding(_begins(b"\x89PNG\r\n\x1a\n"), _png, is_all=False),
    Decoding(_begins(b"GIF8"), _gif, is_all=False),
    Decoding(
        lambda content: content.startswith(b"BM") and int.from_bytes(content[2:6], "little") == len(content),
        _image,
        is_all=False,
    ),
    Decoding(_begins(b"\xff\xd8\xff", b"II*\x00", b"MM\x00*", b"\x00\x00\x01\x00"), _image, is_all=False),
    Decoding(lambda content: content.startswith(b"RIFF") and content[8:12] == b"WEBP", _image, is_all=False),
    Decoding(_begins(b"%PDF-"), _pdf, is_all=False),
)


# --- texts in texts --------------------------------------------------------------------------------------------------

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_BROKEN_BASE64 = re.compile(r"(?<![\w+/])(?:[A-Za-z0-9+/]{40,}+\s+)+[A-Za-z0-9+/]+={0,2}")
_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\([0-7]{3})")
_HEX = re.compile(r"\b(?:(?:0x)?[0-9a-fA-F]{2}[\s:,]*){24,}")
_CODES = re.compile(r"\b\d{1,3}(?:\s*,\s*\d{1,3}){23,}")
_LONG = 100  # characters: base64 of this length that decodes to nothing known counts as unreadable


def decodings_of(text: str) -> Iterator[Content | None]:
    """Everything that is encoded in a text; None for what seems encoded but cannot be read."""
    yield from _of_addresses(text)
    if len(_ESCAPE.findall(text)) >= 3:
        yield _ESCAPE.sub(lambda found: chr(int(found[1] or found[2] or "0", 16) or int(found[3] or "0", 8)), text)
    if "=3D" in text:
        yield quopri.decodestring(text.encode()).decode(errors="replace")
    for found in _HEX.findall(text):
        yield bytes.fromhex(re.sub(r"0x|[\s:,]", "", found))
    for found in _CODES.findall(text):
        yield "".join(chr(int(code)) for code in found.split(","))
    yield from map(_of_base64, _BROKEN_BASE64.findall(text))
    yield from map(_of_base64, _BASE64.findall(text))


def _of_addresses(text: str) -> Iterator[str]:
    for word in text.split() if "%" in text else []:
        if len(word) >= 20 and (said := unquote(word)) != word:
            yield said
            if "+" in word:
                yield unquote_plus(word)


def _of_base64(found: str) -> Content | None:
    """Decode base64, which may come after an address."""
    starts = [0, *(match.end() for match in re.finditer("/", found[:200]))]
    for start in starts:
        coded = found[start:].rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
        coded = "".join(coded.split())
        try:
            content = base64.b64decode(coded + "=" * (-len(coded) % 4), validate=True)
        except ValueError:
            continue
        if text_of(content) is not None or any(forms_of(content)):
            return content
    is_coded = len(found) >= _LONG and all(re.search(kind, found) for kind in ("[a-z]", "[A-Z]", "[0-9]"))
    return None if is_coded else ""
