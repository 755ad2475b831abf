"""Show who answers, or choose another with `/model PROVIDER/MODEL`."""

from collections.abc import Sequence

import msgspec

from hermes.cli._talk.completion import Offer
from hermes.cli._talk.talk import Talk
from hermes.errors import HermesError


async def run(talk: Talk, words: str) -> None:
    if words:
        await talk.runtime.chooser.look_around(words)
        talk.change(msgspec.structs.replace(talk.terms, model=words))
    talk.introduce()


async def offers(talk: Talk) -> Sequence[Offer]:
    """The models that are known without asking any server."""
    chooser = talk.runtime.chooser
    found: list[Offer] = []
    for provider in chooser.registry.all():
        try:
            endpoint = chooser.resolver().consider(provider).endpoint
        except HermesError:
            continue
        listing = await chooser.catalog.models(endpoint, live=False)
        names = [model.id for model in listing.models] or [endpoint.model]
        found += [Offer(f"{provider.name}/{name}", provider.title) for name in names if name]
    return found
