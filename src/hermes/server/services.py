"""What a handler may use, made once for the whole server."""

import time
from collections.abc import Callable

from hermes.app import Runtime
from hermes.config import Config
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

    async def close(self) -> None:
        await self.runtime.__aexit__()
