"""The server against its own description, by schemathesis: in process, without a socket."""

import asyncio

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from hermes.config import load
from hermes.server.app import assemble
from hermes.server.services import Services
from hermes.server.tokens import Tokens
from simulators.serving import TOKEN

HEADERS = {"authorization": f"Bearer {TOKEN}", "host": "localhost"}
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EXAMPLES = settings(
    max_examples=8,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    alone = {"HERMES_HOME": str(home), "HERMES_MODEL_LOCAL_SERVERS": "false"}
    services = Services(load({**alone, "HERMES_SERVER_REQUESTS_PER_MINUTE": "9999"}), Tokens([TOKEN]))
    served = assemble(services)

    async def running(scope, receive, send):
        """The application as if it were started once: schemathesis starts and stops it for each request."""
        if scope["type"] != "lifespan":
            await served(scope, receive, send)
            return
        for stage in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{stage}.complete"})

    yield schemathesis.openapi.from_asgi("/openapi.json", running, headers=HEADERS)
    asyncio.run(services.close())


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_answer_is_as_described(described, mode):
    checks = [*CHECKS, *([negative_data_rejection] if mode is GenerationMode.NEGATIVE else [])]
    names = set()
    for found in described.get_all_operations():
        operation = found.ok()
        names.add(operation.label)
        if mode is GenerationMode.NEGATIVE and not operation.body:
            continue

        @EXAMPLES
        @given(case=operation.as_strategy(generation_mode=mode))
        def answered(case):
            case.call_and_validate(headers=HEADERS, checks=checks)

        answered()
    assert "POST /v1/chat/completions" in names
