"""Settings in, a running Hermes out. The only place that knows every part."""

import os
import time
from collections.abc import Mapping
from typing import Any

from hermes import discover
from hermes.agent.loop import Conversation, Price
from hermes.agent.send import ModelClient
from hermes.app.dialogue import Dialogue, Journal, Standing, Terms
from hermes.app.services import Services, working_folder
from hermes.config import Config
from hermes.errors import StoreError
from hermes.events import Notice
from hermes.messages import Usage
from hermes.protocols import Endpoint, Expectation, Provider, ProviderTransport, Wire
from hermes.providers.base import Choice, Preferences, resolve
from hermes.store import Session, Store, new_session_id
from hermes.tools.toolbox import Toolbox, select


class Runtime:
    """Everything a run needs, made from one Config. Close it when done: it holds files and sockets."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.services = Services(config)
        self._engines: dict[str, Wire] = {}
        self._store: Store | None = None

    async def __aenter__(self) -> "Runtime":
        return self

    async def __aexit__(self, *_: object) -> None:
        for engine in self._engines.values():
            await engine.close()
        if self._store is not None:
            await self._store.close()
        await self.services.close()

    def store(self) -> Store:
        """The sessions; opened on first use, and then what is odd about them is noted."""
        if self._store is None:
            self._store = Store.open(os.path.join(self.config.home, "sessions.db"))
            self.services.notices.extend(Notice(notice) for notice in self._store.notices)
        return self._store

    def choose_model(self, wanted: str = "") -> Choice:
        """Who answers: the name asked for, or what the settings say."""
        model = self.config.model
        preferences = Preferences(
            model.provider, model.default, model.base_url, model.api_key, model.max_tokens
        )
        return resolve(wanted, preferences, self.config.environment.secret)

    def converse(self, terms: Terms) -> Dialogue:
        """A conversation on these terms: a new session, or the given one with its history."""
        endpoint = self.choose_model(terms.model).endpoint
        session = terms.session or _new_session(endpoint)
        journal = Journal(self._open_store(), self.config.redactor(), self.services.notices)
        return Dialogue(
            Conversation(session.id, terms.history, journal),
            self._model(endpoint),
            Toolbox(select(terms.tools), self.services),
            journal,
            Standing(
                session,
                terms.session is None,
                terms.max_turns or self.config.agent.max_turns,
                _expectation(terms.output_schema),
                _price(endpoint.provider, terms.priced),
            ),
        )

    def _open_store(self) -> Store | None:
        try:
            return self.store()
        except StoreError as error:
            self.services.notices.append(Notice(f"this session is not saved: {error}", error.hint))
            return None

    def wire(self, provider: Provider) -> Wire:
        """The way to a provider: through sockets, or into this process."""
        if provider.engine is None:
            return self.services.wire()
        if provider.name not in self._engines:
            self._engines[provider.name] = provider.engine()
        return self._engines[provider.name]

    def _model(self, endpoint: Endpoint) -> ModelClient:
        mode = endpoint.provider.api_mode
        transport: ProviderTransport = discover.load("hermes.transports", mode, "protocol").Transport()
        return ModelClient(endpoint, transport, self.wire(endpoint.provider))


def _expectation(schema: Mapping[str, Any] | None) -> Expectation | None:
    """Loaded on use: a validator is more than most questions need."""
    if schema is None:
        return None
    made: Expectation = discover.module("hermes.agent.structured").SchemaExpectation(schema)
    return made


def _price(provider: Provider, priced: bool) -> Price | None:
    """What a provider's calls cost. A model in this process is free, and that needs no price list."""
    if provider.engine is not None:
        return _nothing
    if not priced:
        return None
    price: Price = discover.module("hermes.agent.cost").in_dollars
    return price


def _nothing(_provider: str, _model: str, _usage: Usage) -> float:
    return 0.0


def _new_session(endpoint: Endpoint) -> Session:
    now = time.time()
    return Session(
        id=new_session_id(now, os.urandom(4)),
        title="",
        created=now,
        updated=now,
        provider=endpoint.provider.name,
        model=endpoint.model,
        cwd=working_folder(),
    )
