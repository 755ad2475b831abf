"""A web backend and its simulated vendor, connected as in a real run."""

import json

import pytest

from hermes import discover
from hermes.app.services import Services
from hermes.config import load
from hermes.net.client import Client
from hermes.net.retry import RetryPolicy
from hermes.tools.web.addresses import Gate


class Desk:
    """Asks one vendor. `environ` and `settings` replace those that lead to it, or add to them."""

    def __init__(self, name, home):
        self.name = name
        self.home = home
        self.vendor_type = discover.module(f"simulators.web.{name.replace('-', '_')}").VENDOR

    async def search(self, reply, words="who sings?", limit=5, *, environ=None, settings=None, **filters):
        async with self.vendor_type(reply) as vendor:
            services = self._services(vendor, environ, settings)
            try:
                outcome = await services.web.search(words, limit, filters)
            finally:
                await services.close()
        assert vendor.refusals == []
        return outcome, vendor

    async def fails(self, reply, kind, **given):
        """The error of a search, and the vendor that it was made at."""
        async with self.vendor_type(reply) as vendor:
            services = self._services(vendor, given.pop("environ", None), given.pop("settings", None))
            with pytest.raises(kind) as caught:
                await services.web.search("who sings?", 5, given)
            await services.close()
        return caught.value, vendor

    async def extract(self, reply, *urls, environ=None, forbidden=()):
        """Read pages; no address in `forbidden` may be read, however a page came to it."""
        async with self.vendor_type(reply) as vendor:
            services = self._services(vendor, environ, None)
            services.web._gate = Gate(admit=lambda url: "a private address" if url in forbidden else None)
            try:
                pages = (await services.web.extract(list(urls))).pages
            finally:
                await services.close()
        assert vendor.refusals == []
        return pages, vendor

    def _services(self, vendor, environ, settings):
        given = {**vendor.environ(), **(environ or {})}
        web = {**vendor.settings(), **(settings or {}), "backend": self.name}
        (self.home / "config.yaml").write_text(json.dumps({"web": web}))
        known = {name: value for name, value in given.items() if value is not None}
        services = Services(load({"HERMES_HOME": str(self.home), **known}))
        services._wires[None] = Client(retry=RetryPolicy(attempts=2, base=0.0, patience=0.0))
        return services


@pytest.fixture
def desk(tmp_path):
    return lambda name: Desk(name, tmp_path)
