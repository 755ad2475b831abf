"""What a site's `robots.txt` says of a path, as RFC 9309 reads it. Pure."""

import re
from collections.abc import Iterator

import msgspec

LARGEST = 500 * 1024

_LINE = re.compile(r"[ \t]*([a-zA-Z-]+)[ \t]*:[ \t]*([^#\r\n]*)")


class Rule(msgspec.Struct, frozen=True):
    pattern: str
    allows: bool


class Robots(msgspec.Struct, frozen=True):
    """The rules for one reader of a site; without any, every path is open."""

    rules: tuple[Rule, ...] = ()

    def allows(self, path: str) -> bool:
        """Whether a path with its query may be read: the longest rule decides, and a tie is a yes."""
        found = (rule for rule in self.rules if rule.pattern and _matches(rule.pattern, path))
        best = max(found, key=lambda rule: (len(rule.pattern), rule.allows), default=None)
        return best is None or best.allows


CLOSED = Robots((Rule("/", allows=False),))


def parse(text: str, agent: str) -> Robots:
    """The rules of the groups that name the agent, else of those for everybody."""
    own: list[Rule] = []
    common: list[Rule] = []
    named = False
    for agents, rules in _groups(text):
        if agent.lower() in agents:
            named = True
            own += rules
        elif "*" in agents:
            common += rules
    return Robots(tuple(own if named else common))


def _groups(text: str) -> Iterator[tuple[set[str], list[Rule]]]:
    agents: set[str] = set()
    rules: list[Rule] = []
    for line in text.splitlines():
        found = _LINE.match(line)
        if found is None:
            continue
        field, value = found[1].lower(), found[2].strip()
        if field == "user-agent":
            if rules:
                yield agents, rules
                agents, rules = set(), []
            agents.add(value.split("/")[0].strip().lower())
        elif field in ("allow", "disallow") and agents:
            rules.append(Rule(value, field == "allow"))
    yield agents, rules


def _matches(pattern: str, path: str) -> bool:
    """`*` stands for anything and `$` at the end for the end; in linear time, whatever the pattern."""
    is_whole = pattern.endswith("$")
    first, *others = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    if not others:
        return not is_whole or path == first
    at = len(first)
    for part in others[:-1]:
        at = path.find(part, at)
        if at < 0:
            return False
        at += len(part)
    last = others[-1]
    return path.endswith(last) and len(path) - len(last) >= at if is_whole else path.find(last, at) >= 0
