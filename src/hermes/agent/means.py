"""What a turn works with: the models, the tools, and the limits it keeps to."""

from collections.abc import Callable

import msgspec

from hermes.agent.approvals import Approvals
from hermes.agent.auxiliary import Auxiliary
from hermes.agent.budget import Limits
from hermes.agent.chain import Models
from hermes.agent.guardrail import USUAL, Thresholds
from hermes.agent.untrusted import Guard
from hermes.hooks import HookHost
from hermes.messages import Usage
from hermes.protocols import Effort, Expectation, Toolbox, ToolChoice, ToolSpec

Price = Callable[[str, str, Usage], float | None]
"""What a call costs in US dollars, from provider, model and usage; None when that is unknown."""

Window = Callable[[str, str], int | None]
"""The context window of a model, from provider and model; None when that is unknown."""


class Means(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn works with, and within which limits."""

    models: Models
    auxiliary: Auxiliary
    tools: Toolbox
    guard: Guard
    approvals: Approvals
    limits: Limits = Limits()
    expectation: Expectation | None = None
    price: Price | None = None
    window: Window | None = None
    """Asked where an endpoint does not tell its window, and only of a long conversation."""
    effort: Effort | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    """The most that one call may give, where whoever asks has set it: a longer answer is cut there."""
    theirs: tuple[ToolSpec, ...] = ()
    """Tools that whoever asks runs themselves: a call of one ends the turn."""
    first_choice: ToolChoice = "auto"
    """Whether the first call has to use a tool."""
    thresholds: Thresholds = USUAL
    """When a model that goes in circles is warned or stopped."""
    hooks: HookHost = msgspec.field(default_factory=HookHost)
    """What plugins have around every call."""
    platform: str = "python"
    """Where the questions come from, as plugins are told."""
    spill: Callable[[str], str] = lambda _text: "no file"
    """Keeps a text that is too long for the model, and says where it is."""
    verify_nudges: int = 3
    """How often a plugin may ask for more before a turn that changed files ends."""
