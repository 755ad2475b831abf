"""What a plugin asks for: a callback, and on what terms it is called."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

OnError = Literal["open", "closed"]
When = Callable[[Mapping[str, Any]], object] | Mapping[str, Any]


class Breaker(msgspec.Struct, frozen=True, kw_only=True):
    """After how many failures, within how many seconds, a callback is left out, and for how long."""

    failures: int = 5
    window: float = 60.0
    cooldown: float = 30.0


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """On what terms a callback is called."""

    name: str = ""
    """What others call it; the callback's own name if not given."""
    priority: int = 0
    """Its place among the others, lowest outermost; equals stay in the order of their registration."""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    """Names of callbacks or plugins that it must come before or after."""
    when: When | None = None
    """Whether it is called at all: asked of the context, or values that the context must have."""
    on_error: OnError = "open"
    """Whether what it wraps is done without it when it fails, or not at all."""
    timeout: float | None = None
    """Seconds that it may take by itself; None is what the host allows everybody."""
    breaker: Breaker | None = Breaker()
    max_calls: int = 1
    """How often it may call on; more than once is for those that try again."""
    policy: bool = False
    """Whether a hook decides: then its failure is a no."""


class Registration(msgspec.Struct, frozen=True, kw_only=True):
    """One callback of one plugin. `observes` says that it may look, and change nothing."""

    plugin: str
    kind: str
    callback: Callable[..., Any]
    options: Options = Options()
    observes: bool = False
