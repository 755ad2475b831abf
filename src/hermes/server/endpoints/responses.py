"""Answers in the shape of OpenAI's Responses, kept so that a conversation can go on."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from hermes.events import Answer
from hermes.messages import Message
from hermes.server.endpoint import Endpoint, Operation
from hermes.server.faults import json_response
from hermes.server.reading import read_json
from hermes.server.responses.instructions import uninstructed
from hermes.server.responses.reply import Keep, ResponseObject, ResponseStream
from hermes.server.responses.request import ResponseRequest, read
from hermes.server.services import Services
from hermes.server.streams import EventStream, stopped_when_left


async def _respond(request: Request, services: Services) -> Response:
    wanted = await read_json(request, ResponseRequest)
    before: tuple[Message, ...] = ()
    if wanted.previous_response_id:
        before = (await services.responses.find(wanted.previous_response_id)).history
    asked = read(wanted, before, services.settings)
    format = ResponseStream(
        _head(wanted, services),
        services.holding(),
        services.make_id,
        is_data=asked.terms.output_schema is not None,
        keep=_keep(wanted, services) if wanted.store is not False else None,
    )
    run = services.ask(asked)
    if wanted.stream:
        return EventStream(run, format, services.redact)
    async with stopped_when_left(run, request.receive):
        async for batch in run.batches():
            format.news(batch)
        await format.end(await run.answer(), run.seen)
    return json_response(services.cleaned(format.whole))


def _keep(wanted: ResponseRequest, services: Services) -> Keep:
    async def keep(whole: ResponseObject, answer: Answer) -> None:
        said = uninstructed(answer.messages) if wanted.instructions else answer.messages
        await services.responses.keep(whole.id, whole, said)

    return keep


def _head(wanted: ResponseRequest, services: Services) -> ResponseObject:
    """The response before anything is said."""
    return ResponseObject(
        id=f"resp_{services.make_id()}",
        created_at=int(services.now()),
        model=wanted.model,
        instructions=wanted.instructions,
        max_output_tokens=wanted.max_output_tokens,
        metadata=wanted.metadata or {},
        previous_response_id=wanted.previous_response_id,
        store=wanted.store is not False,
        temperature=wanted.temperature,
        text={"format": wanted.text.format if wanted.text and wanted.text.format else {"type": "text"}},
        tool_choice=wanted.tool_choice or "auto",
        tools=tuple(msgspec.to_builtins(tool) for tool in wanted.tools or ()),
    )


ENDPOINT = Endpoint(
    path="/v1/responses",
    methods={
        "POST": Operation(
            handle=_respond,
            summary="Answer what is said, from sources, in a conversation that is kept.",
            takes=ResponseRequest,
            gives=ResponseObject,
            streams=True,
        )
    },
)
