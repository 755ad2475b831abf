"""Sites by name, as people list them: which hosts a rule means. Pure."""


def matches(host: str, rule: str) -> bool:
    """Whether a rule means a host: `x.org` the host and all below it, `*.x.org` only those below.

    A scheme, a path, a port and a leading `www.` in the rule do not matter.
    """
    name = rule.strip().lower().rpartition("://")[2].partition("/")[0].partition(":")[0].removesuffix(".")
    only_below = name.startswith("*.")
    site = name.removeprefix("*.").removeprefix("www.")
    host = host.lower().removesuffix(".")
    return bool(site) and (host.endswith(f".{site}") or (host == site and not only_below))
