"""The search itself: arguments in, the payload that programs rely on out."""

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

import msgspec

from hermes.errors import ConfigError, HermesError, HttpStatus, ModelError, NetError, UsageError
from hermes.events import RetryWaiting
from hermes.messages import NOT_JSON
from hermes.net.retry import RetryPolicy
from hermes.protocols import (
    Deadlines,
    Endpoint,
    Expectation,
    HttpRequest,
    Mismatch,
    Revealable,
    Source,
    Wire,
    progress,
)
from hermes.tools.x_search.account import Account, Terms
from hermes.tools.x_search.query import Given, Query, judge, words_of
from hermes.tools.x_search.reply import Found, failure, read
from hermes.transports.base import request_headers

FIRST_WAIT = 1.5
LONGEST_WAIT = 5.0
_PASSING = frozenset({408, 425, 429})
_SERVER_ERROR = 500
_KEY_REFUSED = (401, 403)

_log = logging.getLogger(__name__)


class Services(Protocol):
    """What a search needs of the run it is made in."""

    @property
    def redact(self) -> Callable[[str], str]: ...

    def x_account(self) -> Account: ...

    def wire(self, policy: RetryPolicy) -> Wire: ...

    def expectation(self, schema: Mapping[str, Any]) -> Expectation: ...


class Outcome(msgspec.Struct, frozen=True):
    """The payload of a search, the pages that it cites, and the error when it failed."""

    payload: dict[str, Any]
    cited: tuple[Source, ...] = ()
    """Every page that the search names."""
    referred: tuple[Source, ...] = ()
    """Those of them that the answer rests on."""
    error: HermesError | None = None

    @property
    def quotes_stranger(self) -> bool:
        """Whether words in the payload came from outside."""
        return self.error is None or isinstance(self.error, ModelError)


async def search(services: Services, given: Given) -> Outcome:
    """Search X. What goes wrong is in the outcome: nothing is raised for it."""
    try:
        words_of(given)
        account = services.x_account()
        query = judge(given, datetime.now(UTC).date())
    except (UsageError, ConfigError) as error:
        hint = f"; {error.hint}" if error.hint else ""
        return Outcome({"error": services.redact(f"{error}{hint}")}, error=error)
    if query.previous_response_id and (given.instructions or "").strip():
        _log.warning("`instructions` is left out: xAI takes none together with `previous_response_id`")
    try:
        found = read(await _ask(services, account, query))
    except (NetError, ModelError) as error:
        payload = failure(error)
        payload["error"] = services.redact(payload["error"])
        return Outcome(payload, error=_told(error, payload["error"], account))
    payload = _payload(found, query, account, services.expectation)
    return Outcome(payload, found.cited(), found.referred())


async def _ask(services: Services, account: Account, query: Query) -> bytes:
    """The reply. A key that is refused gives way to the next, each is tried once."""
    wire = services.wire(policy(account.terms))
    first, *others = _keys(account.endpoint)
    while True:
        try:
            async with wire.open(_request(account, query, first), _may_retry) as reply:
                return await reply.read()
        except HttpStatus as error:
            if error.status != _KEY_REFUSED[0] or not others:
                raise
            first, *others = others


def _keys(endpoint: Endpoint) -> list[Revealable | None]:
    return [endpoint.api_key, *endpoint.spare_keys]


def policy(terms: Terms) -> RetryPolicy:
    """How often a search is sent, and the pauses between."""
    return RetryPolicy(
        attempts=terms.retries + 1,
        base=FIRST_WAIT,
        cap=LONGEST_WAIT,
        patience=terms.patience,
        whole=True,
    )


def _request(account: Account, query: Query, key: Revealable | None) -> HttpRequest:
    terms, endpoint = account.terms, msgspec.structs.replace(account.endpoint, api_key=key)
    fields = {"model": terms.model, **query.fields()}
    if terms.effort:
        fields["reasoning"] = {"effort": terms.effort}
    in_all = (terms.retries + 1) * terms.seconds + terms.retries * max(terms.patience, LONGEST_WAIT)
    return HttpRequest(
        method="POST",
        url=f"{endpoint.base_url.rstrip('/')}/responses",
        headers=request_headers(endpoint),
        body=msgspec.json.encode(fields),
        deadlines=Deadlines(first_byte=terms.seconds, idle=terms.seconds, total=in_all),
    )


def _may_retry(error: NetError, waiting: RetryWaiting) -> bool:
    if isinstance(error, HttpStatus) and error.status not in _PASSING and error.status < _SERVER_ERROR:
        return False
    progress.get()(f"waiting {waiting.seconds:.0f} s, then try {waiting.attempt + 1}: {waiting.reason}")
    return True


def _payload(
    found: Found, query: Query, account: Account, expect: Callable[[Mapping[str, Any]], Expectation]
) -> dict[str, Any]:
    doubt = found.doubt(query)
    payload = {
        "success": True,
        "provider": "xai",
        "credential_source": account.credential_source,
        "tool": "x_search",
        "model": account.terms.model,
        "query": query.text,
        "answer": found.answer,
        "citations": found.citations,
        "inline_citations": found.inline_citations,
        "degraded": doubt is not None,
        "degraded_reason": doubt,
        "response_id": found.response_id,
        "structured_output": None,
    }
    if query.output_schema is not None:
        payload |= _structured(found.answer, query.output_schema, expect)
    return payload


def _structured(
    answer: str, schema: Mapping[str, Any], expect: Callable[[Mapping[str, Any]], Expectation]
) -> dict[str, Any]:
    """The answer as data, and whether it keeps the schema; None where that cannot be told."""
    try:
        value = msgspec.json.decode(answer)
    except NOT_JSON:
        return {"structured_output": None, "schema_valid": False}
    try:
        is_valid = not isinstance(expect(schema).read(answer), Mismatch)
    except UsageError:
        return {"structured_output": value, "schema_valid": None}
    return {"structured_output": value, "schema_valid": is_valid}


def _told(error: HermesError, words: str, account: Account) -> HermesError:
    """The failure for a person: the words of the result, and how to mend it."""
    if not isinstance(error, HttpStatus):
        return error
    hint = f"check the key in `{account.key_name}`" if error.status in _KEY_REFUSED else error.hint
    return ModelError(words, hint=hint)
