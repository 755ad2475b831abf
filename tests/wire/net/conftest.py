from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from hermes.net.client import Client
from simulators.naps import Naps

MakeClient = Callable[..., Client]


@pytest.fixture
def naps() -> Naps:
    return Naps()


@pytest.fixture
async def make_client(naps: Naps) -> AsyncIterator[MakeClient]:
    """Clients that wait for no back-off and know no proxy, closed when the test ends."""
    clients: list[Client] = []

    def make(**settings: Any) -> Client:
        defaults = {"sleep": naps, "random": lambda: 0.0, "environ": {}}
        clients.append(Client(**defaults | settings))
        return clients[-1]

    yield make
    for client in clients:
        await client.close()


@pytest.fixture
def client(make_client: MakeClient) -> Client:
    return make_client()
