"""Model calls and middleware as they happen, for who watches a run: events beside those of the run."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from hermes.hooks import HookHost, Registration
from hermes.messages import Usage

_NAME = "the page"
_AROUND_CALLS = ("llm_request", "llm_execution")


class Middleware(msgspec.Struct, frozen=True):
    """A callback of a plugin around a call, and the paths of the request that it changed."""

    plugin: str
    callback: str
    kind: str
    paths: tuple[str, ...] = ()


class ModelStarted(msgspec.Struct, frozen=True, tag="model_started"):
    """An attempt of a model call goes out, after request middleware had its say."""

    id: str
    attempt: int
    provider: str
    model: str
    messages: int
    middleware: tuple[Middleware, ...] = ()


class ModelFinished(msgspec.Struct, frozen=True, tag="model_finished"):
    """The attempt has ended: with an answer, or with an error in words."""

    id: str
    attempt: int
    seconds: float
    usage: Usage | None = None
    cost: float | None = None
    error: str = ""


ModelEvent = ModelStarted | ModelFinished


class ModelCalls:
    """Tells who watches a session of its model calls. The hooks are used only while somebody watches."""

    def __init__(self, hooks: HookHost) -> None:
        self._hooks = hooks
        self._watchers: dict[str, Callable[[ModelEvent], None]] = {}

    def watch(self, session_id: str, tell: Callable[[ModelEvent], None]) -> None:
        if not self._watchers:
            told = {
                "pre_api_request": self._before,
                "post_api_request": self._after,
                "api_request_error": self._failed,
            }
            self._hooks.add(
                [
                    Registration(plugin=_NAME, kind=kind, callback=callback, observes=True)
                    for kind, callback in told.items()
                ]
            )
        self._watchers[session_id] = tell

    def leave(self, session_id: str) -> None:
        if self._watchers.pop(session_id, None) and not self._watchers:
            self._hooks.remove(_NAME)

    async def _before(self, **payload: Any) -> None:
        if tell := self._watchers.get(payload["session_id"]):
            tell(
                ModelStarted(
                    id=payload["api_request_id"],
                    attempt=payload["attempt"],
                    provider=payload["provider"],
                    model=payload["model"],
                    messages=payload["message_count"],
                    middleware=tuple(self._middleware(payload)),
                )
            )

    async def _after(self, **payload: Any) -> None:
        if tell := self._watchers.get(payload["session_id"]):
            usage = payload["usage"]
            tell(
                ModelFinished(
                    id=payload["api_request_id"],
                    attempt=payload["attempt"],
                    seconds=payload["api_duration"],
                    usage=msgspec.convert(usage, Usage) if usage else None,
                    cost=payload["cost"],
                )
            )

    async def _failed(self, **payload: Any) -> None:
        if tell := self._watchers.get(payload["session_id"]):
            tell(
                ModelFinished(
                    id=payload["api_request_id"],
                    attempt=payload["attempt"],
                    seconds=payload["api_duration"],
                    error=payload["error"]["message"],
                )
            )

    def _middleware(self, payload: Mapping[str, Any]) -> Iterable[Middleware]:
        changed = {
            (each["plugin"], each["callback"]): tuple(each["paths"]) for each in payload["middleware_events"]
        }
        for place in self._hooks.explain(payload):
            if place.kind in _AROUND_CALLS and not place.skipped:
                paths = changed.get((place.plugin, place.name), ()) if place.kind == "llm_request" else ()
                yield Middleware(place.plugin, place.name, place.kind, paths)
