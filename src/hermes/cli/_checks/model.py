"""The model: who answers, who stands in, what was learned, and whether its server is there."""

from hermes.agent.lessons import Lessons
from hermes.cli._checks import Finding, Found, Group, Scene, failed, ok, warning
from hermes.errors import ConfigError, HttpStatus, InvalidResponse, UsageError

REACHED_WITHIN = 3.0


async def _model(scene: Scene) -> Finding:
    choice = scene.runtime.choose_model()
    endpoint = choice.endpoint
    where = f" at {endpoint.base_url}" if endpoint.base_url else ""
    detail = f"{endpoint.provider.name}/{endpoint.model}{where} ({choice.reason})"
    return ok(detail, None if endpoint.base_url else "for a model that writes, run `hermes setup`")


async def _fallback(scene: Scene) -> Finding:
    """Who stands in for the model, and who of them would be passed over."""
    found: list[str] = []
    for name in scene.runtime.config.model.fallback:
        try:
            endpoint = scene.runtime.chooser.choose_stand_in(name).endpoint
        except (ConfigError, UsageError) as error:
            return warning(f"`{name}` is passed over: {error}", error.hint)
        found.append(f"{endpoint.provider.name}/{endpoint.model}")
    return ok(", then ".join(found) or "none: `model.fallback` names who stands in")


async def _provider_files(scene: Scene) -> Finding:
    registry = scene.runtime.chooser.registry
    if registry.problems:
        hints = dict.fromkeys(problem.hint for problem in registry.problems if problem.hint)
        return warning("; ".join(map(str, registry.problems)), "; ".join(hints))
    return ok(f"{len(registry.names())} providers are known")


async def _lessons(scene: Scene) -> Found:
    """What models were found not to take, so that it is left out of what they are sent."""
    learned = "; ".join(map(str, Lessons(scene.runtime.notebook).all()))
    return ok(learned or "none: no model refused a part of a request in the last week")


async def _server(scene: Scene) -> Finding:
    endpoint = scene.runtime.choose_model().endpoint
    if not endpoint.base_url:
        return ok("none needed: the model runs in this process")
    catalog = scene.runtime.chooser.catalog
    listing = await catalog.models(endpoint, fresh=True, seconds=REACHED_WITHIN)
    match listing.problem:
        case None if listing.source == "static":
            return ok("not asked: it has no list of models")
        case None:
            return ok("answers, and lists its models")
        case HttpStatus(status=status) if status in (401, 403):
            key = " or ".join(f"`{name}`" for name in endpoint.provider.key_env)
            return failed(f"the server refuses the key (status {status})", f"check {key}")
        case HttpStatus(status=status):
            return ok(f"answers (status {status} for its list of models)")
        case InvalidResponse():
            return ok("answers (its list of models cannot be read)")
        case error:
            raise error


GROUP = Group(
    title="model",
    place=3,
    checks={
        "model": _model,
        "fallback": _fallback,
        "provider files": _provider_files,
        "lessons": _lessons,
    },
    online={"model server": _server},
)
