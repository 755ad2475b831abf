"""Hermes: a self-hosted answer engine and agent runtime.

The map, from what people touch down to what everything stands on. A room imports only from rooms
below its own line; `import-linter` holds that, and a test compares this page with its contract.

    cli          the command `hermes`: one file per command, found by name
    server       `hermes serve`: one file per path, OpenAI's shapes, behind one gate
    app          the composition root: Config in, Runtime out, once
    plugins      one folder per plugin: found, read, loaded; `ctx`, and a harness for authors
    agent        the loop: ask, act, repeat; vendor-blind, socket-blind
    tools        one file per tool; `web/backends`: one file per web backend
    providers    one file per model provider, each a value; `scout` is the built-in one
    index        the local documents in SQLite FTS5, behind the `local` backend
    store        sessions in SQLite: what must survive; the way any file of ours is opened
    transports   one file per wire protocol, pure
    hooks        the engine of middleware and observers: pure, no I/O, no globals
    net          the only sockets: client, deadlines, retry, event streams
    config       files and environment in, one frozen Config out; secrets never print
    discover     the folder is the registry; the only importer by name
    ranking      how well results and sentences meet a question, by their words alone: pure
    threads      blocking code of others, in threads that nobody has to wait for
    protocols    every seam, in one file
    events       what a shell ever sees of a run
    messages     what is said: frozen values without a wire format
    errors       every exception in one tree

Public names are loaded when first used, so that `import hermes` costs nothing.
"""

# `typing` would be most of what `hermes --version` costs; type checkers know this name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes.app.api import Agent, web_extract, web_search
    from hermes.app.pictures import read_image
    from hermes.tools.web.reader.html import read_html

__all__ = ["Agent", "__version__", "read_html", "read_image", "web_extract", "web_search"]
__version__ = "0.1.0"

_HOMES = {
    "Agent": "hermes.app.api",
    "web_search": "hermes.app.api",
    "web_extract": "hermes.app.api",
    "read_image": "hermes.app.pictures",
    "read_html": "hermes.tools.web.reader.html",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module `hermes` has no attribute `{name}`")
    from hermes.discover import module  # noqa: PLC0415  # paid by who asks for a name, not by `import hermes`

    return getattr(module(home), name)
