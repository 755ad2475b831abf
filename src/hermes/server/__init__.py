"""Hermes for other programs: one ASGI application, with the shapes of OpenAI and Sonar.

app         the application: every file of `endpoints` behind the gate
running     the application on a socket, until it is told to stop; `connections` lets go who holds one idly
endpoint    what a file of `endpoints` holds
endpoints   ONE FILE = ONE PATH, found by name; `described` is what OpenAPI tells of them
services    what a handler may use: the runtime, the tokens, the runs, the figures
asked       a question, whichever shape it came in; `chat` and `responses` are the shapes
runs        questions on their way, apart from who reads; `streams` is how one is read
sources     the pages that a run has seen; `sonar` is how a caller narrows them
pending     turns that wait for the caller to run a tool
security    the gate: host, origin, token, rate, concurrency, body; in this order, before any handler
tokens      who may come in; `hosts` is what this machine calls itself
limits      how often, and how many at once
idempotency the same request twice is done once
faults      errors as answers
page        the page: its files as they are sent, by `page_files`
page_runs   questions of the page, answered whoever watches; `run_log` is what their readers are told
"""

from typing import TYPE_CHECKING

from hermes import discover
from hermes.config import Config
from hermes.errors import NotConfigured

if TYPE_CHECKING:
    from hermes.server.app import Application


def create_app(config: Config, *, token_file: str = "") -> "Application":
    """The application, to be served by any ASGI server or mounted in another application.

    An application that mounts it takes its `lifespan`, so that what is open is closed at the end.
    Callers show a token of `token_file`, which is made when it is not there; without a name it is
    `server-token` in the Hermes home. Raises `NotConfigured` where the extra `server` is not installed.
    """
    if not discover.is_installed("starlette"):
        raise NotConfigured("the server is not installed", hint='run `pip install "hermes[server]"`')
    home = discover.module("hermes.server.app")
    app: Application = home.assemble(home.open_services(config, token_file))
    return app
