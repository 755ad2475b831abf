"""The application on a socket, until somebody asks the process to stop."""

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import uvicorn
from starlette.types import ASGIApp

from hermes.errors import UsageError
from hermes.server.connections import for_one_server
from hermes.server.runs import Runs

_LONGER = 5
"""Seconds beyond the drain that connections have to end."""
_BACKLOG = 2048
Listening = socket.socket
_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Server(uvicorn.Server):
    """Stops on SIGTERM and Ctrl-C: takes no more requests, and lets those that run come to their end."""

    def __init__(
        self, config: uvicorn.Config, runs: Runs, drain: float, when_started: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._when_started = when_started
        self._runs = runs
        self._drain = drain
        self._draining: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._when_started()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Not as uvicorn does it: a server that was asked to stop and did has not been killed."""
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError):  # on Windows, where Ctrl-C ends it at once
            for number in _SIGNALS:
                loop.add_signal_handler(number, self.stop)
        try:
            yield
        finally:
            with suppress(NotImplementedError):
                for number in _SIGNALS:
                    loop.remove_signal_handler(number)

    def stop(self) -> None:
        """Come to an end; said a second time, at once."""
        if self.should_exit:
            self._drain = 0
        self.should_exit = True
        self._draining = asyncio.ensure_future(self._runs.drain(self._drain))


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 is any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only of a socket that says it is TCP does asyncio know that pieces are to be sent at once.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise UsageError(
            f"cannot listen at `{host}`, port {port}: {error.strerror or error}",
            hint="choose another with `--host` and `--port`",
        ) from error
    return listening


def address(listening: socket.socket) -> str:
    """Where a socket is reached, as a browser writes it."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def server(
    app: ASGIApp, runs: Runs, *, drain: float, when_started: Callable[[], None] = lambda: None
) -> Server:
    """A server for the application; `serve` runs it on sockets."""
    config = uvicorn.Config(
        app,
        http=for_one_server(),
        ws="none",
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=int(drain) + _LONGER,
    )
    return Server(config, runs, drain, when_started)
