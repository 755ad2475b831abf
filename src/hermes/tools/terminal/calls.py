"""The programs a command would start: through `sudo` and its like, and inside text given to a shell."""

import os
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from hermes.tools.terminal.words import UNKNOWN, Redirect, Simple, TooTangled, read

DEEPEST = 4
MOST_WRAPPERS = 16

SHELLS = frozenset(["sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "busybox-sh"])
SPEAKERS = frozenset(("echo", "printf"))

_STARTERS: Mapping[str, tuple[str, int]] = {
    "sudo": ("ugpCTDRUrth", 0),
    "doas": ("uC", 0),
    "env": ("uC", 0),
    "nice": ("n", 0),
    "ionice": ("cnp", 0),
    "nohup": ("", 0),
    "setsid": ("", 0),
    "stdbuf": ("ioe", 0),
    "timeout": ("sk", 1),
    "xargs": ("nIPLdEsa", 0),
    "parallel": ("j", 0),
    "command": ("", 0),
    "builtin": ("", 0),
    "exec": ("a", 0),
    "busybox": ("", 0),
    "chroot": ("", 1),
    "flock": ("wE", 1),
    "ssh": ("pilFoJLRDbceEmOQSWw", 1),
    "strace": ("oepsuE", 0),
    "taskset": ("", 1),
    "chronic": ("", 0),
    "unshare": ("", 0),
    "nsenter": ("t", 0),
    "caffeinate": ("tw", 0),
    "watch": ("n", 0),
}
"""What starts another program: its options that take a value, and how many words come before it."""


class Call(msgspec.Struct, frozen=True):
    """One program with its arguments. `name` is folded and without its folder."""

    name: str
    arguments: tuple[str, ...]
    redirects: tuple[Redirect, ...] = ()
    documents: tuple[str, ...] = ()
    feeder: Simple | None = None
    through: tuple[str, ...] = ()
    """What it is started by: `sudo`, `xargs`, `find`."""
    is_recursive: bool = False

    @property
    def operands(self) -> tuple[str, ...]:
        """The arguments that are no options."""
        end = self.arguments.index("--") if "--" in self.arguments else len(self.arguments)
        before = (word for word in self.arguments[:end] if not word.startswith("-") or word == "-")
        return (*before, *self.arguments[end + 1 :])

    @property
    def reads_commands(self) -> bool:
        """Whether a shell takes what it runs from its input."""
        return not set(self.operands) - {"-"} or self.has("s")

    def has(self, letters: str = "", *words: str) -> bool:
        """Whether one of the one-letter options or of the long ones is given."""
        for argument in self.arguments:
            if argument == "--":
                return False
            if argument in words or (argument.startswith("--") and argument.partition("=")[0] in words):
                return True
            is_cluster = argument.startswith("-") and not argument.startswith("--")
            if is_cluster and any(letter in argument[1:] for letter in letters):
                return True
        return False


def calls(text: str, home: str, depth: int = 0) -> Iterator[Call]:
    """Every program a command would start, in order. Raises `TooTangled`."""
    if depth > DEEPEST:
        raise TooTangled
    for simple in read(text, home):
        for call in _started(simple):
            yield call
            for inner in _texts(call):
                yield from calls(inner, home, depth + 1)


def _started(simple: Simple) -> Iterator[Call]:
    words: Sequence[str] = simple.words or ("",)
    through: tuple[str, ...] = ()
    while words:
        call = _call(simple, words, through)
        yield call
        if call.name == "find":
            yield from _started_by_find(simple, call)
        if call.name not in _STARTERS:
            return
        through = (*through, call.name)
        if len(through) > MOST_WRAPPERS:
            raise TooTangled
        words = behind(call)


def _call(simple: Simple, words: Sequence[str], through: tuple[str, ...]) -> Call:
    return Call(
        name=os.path.basename(words[0]).casefold() or words[0].casefold(),
        arguments=tuple(words[1:]),
        redirects=tuple(simple.redirects),
        documents=tuple(simple.documents),
        feeder=simple.fed_by,
        through=through,
        is_recursive=simple.is_recursive,
    )


def behind(call: Call) -> Sequence[str]:
    """The words of the program that another one starts: past options, their values and assignments."""
    if call.name == "command" and call.has("vV"):
        return ()
    valued, before = _STARTERS[call.name]
    words = iter(enumerate(call.arguments))
    for at, word in words:
        if word == "--":
            continue
        if word.startswith("-") and len(word) > 1:
            if not word.startswith("--") and word[-1] in valued:
                next(words, None)
        elif "=" in word and call.name in ("env", "sudo", "doas"):
            continue
        elif before:
            before -= 1
        else:
            return call.arguments[at:]
    return ()


def _started_by_find(simple: Simple, call: Call) -> Iterator[Call]:
    start: int | None = None
    for at, word in enumerate((*call.arguments, ";")):
        if word in ("-exec", "-execdir", "-ok", "-okdir"):
            start = at + 1
        elif word in (";", "+") and start is not None:
            words = call.arguments[start:at]
            start = None
            if words:
                yield _call(simple, words, (*call.through, "find"))


def _texts(call: Call) -> Iterator[str]:
    """What a call hands to a shell to be run."""
    arguments = call.arguments
    if call.name in SHELLS or call.name == "su":
        flag = next((at for at, word in enumerate(arguments) if _is_command_flag(word)), None)
        if flag is not None:
            yield from arguments[flag + 1 : flag + 2]
        elif call.reads_commands:
            yield from call.documents
            if call.feeder:
                yield from call.feeder.documents
                yield spoken(call.feeder)
    elif call.name in ("eval", "watch"):
        yield " ".join(call.arguments)
    elif call.name == "ssh":
        yield " ".join(call.operands[1:])
    elif call.name == "trap":
        yield from call.operands[:1]
    elif call.name == "env" and "-S" in arguments:
        yield " ".join(arguments[arguments.index("-S") + 1 :])
    elif call.name == "script" and "-c" in arguments:
        yield from arguments[arguments.index("-c") + 1 :][:1]


def spoken(feeder: Simple) -> str:
    """What a command is known to write into a pipe; empty when that is not known."""
    speaks = bool(feeder.words) and feeder.words[0] in SPEAKERS
    return " ".join(feeder.words[1:]) if speaks else ""


def _is_command_flag(word: str) -> bool:
    return word == "--command" or (word.startswith("-") and not word.startswith("--") and "c" in word)


def is_unknown(name: str) -> bool:
    """Whether a program's name is only known when the command runs."""
    return UNKNOWN in name or any(mark in name for mark in "*?")
