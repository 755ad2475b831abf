"""Answers in the shape of OpenAI's chat completions, with Sonar's sources."""

from starlette.requests import Request
from starlette.responses import Response

from hermes.server.chat.reply import ChatCompletion, ChatStream, Head, completion
from hermes.server.chat.request import ChatRequest, read
from hermes.server.endpoint import Endpoint, Operation
from hermes.server.faults import json_response
from hermes.server.reading import read_json
from hermes.server.services import Services
from hermes.server.streams import EventStream


async def _complete(request: Request, services: Services) -> Response:
    wanted = await read_json(request, ChatRequest)
    asked = read(wanted, services.settings)
    head = Head(f"chatcmpl-{services.make_id()}", int(services.now()), wanted.model)
    if not wanted.stream:
        answer, seen = await services.answered(request, asked)
        return json_response(services.cleaned(completion(head, answer, seen)))
    options = wanted.stream_options
    format = ChatStream(
        head,
        services.holding(),
        is_data=asked.terms.output_schema is not None,
        include_usage=bool(options and options.include_usage),
    )
    return EventStream(services.ask(asked), format, services.redact)


ENDPOINT = Endpoint(
    path="/v1/chat/completions",
    methods={
        "POST": Operation(
            handle=_complete,
            summary="Answer the last message of a conversation, from sources.",
            takes=ChatRequest,
            gives=ChatCompletion,
            streams=True,
        )
    },
)
