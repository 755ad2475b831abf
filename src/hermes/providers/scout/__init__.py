"""Scout, the built-in model: no weights, no key, no network. It searches, reads and quotes.

It plays a chat-completions server in process (`engine`), so it passes through the same transport, hooks
and loop as any vendor's model. A request is read (`conversation`), the next step decided (`steps`, with
`plan` for searches), and an answer made (`answer`) by ranking (`rank`) the sentences (`passages`) of the
pages at hand (`library`) against the question (`question`).
"""

from hermes import discover
from hermes.protocols import Provider, Wire


def _engine() -> Wire:
    """The engine is loaded when scout is to answer, not when providers are listed."""
    wire: Wire = discover.module("hermes.providers.scout.engine").Scout()
    return wire


PROVIDER = Provider(
    name="scout",
    title="Scout (built in)",
    api_mode="chat_completions",
    key_required=False,
    sees=False,
    auth_style="none",
    default_model="scout-1",
    models=("scout-1",),
    engine=_engine,
)
