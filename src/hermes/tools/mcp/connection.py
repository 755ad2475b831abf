"""A live session with a server, through the SDK. One task of its own holds it from beginning to end."""

import asyncio
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from typing import IO, Any

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CONNECTION_CLOSED, Implementation
from pydantic import ValidationError

from hermes.errors import ToolError
from hermes.protocols import ToolResult
from hermes.protocols import progress as said_to
from hermes.tools.mcp import stdio
from hermes.tools.mcp.listing import Listing
from hermes.tools.mcp.reading import plain, read
from hermes.tools.mcp.results import as_result
from hermes.tools.mcp.spec import Spec

LONGEST_REASON = 300
LARGEST_LOG = 1 << 20
MOST_PAGES = 50
LARGEST_EVENT = 16 << 20
_REFUSED = 400
"""From this status on, an answer is none."""

_FAULTS = (OSError, ValueError, RuntimeError, MCPError, httpx2.HTTPError, anyio.ClosedResourceError,
           anyio.BrokenResourceError, anyio.EndOfStream, ExceptionGroup)  # fmt: skip
"""What the SDK and what it stands on raise for a server that is not as it should be."""

# What the SDK has to say is told as an error, and never printed beside it.
logging.getLogger("mcp").addHandler(logging.NullHandler())


class Connection:
    """A session that is open until `close`. `is_lost` says that the server is gone."""

    def __init__(
        self, spec: Spec, environment: Mapping[str, str], headers: Mapping[str, str], log: str
    ) -> None:
        self._spec = spec
        self._environment = environment
        self._headers = headers
        self._log = log
        self._status = 0
        self._leave = asyncio.Event()
        self._ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self.is_lost = False
        self._holder = asyncio.create_task(self._hold())

    async def open(self) -> Listing:
        """Wait until the server answers; gives what it offers. Raises `ToolError`."""
        try:
            async with asyncio.timeout(self._spec.timeout):
                client = await asyncio.shield(self._ready)
                return await self._list(client)
        except TimeoutError:
            await self.close()
            raise self._failure(f"it gave no answer within {self._spec.timeout} seconds") from None
        except _FAULTS as error:
            await self.close()
            raise self._failure(_words(error)) from error
        except BaseException:
            await self.close()
            raise

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """The result of a call, also when the tool says that it failed; raises `ToolError` otherwise."""
        client = self._ready.result()
        say = said_to.get()

        async def tell(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001
            if message:
                say(plain(message, LONGEST_REASON))

        try:
            async with asyncio.timeout(self._spec.timeout):
                result = await client.call_tool(tool, dict(arguments), progress_callback=tell)
        except TimeoutError:
            raise ToolError(
                f"`{tool}` of the MCP server `{self._spec.name}` gave no answer within {self._spec.timeout}"
                f" seconds; `mcp.servers.{self._spec.name}.timeout` allows it more"
            ) from None
        except MCPError as error:
            self.is_lost = self.is_lost or error.code == CONNECTION_CLOSED or self._status >= _REFUSED
            raise self._failure(_words(error)) from error
        except _FAULTS as error:
            self.is_lost = True
            raise self._failure(_words(error)) from error
        return as_result(self._spec.name, result)

    async def close(self) -> None:
        """End the session, and the program behind it."""
        self.is_lost = True
        self._leave.set()
        if not self._ready.done():
            self._holder.cancel()
        await asyncio.wait([self._holder])

    async def _hold(self) -> None:
        try:
            async with AsyncExitStack() as stack:
                us = Implementation(name="hermes", version=self._spec.version)
                client = Client(await self._transport(stack), client_info=us)
                await stack.enter_async_context(client)
                self._ready.set_result(client)
                await self._leave.wait()
        except _FAULTS as error:
            self._give_up(error)
        finally:
            self.is_lost = True
            self._give_up(ConnectionError("it ended before it answered"))

    def _give_up(self, error: BaseException) -> None:
        if not self._ready.done():
            self._ready.set_exception(error)
            self._ready.exception()  # who opens it sees it, if anybody still does

    async def _transport(self, stack: AsyncExitStack) -> Any:
        spec = self._spec
        if spec.command:
            log = stack.enter_context(_open_log(self._log))
            return stdio.started(spec.command, spec.args, self._environment, log, self._lose)
        web = httpx2.AsyncClient(
            headers=self._headers,
            timeout=httpx2.Timeout(spec.timeout),
            event_hooks={"response": [self._note]},
        )
        await stack.enter_async_context(web)
        return streamable_http_client(spec.url, http_client=web, max_sse_event_size=LARGEST_EVENT)

    def _lose(self) -> None:
        self.is_lost = True

    async def _note(self, response: httpx2.Response) -> None:
        if response.request.method == "POST":
            self._status = response.status_code

    async def _list(self, client: Client) -> Listing:
        offered: list[Mapping[str, Any]] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            offered += (tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools)
            cursor = page.next_cursor
            if cursor is None:
                break
        return read(offered)

    def _failure(self, words: str) -> ToolError:
        more = f"; what it printed is in `{self._log}`" if self._spec.command else ""
        if self._status >= _REFUSED:
            more = f" (status {self._status}); it is sent `mcp.servers.{self._spec.name}.headers`"
        return ToolError(f"the MCP server `{self._spec.name}` failed: {words}{more}")


def _open_log(path: str) -> IO[bytes]:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    if os.path.exists(path) and os.path.getsize(path) > LARGEST_LOG:
        flags |= os.O_TRUNC
    return open(os.open(path, flags, 0o600), "ab", buffering=0)


def _words(error: BaseException) -> str:
    """What is wrong, without the wrapping that task groups put around it."""
    causes = list(dict.fromkeys(_leaves(error)))
    return plain("; ".join(causes), LONGEST_REASON)


def _leaves(error: BaseException) -> Iterator[str]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    elif isinstance(error, ValidationError):
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        yield f"its answer breaks the protocol at `{place}`: {first['msg']}"
    elif isinstance(error, FileNotFoundError) and error.filename:
        yield f"`{error.filename}` is not there"
    else:
        yield str(error) or type(error).__name__
