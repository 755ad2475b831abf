"""What a caller is told of a page that is not what was asked for: an error, a wall, an empty shell."""

import re

MAX_ERROR_WORDS = 250
NEXT_TO_NOTHING = 10
SEARCHED = 300_000
MAX_SHELL_WORDS = 60
MUCH_MARKUP = 5_000
"""Letters of HTML around next to no text that, with style sheets, only a page for scripts has."""

_MOUNT = re.compile(
    r"<\w+[^<>]{0,200}\bid=[\"']?(?:root|app|__next|__nuxt|app-root|main-outlet|react-root)[\"'\s>]"
    r"|(?:enable|requires?|turn on|needs?) javascript",
    re.I,
)

_WITHOUT_SCRIPTS = re.compile(
    r"\bjava ?script\b.{0,40}\b(?:disabled|required|enabled|not available)\b"
    r"|\b(?:enable|requires?|turn on|needs?|activate)\b.{0,20}\b(?:java ?script|js)\b",
    re.I,
)

_ERRORS = (
    (
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
    ),
    (
        "a wall before the page",
        re.compile(
            r"access denied|forbidden|attention required|just a moment|are you (?:a )?(?:robot|human)"
            r"|verify(?:ing)? (?:that )?you are|security check|captcha|pardon our interruption"
            r"|unusual traffic|request (?:was )?(?:blocked|rejected)"
            r"|checking your browser|bot verification|robot check"
            r"|please (?:enable|turn on) (?:js|javascript|cookies)",
            re.I,
        ),
    ),
)


def error_note(title: str, opening: str, words: int) -> str | None:
    """Says that a short page is an error or a wall, by its title or first words; None if it is neither."""
    if words > MAX_ERROR_WORDS:
        return None
    for name, pattern in _ERRORS:
        for told in (title, opening):
            if pattern.search(told):
                return f"this looks like {name}: `{told[:80]}`"
    return None


def asks_for_scripts(text: str) -> bool:
    """Whether a text only says that the page needs scripts."""
    return len(text) < 300 and _WITHOUT_SCRIPTS.search(text) is not None


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
