"""Markdown in, sentences out: each clean of marks, with the place it was found at."""

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from hermes.ranking.lexicon import bag
from hermes.ranking.words import surface, term


class Sentence(msgspec.Struct, frozen=True):
    """One sentence as it can be quoted. `block` numbers its paragraph, list item or table row."""

    text: str
    words: tuple[str, ...]
    terms: tuple[str, ...]
    block: int
    place: int
    heading: str
    code: str = ""
    """The fenced block right after the sentence, when the sentence introduces one."""


class Block(msgspec.Struct, frozen=True):
    """A stretch of text between blank lines, or a fenced block of code."""

    text: str
    heading: str
    is_code: bool = False


_FENCE = re.compile(r"^\s{0,3}(```+|~~~+)")
_HEADING = re.compile(r"^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r"^\s{0,3}(=+|-+)\s*$")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_RULE = re.compile(r"^[\s|:*_\-=+]*$")
_QUOTE = re.compile(r"^\s{0,3}(?:>\s?)+")

_INLINE: tuple[tuple[str, str, str], ...] = (
    ("<", r"<!--.*?-->|</?[a-zA-Z][^<>\n:]{0,300}>", ""),
    ("![", r"!\[[^\]\n]*\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)", ""),
    ("](", r"\[\\?\[[^\[\]\n]{0,20}\\?\]\]\([^()\n]*\)", ""),
    ("](", r"\[([^\[\]\n]*)\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)", r"\1"),
    ("[", r"\\?\[(?:\d{1,3}|[a-z]|note \d+|citation needed|edit|update)\\?\]", ""),
    ("][", r"\[([^\[\]\n]+)\]\[[^\[\]\n]*\]", r"\1"),
    ("<", r"<(https?://[^\s<>]+)>", r"\1"),
    ("*", r"\*\*(?=\S)(.+?)(?<=\S)\*\*", r"\1"),
    ("__", r"(?<!\w)__(?=\S)(.+?)(?<=\S)__(?!\w)", r"\1"),
    ("*", r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])", r"\1"),
    ("_", r"(?<!\w)_(?=\S)([^_\n]+?)(?<=\S)_(?!\w)", r"\1"),
    ("~~", r"~~(.+?)~~", r"\1"),
    ("\\", r"\\([\\`*_{}\[\]()#+\-.!|>~])", r"\1"),
)
"""A sign that must be there for the pattern to apply, the pattern, and what stays of it.

As text, because few pages have them all, and compiling takes longer than reading a page.
"""


_CODE_SPAN = re.compile(r"`+[^`\n]+`+")
_STASHED = re.compile(r"\x00(\d+)\x00")


def clean(text: str) -> str:
    """Markdown's inline marks taken off, but for code, which is kept as it is in its backticks.

    Reference marks like `[12]` go too: in an answer they would pass for citations.
    """
    text = text.replace("\x00", "")
    code = _CODE_SPAN.findall(text) if "`" in text else []
    numbers = iter(range(len(code)))
    if code:
        text = _CODE_SPAN.sub(lambda _: f"\x00{next(numbers)}\x00", text)
    for sign, pattern, instead in _INLINE:
        if sign in text:
            text = re.sub(pattern, instead, text)
    if code:
        text = _STASHED.sub(lambda stashed: code[int(stashed.group(1))], text)
    return " ".join(text.split())


_END = re.compile(r"([.!?…]+[\"'”’»)\]]*)\s+(?=[\"'“‘«(\[]*[^\W_a-zß-öø-ÿ])|([。！？]+[」』”）]*)")  # noqa: RUF001
_WORD = re.compile(r"\w*")
_MARKS = "\"'“("
_BREAKS = str.maketrans(_MARKS, " " * len(_MARKS))
_ABBREVIATIONS = bag("""
    Mr Mrs Ms Dr Prof St Lt Col Gen Capt Sgt Rev Hon Gov Sen Rep Mt Ft No Nos Vol vol pp p ed eds ca cf c fl b
    d r vs v approx est Art Fig fig Jan Feb Mar Apr Jun Jul Aug Sept Sep Oct Nov Dec Univ Dept viz esp
""")
_MAY_END = bag("etc Inc Ltd Co Corp Bros Jr Sr al Ave Blvd Ph.D")
"""These, like initials, may stand inside a sentence or at its end; what follows decides."""
_STARTERS = bag("""
    The This These That Those It Its He His She Her They Their In On At By For From After Before As When While
    However Although Since There A An We But And If During With Some Many Most One Not No To Other Another
    Such Both Each Until Under Because So Then Today Later Thus Also Additionally Unlike Despite
""")


def sentences(text: str) -> list[str]:
    """A paragraph cut at its sentence ends; abbreviations, initials and decimals do not end one."""
    found: list[str] = []
    start = 0
    for match in _END.finditer(text):
        end = match.end(1) if match.group(1) else match.end(2)
        if match.group(1) and not _ends_sentence(text[start:end], text[match.end() : match.end() + 20]):
            continue
        found.append(text[start:end].strip())
        start = end
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


def _ends_sentence(so_far: str, rest: str) -> bool:
    if not so_far.endswith("."):
        return True
    last = so_far[-12:].translate(_BREAKS).split()[-1].removesuffix(".")
    if last in _MAY_END or _is_initials(last):
        opening = _WORD.match(rest.lstrip(_MARKS))
        return opening is not None and opening[0] in _STARTERS
    return last not in _ABBREVIATIONS


def _is_initials(word: str) -> bool:
    letters = word.split(".")
    are_letters = all(len(letter) == 1 and letter.isascii() and letter.isalpha() for letter in letters)
    return are_letters and (len(letters) > 1 or word.isupper())


def blocks(markdown: str) -> Iterator[Block]:
    """The blocks of a page in order, each under the headings it stands below."""
    headings: list[str] = []
    held: list[str] = []
    fence = ""
    for line in [*markdown.splitlines(), ""]:
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                yield Block("\n".join(held), _under(headings), is_code=True)
                fence, held = "", []
            else:
                held.append(line)
            continue
        opened, title = _FENCE.match(line), _HEADING.match(line)
        underlined = bool(held and len(held) == 1 and _UNDERLINE.match(line) and not _ITEM.match(held[0]))
        if underlined:
            headings = _placed(headings, 1 if "=" in line else 2, held.pop())
            continue
        body = _QUOTE.sub("", line)
        if held and (
            opened or title or not body.strip() or _ITEM.match(body) or body.lstrip().startswith("|")
        ):
            yield Block(" ".join(held), _under(headings))
            held = []
        if opened:
            fence = opened.group(1)
        elif title:
            headings = _placed(headings, len(title.group(1)), title.group(2))
        elif not _RULE.match(body):
            held.append(body.strip())
    if held:
        yield Block("\n".join(held) if fence else " ".join(held), _under(headings), is_code=bool(fence))


def _placed(headings: list[str], level: int, title: str) -> list[str]:
    kept = headings[: level - 1]
    return [*kept, *[""] * (level - 1 - len(kept)), clean(title)]


def _under(headings: list[str]) -> str:
    return " / ".join(heading for heading in headings if heading)


_LONGEST_CODE = 15


@lru_cache(maxsize=32)
def read(markdown: str) -> tuple[Sentence, ...]:
    """Every sentence of a page. Pure, and remembered for the last few pages."""
    found: list[Sentence] = []
    for number, block in enumerate(blocks(markdown)):
        if block.is_code:
            _attach(found, block, number)
            continue
        for place, text in enumerate(sentences(clean(_ITEM.sub("", block.text, count=1)))):
            words = tuple(surface(text))
            if words:
                found.append(Sentence(text, words, tuple(map(term, words)), number, place, block.heading))
    return tuple(found)


def _attach(found: list[Sentence], block: Block, number: int) -> None:
    """A short block of code belongs to the sentence that introduces it."""
    introduces = found and found[-1].block == number - 1 and found[-1].text.rstrip().endswith(":")
    if introduces and 0 < len(block.text.splitlines()) <= _LONGEST_CODE:
        found[-1] = msgspec.structs.replace(found[-1], code=block.text)
