"""What the terminal can do."""

from collections.abc import Mapping

_LINKING_PROGRAMS = ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio", "WarpTerminal")
_LINKING_TERMINALS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour")
_LINKING_VARIABLES = ("KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "DOMTERM")
_OLDEST_LINKING_VTE = 5000


def is_able(environment: Mapping[str, str]) -> bool:
    """Whether the terminal that these variables describe is more than a printer."""
    return environment.get("TERM", "") not in ("", "dumb", "unknown")


def has_attributes(environment: Mapping[str, str]) -> bool:
    """Whether text may be dim, bold or in colour."""
    return is_able(environment) and not environment.get("NO_COLOR")


def takes_links(environment: Mapping[str, str]) -> bool:
    """Whether it is one of those known to take links behind words (OSC 8).

    A terminal inside of another may lose them.
    """
    name = environment.get("TERM", "")
    if not has_attributes(environment) or name.startswith(("screen", "tmux")) or environment.get("TMUX"):
        return False
    version = environment.get("VTE_VERSION", "")
    return (
        environment.get("TERM_PROGRAM") in _LINKING_PROGRAMS
        or name.startswith(_LINKING_TERMINALS)
        or any(environment.get(variable) for variable in _LINKING_VARIABLES)
        or (version.isdecimal() and int(version) >= _OLDEST_LINKING_VTE)
    )
