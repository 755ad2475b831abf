"""The web: who searches, who reads pages, and what is wrong with backends; and X."""

from hermes.cli._checks import Finding, Group, Scene, ok, warning
from hermes.errors import ConfigError, NotConfigured, UsageError
from hermes.tools.web.options import describe
from hermes.tools.web.select import CAPABILITIES, Capability
from hermes.tools.x_search.account import PROVIDER


async def _web(scene: Scene) -> Finding:
    """Whether there is anybody to search and to read, and what those who do are set to."""
    services = scene.runtime.services
    told: dict[str, None] = {}
    for capability in CAPABILITIES:
        try:
            for backend in services.web_parts.choice(capability).backends:
                told[describe(backend, services)] = None
        except (ConfigError, UsageError):
            return warning("not all of it is configured, as the next lines say", "run `hermes tools setup`")
    return ok("\n  ".join(("configured", *filter(None, told))))


async def _searches(scene: Scene) -> Finding:
    return _served(scene, "search")


async def _reads(scene: Scene) -> Finding:
    return _served(scene, "extract")


def _served(scene: Scene, capability: Capability) -> Finding:
    """Who serves; one that stands in and cannot is a warning."""
    services = scene.runtime.services
    chosen = services.web_parts.choice(capability)
    told = f"{chosen.name} ({chosen.reason})"
    for backend in chosen.backends:
        try:
            describe(backend, services)
        except NotConfigured as error:
            if chosen.how == "one":
                raise
            return warning(f"{told}; `{backend.name}` is passed over: {error}", error.hint)
    if chosen.warning:
        return warning(f"{told}; {chosen.warning}", "run `hermes tools setup`")
    return ok(told)


async def _backends(scene: Scene) -> Finding:
    """The backends there are, and what is wrong with files and settings for them."""
    services = scene.runtime.services
    backends = services.web_parts.backends
    problems = [str(problem) for problem in backends.problems]
    shared = {option.setting.partition(".")[0] for backend in backends.all() for option in backend.options}
    for path in scene.runtime.config.options:
        section, _, name = path.partition(".")
        if section == "web" and name not in backends.names() and name not in shared:
            problems.append(f"`{path}` holds options of a web backend that is not there")
    if problems:
        return warning("; ".join(problems), "see `hermes config show`")
    ready = ", ".join(backend.name for backend in backends.available(services))
    return ok(f"can be used: {ready}; known: {', '.join(backends.names())}")


async def _x_search(scene: Scene) -> Finding:
    """Whether X can be searched, and by which credential."""
    runtime = scene.runtime
    try:
        account = runtime.services.x_account()
    except ConfigError as error:
        is_tried = runtime.chooser.resolver().may_have_key(PROVIDER)
        is_meant = is_tried or runtime.config.x_search.credential_source != "auto"
        return Finding("warning" if is_meant else "ok", f"not offered: {error}", error.hint)
    where = f"{account.terms.model} at {account.endpoint.base_url}"
    return ok(f"{where}, with the API key in `{account.key_name}`")


GROUP = Group(
    title="web",
    place=5,
    checks={
        "Web Search & Extract": _web,
        "search": _searches,
        "extract": _reads,
        "web backends": _backends,
        "x_search": _x_search,
    },
)
