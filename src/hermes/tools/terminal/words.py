"""A shell command read as the shell would: simple commands with their words, quotes and escapes gone.

What runs inside another command (`$(…)`, backticks, `<(…)`) is listed as a command of its own. Text
that is only data stays one word, so that it is never taken for a command. One pass, no recursion
deeper than `DEEPEST`.
"""

import re

import msgspec

UNKNOWN = "\ufffc"
"""Stands in a word for what is only known when the command runs."""

DEEPEST = 24
MOST_COMMANDS = 5_000
LONGEST_VALUE = 128
MOST_GROWN = 1_000_000

_SPLIT = "\x1f"
_BLANK = re.compile(r"(?:[ \t\r]|\\\n)+")
_PLAIN = re.compile(r"[^\s;&|()<>'\"\\$`\x1f]+")
_IN_DOUBLE = re.compile(r"[^\"\\$`]+")
_REDIRECT = re.compile(r"\d*(?:<<<|<<-?|<>|<&|>&|>>|>\||&>>|&>|<|>)(?!\()|&>>?")
_ARITHMETIC = re.compile(r"\$\(\((?:[^()`$]|\$(?!\()|\((?:[^()`$]|\$(?!\())*\))*\)\)")
_ANSI = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ANSI_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|(.))", re.DOTALL)
_ANSI_LETTER = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?:(:?[-=])([^{}$`]*))?\}|([A-Za-z_]\w*))")
_BRACED = re.compile(r"\$\{[^{}]*\}")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
_DEFINES = re.compile(r"\([ \t]*\)")
_LISTED = re.compile(r"\{[^{}\s]*,[^{}\s]*\}")
_KEYWORDS_WORDS = """
if then else elif fi do done while until { } ! time coproc esac
"""
_KEYWORDS = frozenset(_KEYWORDS_WORDS.split())
_SPECIAL = tuple("?$!@*#-0123456789{")
_DECLARES = frozenset(("export", "declare", "local", "readonly", "typeset"))


class TooTangled(Exception):
    """The command is nested so deeply, or so long a list, that nobody can say what it does."""


class Redirect(msgspec.Struct, frozen=True):
    operator: str
    target: str


class Simple(msgspec.Struct):
    """One command: its words, where its input comes from and where its output goes."""

    words: list[str] = []
    redirects: list[Redirect] = []
    documents: list[str] = []
    """The texts given to it in place (`<<EOF`)."""
    fed_by: "Simple | None" = None
    """The command before it in a pipe."""
    is_recursive: bool = False
    """Whether it is a function of this very text that pipes into itself."""


def read(text: str, home: str = "~") -> list[Simple]:
    """The simple commands of a text, in order. Raises `TooTangled`."""
    reader = _Reader(text, {"HOME": home}, 0)
    reader.list_commands("")
    reader.take_documents()
    for simple in reader.found:
        feeder = simple.fed_by
        simple.is_recursive = bool(
            feeder
            and simple.words
            and feeder.words[:1] == simple.words[:1]
            and simple.words[0] in reader.defined
        )
    return reader.found


class _Document(msgspec.Struct):
    """A text that begins on the next line and ends at its mark."""

    mark: str
    is_literal: bool
    is_indented: bool
    into: list[str]


class _Reader:
    """Walks a text once; `found` are the commands so far, `values` the variables set on the way."""

    def __init__(self, text: str, values: dict[str, str], depth: int) -> None:
        if depth > DEEPEST:
            raise TooTangled
        self.text = text
        self.at = 0
        self.depth = depth
        self.values = values
        self.found: list[Simple] = []
        self.defined: set[str] = set()
        self.waiting: list[_Document] = []
        self.grown = 0

    def list_commands(self, closer: str) -> list[Simple]:
        """Read commands up to `closer` or the end; returns those of this list alone."""
        mine: list[Simple] = []
        current, open_parentheses = Simple(), 0
        while character := self._skip_blank():
            if character == closer and not open_parentheses:
                self.at += 1
                break
            if character in ";&|()\n" and not self._starts_redirect():
                open_parentheses += {"(": 1, ")": -1 if open_parentheses else 0}.get(character, 0)
                current = self._operator(character, current, mine)
            elif character == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                self._piece(current)
        self._end(current, mine)
        return mine

    def _operator(self, character: str, current: Simple, mine: list[Simple]) -> Simple:
        """Pass what ends a command; returns the next one, which may be fed by the one before."""
        if character == "(" and len(current.words) == 1 and _DEFINES.match(self.text, self.at):
            self.defined.add(current.words[0])
        is_pipe = character == "|" and not self.text.startswith("||", self.at)
        is_begun = bool(current.words or current.redirects)
        self._end(current, mine)
        self.at += 2 if self.text[self.at : self.at + 2] in ("&&", "||", "|&", ";;") else 1
        if character == "\n":
            self.take_documents()
        if not is_begun and character in "(\n":
            return current
        return Simple(fed_by=current if is_pipe and is_begun else None)

    def _end(self, current: Simple, mine: list[Simple]) -> None:
        if current.words or current.redirects:
            mine.append(current)
            self.found.append(current)
            if len(self.found) > MOST_COMMANDS:
                raise TooTangled

    def _skip_blank(self) -> str:
        blank = _BLANK.match(self.text, self.at)
        self.at = blank.end() if blank else self.at
        return self.text[self.at : self.at + 1]

    def _starts_redirect(self) -> bool:
        return _REDIRECT.match(self.text, self.at) is not None

    def _piece(self, current: Simple) -> None:
        """One redirection or one word (which may be several, when an expansion splits it)."""
        redirect = _REDIRECT.match(self.text, self.at)
        if redirect:
            self.at = redirect.end()
            self._redirect(current, redirect[0].lstrip("0123456789"))
            return
        for word in _split(self._word()):
            self._add(current, word)

    def _add(self, current: Simple, word: str) -> None:
        assignment = _ASSIGNMENT.fullmatch(word)
        declares = bool(current.words) and current.words[0] in _DECLARES
        if assignment and (not current.words or declares):
            if UNKNOWN not in word and len(assignment[2]) <= LONGEST_VALUE:
                self.values[assignment[1]] = assignment[2]
            return
        if current.words == ["function"]:
            self.defined.add(word)
            current.words.clear()
        elif current.words or word not in _KEYWORDS:
            current.words.append(word)

    def _redirect(self, current: Simple, operator: str) -> None:
        self._skip_blank()
        start = self.at
        target = self._word().replace(_SPLIT, " ")
        if operator in ("<<", "<<-"):
            is_literal = bool(set(self.text[start : self.at]) & set("'\"\\"))
            self.waiting.append(_Document(target, is_literal, operator == "<<-", current.documents))
        elif operator == "<<<":
            current.documents.append(target)
        else:
            current.redirects.append(Redirect(operator, target))

    def take_documents(self) -> None:
        for document in self.waiting:
            lines: list[str] = []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                line = self.text[self.at : end if end >= 0 else len(self.text)]
                self.at = end + 1 if end >= 0 else len(self.text)
                if (line.lstrip("\t") if document.is_indented else line) == document.mark:
                    break
                lines.append(line)
            body = "\n".join(lines)
            document.into.append(body)
            if not document.is_literal:
                inner = _Reader(body, self.values, self.depth + 1)
                inner.quoted(ends="")
                self.found += inner.found
        self.waiting.clear()

    def _word(self) -> str:
        parts: list[str] = []
        while self.at < len(self.text):
            plain = _PLAIN.match(self.text, self.at)
            if plain:
                parts.append(plain[0])
                self.at = plain.end()
                continue
            character = self.text[self.at]
            if character in "<>" and self.text[self.at + 1 : self.at + 2] == "(":
                self.at += 2
                self._nested()
                parts.append(UNKNOWN)
            elif character in " \t\r\n;&|()<>":
                break
            else:
                parts.append(self._special(character))
        return "".join(parts)

    def _special(self, character: str) -> str:
        match character:
            case "'":
                end = self.text.find("'", self.at + 1)
                end = len(self.text) if end < 0 else end
                quoted = self.text[self.at + 1 : end]
                self.at = end + 1
                return quoted
            case '"':
                self.at += 1
                return self.quoted(ends='"')
            case "\\":
                escaped = self.text[self.at + 1 : self.at + 2]
                self.at += 2
                return "" if escaped == "\n" else escaped
            case "$" | "`":
                return re.sub(r"\s", _SPLIT, self._expansion(character))
            case _:
                self.at += 1
                return _SPLIT

    def quoted(self, ends: str) -> str:
        """What stands in double quotes, up to `ends`: expansions are made, all else is text."""
        parts: list[str] = []
        while self.at < len(self.text):
            plain = _IN_DOUBLE.match(self.text, self.at)
            if plain:
                parts.append(plain[0])
                self.at = plain.end()
                continue
            character = self.text[self.at]
            if character == ends:
                self.at += 1
                break
            if character in "$`":
                parts.append(self._expansion(character))
            elif character == "\\":
                escaped = self.text[self.at + 1 : self.at + 2]
                parts.append(escaped if escaped in '"\\$`' else f"\\{escaped}" if escaped != "\n" else "")
                self.at += 2
            else:
                parts.append(character)
                self.at += 1
        return "".join(parts)

    def _expansion(self, character: str) -> str:
        text, at = self.text, self.at
        if character == "`":
            end = text.find("`", at + 1)
            end = len(text) if end < 0 else end
            self.at = end + 1
            inner = _Reader(text[at + 1 : end], self.values, self.depth + 1)
            mine = inner.list_commands("")
            self.found += inner.found
            return _said(mine)
        arithmetic = _ARITHMETIC.match(text, at)
        if arithmetic:
            self.at = arithmetic.end()
            return UNKNOWN
        if text.startswith("$(", at):
            self.at += 2
            return _said(self._nested())
        ansi = _ANSI.match(text, at)
        if ansi:
            self.at = ansi.end()
            return _ANSI_ESCAPE.sub(_unescaped, ansi[1])
        return self._variable()

    def _variable(self) -> str:
        variable = _VARIABLE.match(self.text, self.at)
        if variable is None:
            return self._odd_variable()
        self.at = variable.end()
        name = variable[1] or variable[4]
        if name == "IFS":
            return " "
        value = self.values.get(name, variable[3] if variable[2] else UNKNOWN)
        self.grown += len(value)
        if self.grown > MOST_GROWN:
            raise TooTangled
        return value

    def _odd_variable(self) -> str:
        """`$?` and its kin, `${…}` with more in it than a name, or a dollar that is only that."""
        braced = _BRACED.match(self.text, self.at)
        if braced:
            self.at = braced.end()
            inner = _Reader(braced[0][2:-1], self.values, self.depth + 1)
            inner.quoted(ends="")
            self.found += inner.found
            return UNKNOWN
        is_special = self.text[self.at + 1 : self.at + 2] in _SPECIAL
        self.at += 2 if is_special else 1
        return UNKNOWN if is_special else "$"

    def _nested(self) -> list[Simple]:
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooTangled
        mine = self.list_commands(")")
        self.depth -= 1
        return mine


def _split(word: str) -> list[str]:
    if _LISTED.fullmatch(word):
        return word[1:-1].split(",")
    return [part for part in word.split(_SPLIT) if part] if _SPLIT in word else [word]


def _said(commands: list[Simple]) -> str:
    """What a substitution gives when that can be told: the words of a lone `echo`."""
    if len(commands) != 1 or commands[0].words[:1] not in (["echo"], ["printf"]):
        return UNKNOWN
    words = [word for word in commands[0].words[1:] if word not in ("-n", "-e", "%s", "%s\\n", "--")]
    said = " ".join(words)
    return said if len(said) <= LONGEST_VALUE else UNKNOWN


def _unescaped(found: re.Match[str]) -> str:
    if found[1] or found[2]:
        return chr(int(found[1] or found[2], 16))
    if found[3]:
        return chr(int(found[3], 8) & 0xFF)
    return _ANSI_LETTER.get(found[4], found[4])
