"""Characters that a terminal obeys or hides instead of showing them."""

import re
import unicodedata

_CONTROLS = {*range(0x20), *range(0x7F, 0xA0)} - {ord("\n"), ord("\t")}
_REORDERING = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
_HIDDEN = {0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x200B, 0x3164, 0xFEFF, 0xFFA0}
_HIDDEN |= {*range(0x180B, 0x180E), *range(0x2028, 0x202A), *range(0x2060, 0x2066), *range(0x206A, 0x2070)}
_HIDDEN |= {*range(0xFE00, 0xFE0E), *range(0xFFF0, 0xFFFC)}
_WRITTEN = {code: f"\\u{code:04x}" for code in _CONTROLS | _REORDERING | _HIDDEN}
_JOINERS_AND_TAGS = "[\u200c\u200d\ufe0e\ufe0f\U000e0000-\U000e0fff]"
_JOINED_SCRIPTS = range(0x0600, 0x1100)
"""From Arabic over the scripts of India to Tibetan and Myanmar: what is spelt with joiners."""


def spelt_out(text: str) -> str:
    """The text with every such character as its code, such as `\\u001b`; line breaks and tabs stay.

    Joiners stay where they belong: between letters of scripts that are spelt with them, and in emoji.
    """
    text = text.translate(_WRITTEN)
    return text if text.isascii() else re.sub(_JOINERS_AND_TAGS, _in_place, text)


def _in_place(found: re.Match[str]) -> str:
    """A joiner as it is where it belongs, or else as its code."""
    text, at = found.string, found.start()
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    joins = found[0] in "\u200c\u200d"
    in_emoji = _is_symbol(before) and (_is_symbol(after) if joins else found[0] in "\ufe0e\ufe0f")
    in_word = joins and all(letter and ord(letter) in _JOINED_SCRIPTS for letter in (before, after))
    code = ord(found[0])
    return found[0] if in_emoji or in_word else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _is_symbol(letter: str) -> bool:
    """Whether this may be a part of an emoji."""
    return bool(letter) and (letter in "\ufe0f#*0123456789" or unicodedata.category(letter) in ("So", "Sk"))
