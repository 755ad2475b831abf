"""Every provider at a glance: can it be used now, why, and what is missing if not."""

import asyncio

import msgspec

from hermes.app.catalog import Listing
from hermes.app.choosing import Chooser
from hermes.errors import ConnectFailed, DeadlinePassed, HermesError, HttpStatus, NotConfigured
from hermes.protocols import HttpRequest, Provider
from hermes.providers.base import Choice, LocalServer, address

ALL_WITHIN = 4.0
"""Seconds that all servers together have for their lists."""
_KEY_REFUSED = (401, 403)


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """One provider: whether it can be used and why, or what is wrong and how to mend it."""

    name: str
    title: str
    usable: bool
    reason: str
    fix: str | None = None
    key: str | None = None
    """Under which name its key was found."""
    default_model: str = ""
    base_url: str = ""
    models: int = 0
    source: str = "static"
    is_local_server: bool = False
    """Whether it was found running on this machine."""


async def survey(chooser: Chooser, *, fresh: bool = False, live: bool = True) -> list[Offer]:
    """Every provider, those that can be used first. Only these are asked for their models, all at once."""
    servers = {server.provider: server for server in await chooser.local_servers()} if live else {}
    offers = await asyncio.gather(
        *(
            _offer(chooser, provider, servers.get(provider.name), fresh=fresh, live=live)
            for provider in chooser.registry.all()
        )
    )
    return sorted(offers, key=lambda offer: (not offer.usable, offer.name))


async def at_hand(chooser: Chooser) -> list[Offer]:
    """Who can be used with nothing added, best first; no other machine is asked.

    By a key or an address that is set, on this machine, or in this process.
    """
    servers = {server.provider: server for server in await chooser.local_servers()}
    found: list[tuple[int, Offer]] = []
    for provider in chooser.registry.all():
        server = servers.get(provider.name)
        offer = await _offer(chooser, provider, server, fresh=False, live=False)
        if offer.usable and (offer.key or server or provider.engine or _is_pointed_at(chooser, provider)):
            found.append((provider.rank, offer))
    found.sort(key=lambda one: (one[1].base_url == "", not one[1].key, not one[1].is_local_server, one[0]))
    return [offer for _, offer in found]


def _is_pointed_at(chooser: Chooser, provider: Provider) -> bool:
    """Whether a variable says where it is, and that is not a place where it is looked for anyway."""
    is_here = address.is_loopback(provider.base_url)
    return not is_here and any(map(chooser.resolver().variable, provider.base_url_env))


async def _offer(
    chooser: Chooser, provider: Provider, server: LocalServer | None, *, fresh: bool, live: bool
) -> Offer:
    plain = Offer(
        name=provider.name,
        title=provider.title,
        usable=False,
        reason="",
        default_model=provider.default_model,
        models=len(provider.models),
    )
    try:
        choice = chooser.resolver().consider(provider)
        keys = choice.keys.name if choice.keys else None
        plain = msgspec.structs.replace(plain, base_url=choice.endpoint.base_url, key=keys)
        chooser.admit(choice)
    except HermesError as error:
        return msgspec.structs.replace(plain, reason=str(error), fix=error.hint)
    if server is not None:
        return _running(plain, server)
    if keys is None and address.is_loopback(provider.base_url) and address.is_loopback(plain.base_url):
        return _silent(plain, provider, looked=live and chooser.looks_for_servers)
    if provider.sign is not None and keys is None:
        unknown = "its credentials are not looked for without a network"
        return await _signed(plain, choice) if live else msgspec.structs.replace(plain, reason=unknown)
    listing = await chooser.catalog.models(choice.endpoint, fresh=fresh, live=live, seconds=ALL_WITHIN)
    return _listed(plain, choice, listing)


def _running(plain: Offer, server: LocalServer) -> Offer:
    return msgspec.structs.replace(
        plain,
        usable=True,
        reason=f"found at {server.base_url}",
        default_model=server.models[0],
        models=len(server.models),
        source="live",
        is_local_server=True,
    )


def _silent(plain: Offer, provider: Provider, *, looked: bool) -> Offer:
    words = "no model server answers" if looked else "not looked for"
    elsewhere = "".join(f", or set `{name}` to its address" for name in provider.base_url_env[:1])
    return msgspec.structs.replace(
        plain, reason=f"{words} at {plain.base_url}", fix=f"start {provider.title}{elsewhere}"
    )


async def _signed(plain: Offer, choice: Choice) -> Offer:
    """A provider whose requests are signed, by trying: only signing knows where its credentials are."""
    sign = choice.endpoint.provider.sign or (lambda request: request)
    try:
        async with asyncio.timeout(ALL_WITHIN):
            await asyncio.to_thread(sign, HttpRequest("GET", plain.base_url))
    except NotConfigured as error:
        return msgspec.structs.replace(plain, reason=str(error), fix=error.hint)
    except TimeoutError:
        reason = f"its credentials were not found within {ALL_WITHIN:.0f} s"
        return msgspec.structs.replace(plain, reason=reason)
    return msgspec.structs.replace(plain, usable=True, reason=_why(choice))


def _listed(plain: Offer, choice: Choice, listing: Listing) -> Offer:
    counted = msgspec.structs.replace(plain, models=len(listing.models), source=listing.source)
    match listing.problem:
        case HttpStatus(status=status) if status in _KEY_REFUSED and plain.key:
            reason = f"the server refuses the key (status {status})"
            return msgspec.structs.replace(counted, reason=reason, fix=f"check `{plain.key}`")
        case ConnectFailed() | DeadlinePassed() as error:
            return msgspec.structs.replace(counted, reason=str(error), fix=error.hint)
        case _:  # a server without a list may answer all the same
            return msgspec.structs.replace(counted, usable=True, reason=_why(choice))


def _why(choice: Choice) -> str:
    if choice.keys is not None:
        return f"`{choice.keys.name}` is set"
    if choice.endpoint.provider.engine is not None:
        return "built in"
    if choice.endpoint.provider.sign is not None:
        return "requests are signed when they are sent"
    return f"at {choice.endpoint.base_url}"
