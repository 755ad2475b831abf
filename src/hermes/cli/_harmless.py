"""A model's Markdown as a document may hold it: who opens it fetches nothing, and sees where links lead."""

import re
from urllib.parse import urlsplit

_CODE = re.compile(r"(?ms)^ *(`{3,}|~{3,}).*?(?:^ *\1|\Z)|(`+)[^`].*?\2")
_LINK = re.compile(r"(?<!\\)\[([^\[\]]*)\]\(<?(https?://[^\s<>)]+)[^)]*\)", re.IGNORECASE)
_TAG = re.compile(r"<(?!https?://)(?=[A-Za-z/!?])", re.IGNORECASE)
_DEFINITION = re.compile(r"(?m)^( {0,3})\[([^\]]+)\]:")


def harmless(text: str) -> str:
    """The text with its pictures and tags as plain words, and with each link's host beside it.

    Definitions of links are shown instead of used. Code stays as it is.
    """
    parts: list[str] = []
    done = 0
    for code in _CODE.finditer(text):
        parts += (_plain(text[done : code.start()]), code[0])
        done = code.end()
    return "".join((*parts, _plain(text[done:])))


def _plain(text: str) -> str:
    without_pictures = text.replace("![", "!\\[")
    without_tags = _TAG.sub("&lt;", without_pictures)
    without_definitions = _DEFINITION.sub(r"\1\\[\2]:", without_tags)
    return _LINK.sub(_with_host, without_definitions)


def _with_host(link: re.Match[str]) -> str:
    host = urlsplit(link[2]).netloc
    shown = link[1].partition("://")[2] or link[1]
    return link[0] if shown.partition("/")[0] == host else f"{link[0]} ({host})"
