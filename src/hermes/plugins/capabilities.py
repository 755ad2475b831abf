"""What a plugin may do: the capabilities there are, and what each registration takes."""

from collections.abc import Collection

OBSERVE = "observe"
OVERRIDE_TOOLS = "tool.override"
CALL_MODELS = "llm.call"
INJECT_MESSAGES = "message.inject"

CAPABILITIES = {
    OBSERVE: "watch what happens",
    "llm.rewrite": "change requests to a model",
    "llm.wrap": "stand between Hermes and a model",
    "llm.block": "stop requests to a model",
    "tool.rewrite": "change the arguments of tools",
    "tool.wrap": "stand between Hermes and its tools",
    "tool.block": "stop tool calls",
    OVERRIDE_TOOLS: "replace built-in tools",
    "context.inject": "add text to questions",
    "output.transform": "change results and answers",
    INJECT_MESSAGES: "speak in the user's place",
    CALL_MODELS: "ask models in your name",
}
"""Every capability, with what a person is told that it means."""

SPELLINGS = {"tools.override": OVERRIDE_TOOLS, "llm.model_override": CALL_MODELS}
"""Other names that manifests have for them."""

_NEEDED = {
    "llm_request": {"llm.rewrite", "llm.block"},
    "llm_execution": {"llm.wrap", "llm.block"},
    "tool_request": {"tool.rewrite", "tool.block"},
    "tool_execution": {"tool.wrap", "tool.block"},
    "stream": {"output.transform"},
    "pre_tool_call": {"tool.block"},
    "pre_llm_call": {"context.inject"},
    "pre_verify": {"context.inject"},
    "transform_tool_result": {"output.transform"},
    "transform_terminal_output": {"output.transform"},
    "transform_llm_output": {"output.transform"},
}


def held(
    declared: Collection[str] | None, granted: Collection[str] | None, *, trusted: bool
) -> frozenset[str]:
    """What a plugin may do: what it asked for and was given.

    One that declares nothing may do all but replace tools, as ever. One that is trusted, because it came
    with Hermes, has what it declares. Every plugin that is enabled may watch.
    """
    if declared is None:
        return frozenset(CAPABILITIES) - {OVERRIDE_TOOLS}
    given = declared if trusted else granted or ()
    return frozenset(declared) & frozenset(given) | {OBSERVE}


def only_observes(kind: str, capabilities: Collection[str]) -> bool:
    """Whether a callback of this kind may look and change nothing, having these capabilities."""
    needed = _NEEDED.get(kind)
    return needed is not None and not needed & set(capabilities)
