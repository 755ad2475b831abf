"""A conversation with a simulated model, as tests of the loop want it."""

import asyncio

import msgspec

from hermes.agent.approvals import Approvals
from hermes.agent.auxiliary import Auxiliary
from hermes.agent.budget import Limits
from hermes.agent.chain import Models
from hermes.agent.conversation import Conversation
from hermes.agent.loop import Turn
from hermes.agent.means import Means
from hermes.agent.send import ModelClient
from hermes.agent.structured import SchemaExpectation
from hermes.agent.untrusted import Guard
from hermes.errors import ToolError, UnknownTool
from hermes.messages import Message
from hermes.net.client import Client
from hermes.protocols import Endpoint, Provider, Source, ToolResult, ToolSpec
from hermes.transports.chat_completions import Transport
from simulators.chat_completions import ChatSimulator
from simulators.naps import Naps

PROVIDER = Provider(name="sim", title="Sim", api_mode="chat_completions", key_env=("SIM_API_KEY",))
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": []}


class Log:
    def __init__(self):
        self.kept: list[Message] = []

    async def append(self, session_id, messages):
        self.kept += messages

    async def summarise(self, _session_id, summary, _known):
        self.kept.append(summary)


class Tools:
    """Three tools: one that answers, one that fails, one that never ends."""

    def __init__(self):
        self.called = []

    def specs(self):
        return tuple(ToolSpec(name, "Do it.", SCHEMA) for name in ("look", "fail", "hang"))

    def fit(self, name, arguments):
        if name not in ("look", "fail", "hang"):
            raise UnknownTool(f"there is no tool `{name}`")
        return dict(arguments)

    def effect(self, name):
        return "reads"

    def lack(self, name):
        return None

    def concern(self, name, arguments):
        return None

    async def call(self, name, arguments, judged=None):
        self.called.append((name, arguments))
        if name == "fail":
            raise ToolError("it broke")
        if name == "hang":
            await asyncio.Event().wait()
        page = Source(
            url=f"http://page/{arguments.get('q')}", title="A page", text="The **sky** is blue. More."
        )
        return ToolResult(text=f"saw {arguments.get('q')}", sources=(page,), served_by="test")


def turn(
    conversation, model, tools, emit, *, calls=50, approve=None, holds_secret=lambda _text: False, **more
):
    """A turn with the given model and tools. `calls` limits the model calls; the rest is given by name."""
    models = model if isinstance(model, Models) else Models(model)
    means = Means(
        models=models,
        auxiliary=Auxiliary(models.chosen, more.pop("own", lambda _task: None)),
        tools=tools,
        guard=Guard(holds_secret),
        approvals=more.pop("approvals", None) or Approvals(approve=approve),
        limits=more.pop("limits", Limits(calls=calls)),
        **more,
    )
    return Turn(conversation, means, emit)


class Bench:
    """A conversation with a simulated model."""

    def __init__(self, *script, **provider):
        self.server = ChatSimulator(*script)
        self.provider = msgspec.structs.replace(PROVIDER, **provider)
        self.client = Client()
        self.log, self.tools, self.events = Log(), Tools(), []

    async def __aenter__(self):
        await self.server.__aenter__()
        self.conversation = Conversation("s1", (), self.log)
        endpoint = Endpoint(provider=self.provider, model="m", base_url=self.server.base_url)
        self.model = ModelClient(endpoint, Transport(), self.client, sleep=Naps())
        return self

    async def __aexit__(self, *error):
        await self.client.close()
        await self.server.__aexit__(*error)
        assert self.server.refusals == []

    def turn(self, schema=None, **more):
        expectation = SchemaExpectation(schema) if schema else None
        return turn(
            self.conversation, self.model, self.tools, self.events.append, expectation=expectation, **more
        )

    async def ask(self, question="why?", **more):
        return await self.turn(**more).answer(question)

    def roles(self):
        return [message.role for message in self.log.kept]
