"""See which models can be used, and what is missing for the others."""

from collections.abc import Sequence

import click

from hermes.app import Runtime
from hermes.app.catalog import Listing, completed
from hermes.app.survey import Offer, survey
from hermes.cli import _complete
from hermes.cli._border import border
from hermes.cli._json import json_option, show_json
from hermes.cli._loop import run_in_loop
from hermes.cli._settings import read_settings
from hermes.cli._table import Column, Table, show_table
from hermes.errors import ConfigError, HermesError
from hermes.protocols import Endpoint, Provider
from hermes.providers.base.listing import ModelInfo

_SAID = {
    "live": "as the server lists them",
    "cached": "as the server listed them within the hour",
    "static": "as this version of Hermes knows them",
}
_WHAT_NEXT = "✓ can be used: ask with `hermes chat -m PROVIDER`, or choose one for good with `hermes setup`"


@click.command()
@click.argument("name", required=False, metavar="[PROVIDER[/MODEL]]", shell_complete=_complete.models)
@click.option("--refresh", is_flag=True, help="Ask the servers, whatever is remembered.")
@click.option("--offline", is_flag=True, help="Ask no server.")
@json_option
def command(name: str | None, refresh: bool, offline: bool, as_json: bool) -> None:
    """See which providers can be used and what the others need, or the models of one PROVIDER."""
    run_in_loop(_run(name, fresh=refresh, live=not offline, as_json=as_json))


async def _run(name: str | None, *, fresh: bool, live: bool, as_json: bool) -> None:
    async with Runtime(read_settings()) as runtime:
        if name is None:
            await _show_all(runtime, fresh=fresh, live=live, as_json=as_json)
        else:
            provider, model = runtime.chooser.resolver().whose(name)
            await _show_one(runtime, provider, model, fresh=fresh, live=live, as_json=as_json)


async def _show_all(runtime: Runtime, *, fresh: bool, live: bool, as_json: bool) -> None:
    offers = await survey(runtime.chooser, fresh=fresh, live=live)
    for problem in runtime.chooser.registry.problems:
        border().say(f"warning: {problem}")
    if as_json:
        show_json({"providers": offers})
    else:
        show_table(offer_table(offers))
        border().say(_WHAT_NEXT)


def offer_table(offers: Sequence[Offer]) -> Table:
    """Who can be used, and what is missing for the others."""
    columns = (Column(""), Column("provider"), Column("model", least=16), Column("status", least=24))
    return Table(columns, [_offer_cells(offer) for offer in offers])


def _offer_cells(offer: Offer) -> list[str]:
    if not offer.usable:
        missing = offer.reason if offer.key else offer.fix or offer.reason
        return ["✗", offer.name, offer.default_model, missing]
    count = f", {_count(offer.models)}" if offer.models else ""
    return ["✓", offer.name, offer.default_model, f"{offer.reason}{count}"]


def _count(models: int) -> str:
    return "1 model" if models == 1 else f"{models} models"


async def _show_one(
    runtime: Runtime, provider: Provider, model: str, *, fresh: bool, live: bool, as_json: bool
) -> None:
    """The models of a provider, or the one that is named."""
    missing: HermesError | None = None
    try:
        endpoint = runtime.chooser.admit(runtime.chooser.resolver().consider(provider)).endpoint
    except ConfigError as error:
        missing, live = error, live and provider.open_list
        endpoint = _open_endpoint(runtime, provider)
    listing = await runtime.chooser.catalog.models(endpoint, fresh=fresh, live=live)
    wanted = _only(model, listing.models) if model else listing.models
    models = completed(wanted, provider.name) if provider.engine is None else wanted
    problem = missing or listing.problem
    if problem is not None:
        border().say(f"warning: {problem}" + (f"\nhint: {problem.hint}" if problem.hint else ""))
    if as_json:
        show_json(_object(provider, endpoint, listing, models))
        return
    border().say(f"{_count(len(models))} of `{provider.name}`, {_SAID[listing.source]}")
    show_table(model_table(models))


def _open_endpoint(runtime: Runtime, provider: Provider) -> Endpoint:
    if provider.open_list:
        return runtime.chooser.resolver().without_key(provider)
    return Endpoint(provider=provider, model="", base_url="")


def _only(model: str, listed: Sequence[ModelInfo]) -> Sequence[ModelInfo]:
    """The model of this name; one that is not listed may be there all the same."""
    found = [info for info in listed if info.id == model]
    if not found:
        border().say(f"warning: the model `{model}` is not in the list")
    return found or [ModelInfo(id=model)]


def _object(provider: Provider, endpoint: Endpoint, listing: Listing, models: Sequence[ModelInfo]) -> object:
    return {
        "provider": provider.name,
        "base_url": endpoint.base_url,
        "default_model": provider.default_model,
        "source": listing.source,
        "models": models,
    }


def model_table(models: Sequence[ModelInfo]) -> Table:
    """What each model can do and costs."""
    columns = (Column("model", least=20), Column("context", right=True), Column("price"), Column("abilities"))
    return Table(columns, [_model_cells(model) for model in models])


def _model_cells(model: ModelInfo) -> list[str]:
    able = [word for word in ("tools", "images", "reasoning") if getattr(model, word)]
    return [model.id, _tokens(model.context_window), _price(model), " ".join(able)]


def _tokens(count: int | None) -> str:
    if count is None:
        return "-"
    return f"{count / 1_000_000:.3g}M" if count >= 1_000_000 else f"{count / 1000:.3g}k"


def _price(model: ModelInfo) -> str:
    if model.input_price is None or model.output_price is None:
        return "-"
    return f"${model.input_price:.4g} in, ${model.output_price:.4g} out"
