"""What a locale cannot write, in letters that it can: `✓` and `✗` must not become the same `?`."""

import codecs

PLAINLY = "hermes.plainly"
"""The name of this way to encode: an `errors=` of a text stream."""
_PLAIN = {"✓": "+", "✗": "x", "·": "-", "…": "...", "•": "*", "│": "|", "─": "-"}


def _plainly(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(_PLAIN.get(letter, "?") for letter in lost), error.end


codecs.register_error(PLAINLY, _plainly)
