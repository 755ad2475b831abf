"""What a handler may use, made once for the whole server."""

import time
from collections.abc import Callable
from functools import cached_property

from hermes.app import Runtime
from hermes.config import Config
from hermes.server.runs import Runs
from hermes.server.tokens import Tokens


class Services:
    """The runtime that answers, who may ask it, and what is going on.

    Nobody can be asked for consent here, so whatever needs one is denied.
    """

    def __init__(
        self,
        config: Config,
        tokens: Tokens,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.config = config
        self.settings = config.server
        self.tokens = tokens
        self.clock = clock
        self.now = now
        self.runtime = Runtime(config)
        self.redact = self.runtime.services.redact

    @cached_property
    def runs(self) -> Runs:
        """The runs of the page."""
        return Runs(self.runtime, self.settings.tools, self.now)

    async def close(self) -> None:
        if "runs" in self.__dict__:
            await self.runs.close()
        await self.runtime.__aexit__()
