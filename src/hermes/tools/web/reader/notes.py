"""What a caller is told of a page that is not what was asked for: an error, a wall, an empty shell."""

import re

import msgspec

MAX_ERROR_WORDS = 250
NEXT_TO_NOTHING = 10
SEARCHED = 300_000
MAX_SHELL_WORDS = 60
MUCH_MARKUP = 5_000
"""Letters of HTML around next to no text that, with style sheets, only a page for scripts has."""
QUOTED = 160
"""Letters of a page without content that its note still gives."""

_MOUNT_ID = r"<(\w+)[^<>]{0,200}\bid=[\"']?(?:root|app|__next|__nuxt|app-root|main-outlet|react-root)[\"'\s>]"
_MOUNT = re.compile(rf"{_MOUNT_ID}|(?:enable|requires?|turn on|needs?) javascript", re.I)
_EMPTY_MOUNT = re.compile(rf"{_MOUNT_ID}(?:[^<>]{{0,200}}>)?\s*</\1>", re.I)
_WITHOUT_SCRIPTS = re.compile(
    r"\bjava ?script\b.{0,40}\b(?:disabled|required|enabled|not available)\b"
    r"|\b(?:enable|requires?|turn on|needs?|activate)\b.{0,20}\b(?:java ?script|js)\b"
    r"|^\W*(?:loading|please wait|redirecting)\b[^.]{0,30}\W*$",
    re.I,
)


class _Kind(msgspec.Struct, frozen=True):
    """A kind of page that stands in for another."""

    name: str
    hint: re.Pattern[str]
    """What its title or first words hold."""
    whole: re.Pattern[str]
    """What a part of its title or first words is, when the page is nothing else."""
    most: int
    """Words that such a page may have: a page about errors has more."""


_KINDS = (
    _Kind(
        "an error page",
        re.compile(
            r"\b(?:40[0-9]|410|50[0-4])\b(?=\W*(?:$|error|not|page|forbidden|bad|internal|gateway|service))"
            r"|\b(?:page|file|site|article|item|content|url)\b.{0,20}\b(?:not found|no longer"
            r"|can(?:no|')t be found"
            r"|could ?n[o']t be found|does ?n[o']t exist|is unavailable|not available|missing)"
            r"|not found\W*$|^error\b|internal server error|bad gateway|service unavailable"
            r"|something went wrong|seite nicht gefunden"
            r"|page introuvable|página no encontrada|pagina non trovata",
            re.I,
        ),
        re.compile(
            r"(?:oops |sorry |whoops |we re sorry |http |error |status |code )*(?:40[0-9]|410|429|50[0-4])"
            r"(?: error| page| file| not found| forbidden| unauthorized| bad request| gone| bad gateway"
            r"| internal server error| service (?:temporarily )?unavailable| gateway time ?out| 1)*"
            r"|(?:oops |sorry |whoops |error )*we (?:can t|could ?n t|cannot) find (?:the|this|that) page"
            r"(?: you .{0,30})?"
            r"|(?:oops |sorry |whoops |error )*(?:the |this |that )?(?:requested )?"
            r"(?:page|file|article|content|url|topic|post)(?: you .{0,30})?"
            r"(?: (?:was|is|has|does|can|could|cannot|can t|couldn t|isn t|doesn t|wasn t|be|been|not"
            r"|no longer))+"
            r" (?:found|exist|exists|available|unavailable|missing|removed|deleted)(?: 404)?"
            r"|(?:error )?the request could not be satisfied|not found|something went wrong"
            r"|an error (?:has )?occurred|internal server error|bad gateway"
            r"|service unavailable|application error|seite nicht gefunden|page introuvable"
            r"|página no encontrada|pagina non trovata"
        ),
        60,
    ),
    _Kind(
        "a wall before the page",
        re.compile(
            r"access denied|forbidden|attention required|just a moment|are you (?:a )?(?:robot|human)"
            r"|verify(?:ing)? (?:that )?you are|security check|captcha|pardon our interruption"
            r"|unusual traffic|request (?:was )?(?:blocked|rejected)|human verification"
            r"|checking your browser|bot verification|robot (?:check|or human)|you have been blocked"
            r"|access to this page has been denied|request could not be satisfied|client challenge"
            r"|please (?:enable|turn on) (?:js|javascript|cookies)",
            re.I,
        ),
        re.compile(
            r"access (?:is )?denied|forbidden|attention required|(?:just a|one) moment(?: please)?"
            r"|are you a? ?(?:robot|human)|robot or human|(?:verify|verifying) (?:that )?you are (?:a )?human"
            r"|(?:human|bot|security) verification|security check(?:point)?|captcha|robot check"
            r"|pardon our interruption|checking your browser(?: before accessing .*)?"
            r"|(?:sorry )?you have been blocked|access to this page has been denied|client challenge"
            r"|(?:the |your )?request (?:was )?(?:blocked|rejected)"
        ),
        150,
    ),
)
_SEPARATORS = re.compile(r"\s[-\u2013\u2014\u00b7\u00bb:]\s|[|\n]|[.!?]\s")
_NO_WORDS = re.compile(r"[\W_]+")


class Instead(msgspec.Struct, frozen=True):
    """What a page is instead of content."""

    note: str
    is_all: bool
    """Whether it is nothing else, so that there is no content to give."""


def instead(title: str, opening: str, words: int) -> Instead | None:
    """Whether a short page is an error or a wall, by its title or first words; None if it is neither."""
    if words > MAX_ERROR_WORDS:
        return None
    for kind in _KINDS:
        for told in (title, opening):
            is_whole = any(map(kind.whole.fullmatch, _parts(told)))
            if is_whole or kind.hint.search(told):
                return Instead(
                    f"this looks like {kind.name}: `{told[:QUOTED]}`", is_whole and words <= kind.most
                )
    return None


def _parts(told: str) -> list[str]:
    """The parts of a title, each as plain words."""
    return [_NO_WORDS.sub(" ", part).strip().lower() for part in _SEPARATORS.split(told)]


def asks_for_scripts(text: str) -> bool:
    """Whether a text only says that the page needs scripts, or that they are at work."""
    return len(text) < 300 and _WITHOUT_SCRIPTS.search(text) is not None


def is_mount(html: str) -> bool:
    """Whether a page has an empty place that scripts fill."""
    return _EMPTY_MOUNT.search(html, 0, SEARCHED) is not None


def shell_note(words: int, whole: int, html: str) -> str | None:
    """Says that a page is a shell that scripts fill, or empty; None if it is neither.

    `words` is how many were kept of the `whole` page.
    """
    if words >= MAX_SHELL_WORDS:
        return None
    has_scripts = "<script" in html
    is_bare = words < NEXT_TO_NOTHING and has_scripts
    is_frame = whole < NEXT_TO_NOTHING and len(html) > MUCH_MARKUP and "<link" in html
    if is_bare or is_frame or (has_scripts and _MOUNT.search(html, 0, SEARCHED)):
        return "scripts fill this page; its text is not in the HTML"
    return None if whole else "the page has no text"
