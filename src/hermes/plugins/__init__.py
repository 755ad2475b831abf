"""One folder is one plugin: a manifest `plugin.yaml`, and a module with a function `register(ctx)`.

manifest      what a plugin says of itself
discovery     which plugins there are, from four places
contents      the files of a plugin as one hash
capabilities  what a plugin may do
consent       which plugin a name means, and what enabling one writes down
loading       enabled plugins, run: `load_plugins`
enclosure     what is around a stranger's code while it is loaded
context       `ctx`: what a plugin registers itself with
tooling       a plugin's tool as one of ours
llm           `ctx.llm`
lending       what a running agent lends to plugins
typed         the same contract with types: `plugin`, `LLMRequest`, `ToolCall`, …
scaffold      a new plugin with a passing test
testing       a harness for who writes one

Those that come with Hermes are folders beside these: `otel`, `budget`, `redact`, `replay_log`.
"""

from hermes.hooks import Block, Breaker
from hermes.plugins.typed import CallContext, Decision, LLMRequest, Next, Plugin, ToolCall, plugin

__all__ = [
    "Block",
    "Breaker",
    "CallContext",
    "Decision",
    "LLMRequest",
    "Next",
    "Plugin",
    "ToolCall",
    "plugin",
]
