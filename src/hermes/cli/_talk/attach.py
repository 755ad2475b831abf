"""The files and pictures that a question names: `@notes.md`, `@"two words.txt"`, or a picture by its path."""

import os
import re
from collections.abc import Callable

import msgspec

from hermes import discover
from hermes.errors import UsageError
from hermes.messages import Image

LARGEST = 200_000
"""Bytes of a text file that a question can carry."""

_AT = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|(\S+))')
_PATH = re.compile(r"(?<!\S)(?:'((?:~|\.{0,2})/[^'\n]+)'|((?:~|\.{0,2})/(?:\\ |\S)+))")
_FILE = re.compile(r".+\.[A-Za-z]\w{0,4}")
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_AFTER_A_NAME = ".,;:!?)]}'\""


class Attached(msgspec.Struct, frozen=True):
    """A question with what it names: texts in it, pictures beside it, and each file's name.

    `missing` are the words that look like names of files that are not there.
    """

    question: str
    images: tuple[Image, ...] = ()
    names: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def attach(question: str, redact: Callable[[str], str]) -> Attached:
    """The question with the files that it names, and with no known secret in their text.

    A word with `@` that looks like a path and is none is an error; any other is left as it is.
    """
    texts: dict[str, str] = {}
    pictures: dict[str, Image] = {}
    missing: list[str] = []
    for found in _AT.finditer(question):
        name = _file(found[1] or found[2], is_quoted=bool(found[1]))
        if name and _is_picture(name):
            pictures[name] = _picture(name)
        elif name:
            texts[name] = redact(_text(name))
        elif _FILE.fullmatch(word := found[2].rstrip(_AFTER_A_NAME)):
            missing.append(word)
    for found in _PATH.finditer(question):
        name = (found[1] or found[2].replace("\\ ", " ")).rstrip(_AFTER_A_NAME)
        if _is_picture(name) and os.path.isfile(os.path.expanduser(name)):
            pictures[name] = _picture(name)
    whole = "\n\n".join([question, *(f"`{name}`:\n\n{_fenced(text)}" for name, text in texts.items())])
    return Attached(whole, tuple(pictures.values()), (*texts, *pictures), tuple(missing))


def _file(word: str, *, is_quoted: bool) -> str:
    """The name of the file that a word with `@` means; empty when it means none."""
    for name in (word,) if is_quoted else (word, word.rstrip(_AFTER_A_NAME)):
        path = os.path.expanduser(name)
        if os.path.isdir(path):
            raise UsageError(f"`{name}` is a folder", hint="add folders with `hermes index add PATH`")
        if os.path.exists(path):
            return name
    if is_quoted or "/" in word:
        raise UsageError(f"there is no file `{word}`", hint="leave out the `@` if it is no file")
    return ""


def _is_picture(name: str) -> bool:
    return name.lower().endswith(_PICTURES)


def _picture(name: str) -> Image:
    image: Image = discover.module("hermes.app.pictures").read_image(os.path.expanduser(name))
    return image


def _text(name: str) -> str:
    try:
        with open(os.path.expanduser(name), "rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise UsageError(
            f"cannot read `{name}`: {error.strerror}", hint="name a file that is there"
        ) from error
    if len(data) > LARGEST:
        raise UsageError(
            f"`{name}` is larger than {LARGEST // 1000} kB",
            hint="add it with `hermes index add PATH` and ask",
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise UsageError(f"`{name}` is not UTF-8 text", hint="add documents with `hermes index add PATH`")
    return text


def _fenced(text: str) -> str:
    """A code block whose fence is longer than any in the text, so that nothing breaks out of it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}"
