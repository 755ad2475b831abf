"""Bedrock over real sockets: the loop against a strict server, and that server against botocore's client."""

import asyncio
import sys

import pytest

from hermes import discover
from hermes.agent.conversation import Conversation
from hermes.agent.send import ModelClient
from hermes.agent.structured import SchemaExpectation
from hermes.errors import (
    AuthFailed,
    Disconnected,
    IncompleteResponse,
    InvalidResponse,
    NotConfigured,
    ProtocolBroken,
    ProviderDown,
    RateLimited,
    RequestRejected,
)
from hermes.events import Reasoning, Text
from hermes.messages import Image, Message
from hermes.net.client import Client
from hermes.net.retry import RetryPolicy
from hermes.protocols import Endpoint, HttpRequest, Request, ToolResult, ToolSpec
from hermes.providers.base import Registry
from hermes.transports.bedrock_converse import Transport
from simulators.bedrock_converse import (
    API_KEY,
    KEY_ID,
    REGION,
    SECRET,
    TOKEN,
    ConverseSimulator,
    answers,
    calls,
    event_reply,
    events,
    fails,
    frame,
    raw,
    says,
    thought,
)
from simulators.naps import Naps
from simulators.scripted import http_reply
from simulators.talk import turn

load = Registry().load
MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": []}
PIXEL = "iVBORw0KGgo="


@pytest.fixture(autouse=True)
def credentials(monkeypatch):
    """Credentials from the environment alone, found anew by each test."""
    for name in ("AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", TOKEN)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent/config")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent/credentials")
    discover.module("hermes.providers.bedrock.signing")._session.cache_clear()


class Key:
    def __init__(self, value):
        self.value = value

    def reveal(self):
        return self.value


class Log:
    async def append(self, session_id, messages):
        pass


class Tools:
    def __init__(self):
        self.called = []

    def specs(self):
        return tuple(ToolSpec(name, "Do it.", SCHEMA) for name in ("look", "files.read"))

    def fit(self, name, arguments):
        return dict(arguments)

    def effect(self, name):
        return "reads"

    def lack(self, name):
        return None

    def concern(self, name, arguments):
        return None

    async def call(self, name, arguments, judged=None):
        self.called.append((name, arguments))
        return ToolResult(text=f"saw {arguments.get('q')}")


class Bench:
    """A conversation with a simulated model; `strict` wants every request accepted."""

    def __init__(self, *script, api_key=None, strict=True, model=MODEL):
        self.server = ConverseSimulator(*script)
        self.client = Client(retry=RetryPolicy(attempts=1), environ={})
        self.tools, self.events = Tools(), []
        self._api_key, self._strict, self._model = api_key, strict, model

    async def __aenter__(self):
        await self.server.__aenter__()
        endpoint = Endpoint(
            provider=load("bedrock"),
            model=self._model,
            base_url=self.server.base_url,
            api_key=Key(self._api_key) if self._api_key else None,
        )
        self.model = ModelClient(endpoint, Transport(), self.client, sleep=Naps())
        self.conversation = Conversation("s1", (), Log())
        return self

    async def __aexit__(self, *error):
        await self.client.close()
        await self.server.__aexit__(*error)
        assert not self._strict or self.server.refusals == []

    async def ask(self, question="why?", max_turns=5):
        asked = turn(self.conversation, self.model, self.tools, self.events.append, calls=max_turns)
        return await asked.answer(question)

    async def send(self, *messages, **fields):
        endpoint = self.model.endpoint
        request = Request(model=endpoint.model, messages=messages, issuer=endpoint.issuer, **fields)
        return await self.model.send(request, self.events.append)


async def test_a_text_turn_signed_and_streamed():
    async with Bench(says("Because it is so.")) as bench:
        answer = await bench.ask()
        assert (answer.text, answer.finish_reason, answer.complete) == ("Because it is so.", "stop", True)
        assert answer.usage.cached_tokens == 4
        assert len([event for event in bench.events if isinstance(event, Text)]) > 1
        [request] = bench.server.requests
        assert request.headers["x-amz-security-token"] == TOKEN
        assert request.path == f"/model/{MODEL.replace(':', '%3A')}/converse-stream"


async def test_a_whole_reply_is_the_same_answer():
    async with Bench(answers(thought("hm"), {"text": "Because."})) as bench:
        question = Message(role="user", content="why?")
        streamed, whole = await bench.send(question), await bench.send(question, stream=False)
        assert streamed == whole
        assert [request.path.rpartition("/")[2] for request in bench.server.requests] == [
            "converse-stream",
            "converse",
        ]


async def test_an_api_key_needs_no_signature():
    async with Bench(says("ok"), api_key=API_KEY) as bench:
        await bench.ask()
        assert bench.server.requests[0].headers["authorization"] == f"Bearer {API_KEY}"
        assert "x-amz-date" not in bench.server.requests[0].headers


@pytest.mark.parametrize(
    "model",
    [
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.meta.llama3-v1:0",
        "meta.llama4-maverick-17b-instruct-v1:0",
    ],
)
async def test_the_path_is_signed_as_it_is_sent(model):
    async with Bench(says("ok"), model=model) as bench:
        assert (await bench.ask()).text == "ok"


async def test_two_parallel_calls_and_reasoning_replayed():
    before = (thought("first"), {"text": "Let me look."}, thought("more", redacted=True))
    wire_name = Transport().convert_tools([ToolSpec("files.read", "", {})])[0]["toolSpec"]["name"]
    script = calls(("look", {"q": "a"}), (wire_name, {"q": "b"}), before=before), says("Seen.")
    async with Bench(*script) as bench:
        answer = await bench.ask()
        assert answer.text == "Seen."
        assert bench.tools.called == [("look", {"q": "a"}), ("files.read", {"q": "b"})]
        assert "".join(event.delta for event in bench.events if isinstance(event, Reasoning)) == "first"
        sent = bench.server.bodies[1]["messages"]
        assert sent[1]["content"][:3] == list(before)
        assert [block["toolUse"]["input"] for block in sent[1]["content"][3:]] == [{"q": "a"}, {"q": "b"}]
        results = [block["toolResult"] for block in sent[2]["content"] if "toolResult" in block]
        assert [result["content"][0]["text"] for result in results] == ["saw a", "saw b"]


async def test_the_limit_of_calls_ends_in_a_summary():
    async with Bench(calls(("look", {"q": "a"})), says("In short.")) as bench:
        answer = await bench.ask(max_turns=1)
        assert (answer.text, answer.complete) == ("In short.", False)
        assert "toolConfig" in bench.server.bodies[1]


async def test_an_image_is_sent_as_an_image():
    async with Bench(says("A pixel.")) as bench:
        image = Image(media_type="image/jpg", data=PIXEL)
        await bench.send(Message(role="user", content="what is it?", images=(image,)), effort="low")
        block = bench.server.bodies[0]["messages"][0]["content"][1]
        assert block == {"image": {"format": "jpeg", "source": {"bytes": PIXEL}}}


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (400, "ValidationException", RequestRejected),
        (403, "AccessDeniedException", AuthFailed),
        (404, "ResourceNotFoundException", RequestRejected),
        (424, "ModelErrorException", ProviderDown),
        (429, "ThrottlingException", RateLimited),
        (500, "InternalServerException", ProviderDown),
        (503, "ServiceUnavailableException", ProviderDown),
    ],
)
async def test_error_statuses(status, kind, error):
    async with Bench(fails(status, kind, "because")) as bench:
        with pytest.raises(error, match="because"):
            await bench.ask()


YEAR = {"type": "object", "properties": {"year": {"type": "integer"}}, "required": ["year"]}


@pytest.mark.parametrize("model", [MODEL, "amazon.nova-pro-v1:0"])
async def test_an_answer_is_data_after_tools_and_one_more_try(model):
    script = calls(("look", {"q": "a"})), says("In 1991."), says('{"year": 1991}')
    async with Bench(*script, model=model) as bench:
        expected = SchemaExpectation(YEAR)
        asked = turn(bench.conversation, bench.model, bench.tools, bench.events.append, expectation=expected)
        answer = await asked.answer("when?")
        assert (answer.parsed, answer.text) == ({"year": 1991}, '{"year": 1991}')
        assert all(
            "outputConfig" in body or "JSON Schema" in str(body["system"]) for body in bench.server.bodies
        )


NO_STREAM = "User: arn:aws:iam::1:user/x is not authorized to perform: bedrock:InvokeModelWithResponseStream"


async def test_who_may_not_stream_is_answered_as_a_whole_for_the_session():
    def allows(body, streams):
        refused = fails(403, "AccessDeniedException", NO_STREAM)
        return (refused if streams else says("Because."))(body, streams)

    async with Bench(allows) as bench:
        assert (await bench.ask()).text == "Because."
        assert (await bench.ask("and why?")).text == "Because."
        operations = [request.path.rpartition("/")[2] for request in bench.server.requests]
        assert operations == ["converse-stream", "converse", "converse"]


async def test_who_may_do_nothing_at_all_is_told_so():
    words = "not authorized to perform: bedrock:InvokeModel"
    async with Bench(fails(403, "AccessDeniedException", words)) as bench:
        with pytest.raises(AuthFailed):
            await bench.ask()
        assert len(bench.server.bodies) == 1


async def test_a_wrong_secret_is_refused(monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    async with Bench(says("ok"), strict=False) as bench:
        with pytest.raises(AuthFailed, match="signature does not match"):
            await bench.ask()


@pytest.mark.parametrize("cut", range(2, 9))
async def test_a_cut_stream_is_partial_and_never_an_answer(cut):
    stream = events([{"text": "half an answer"}], "end_turn")
    async with Bench(says("half an answer", cut=cut)) as bench:
        if cut >= len(stream) - 1:
            assert (await bench.ask()).text == "half an answer"
            return
        with pytest.raises(IncompleteResponse):
            await bench.ask()
        kept = "".join(event.delta for event in bench.events if isinstance(event, Text))
        assert bench.conversation.messages[-1].content == kept
        assert "half an answer".startswith(kept)
        bench.server._script = (says("again"),)
        assert (await bench.ask("go on")).text == "again"


async def test_a_stream_without_any_block_is_invalid():
    async with Bench(says("x", cut=1)) as bench:
        with pytest.raises(InvalidResponse, match="empty"):
            await bench.ask()


FRAMES = [frame(name, said) for name, said in events([{"text": "so far"}], "end_turn")]
THROTTLED = frame("throttlingException", {"message": "too fast"}, kind="exception")


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (event_reply(*FRAMES[:3], THROTTLED), RateLimited),
        (event_reply(*FRAMES[:3], FRAMES[3][:-1] + b"x"), ProtocolBroken),
        (event_reply(*FRAMES[:3], FRAMES[3][:20]), Disconnected),
        (event_reply(*FRAMES[:3], frame("contentBlockDelta", b"{not json")), InvalidResponse),
    ],
)
async def test_a_broken_stream_has_a_name_and_its_text_is_kept(reply, error):
    async with Bench(raw(reply)) as bench:
        with pytest.raises(error):
            await bench.ask()
        assert bench.conversation.messages[-1].content == "so far"


async def test_a_page_instead_of_events_is_quoted_without_the_credentials():
    page = http_reply(200, f"<p>log in {TOKEN}</p>".encode(), content_type="text/html")
    async with Bench(raw(page)) as bench:
        with pytest.raises(ProtocolBroken, match="log in") as caught:
            await bench.ask()
        assert TOKEN not in str(caught.value)


def endpoint_of(base_url="http://127.0.0.1:1"):
    return Endpoint(provider=load("bedrock"), model=MODEL, base_url=base_url)


def signed(url="http://127.0.0.1:1/model/m/converse"):
    provider = load("bedrock")
    return provider.sign(HttpRequest("POST", url, {"Content-Type": "application/json"}, b"{}"))


@pytest.mark.parametrize(
    ("host", "region"),
    [
        ("bedrock-runtime.eu-west-3.amazonaws.com", "eu-west-3"),
        ("bedrock-runtime-fips.us-gov-west-1.amazonaws.com", "us-gov-west-1"),
        ("bedrock-runtime.cn-north-1.amazonaws.com.cn", "cn-north-1"),
        ("vpce-1a.bedrock-runtime.ap-south-1.vpce.amazonaws.com", "ap-south-1"),
        ("bedrock-runtime.us-west-2.api.aws", "us-west-2"),
        ("proxy.example", "us-east-1"),
    ],
)
def test_the_region_is_the_hosts(host, region):
    assert f"/{region}/bedrock/" in signed(f"https://{host}/model/m/converse").headers["Authorization"]


def test_a_host_without_a_region_takes_the_users(monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    assert "/eu-central-1/" in signed().headers["Authorization"]


def test_without_credentials_nothing_is_sent(monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(NotConfigured, match="no AWS credentials") as caught:
        signed()
    assert "AWS_ACCESS_KEY_ID" in caught.value.hint


def test_credentials_that_are_half_there_are_named(monkeypatch):
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(NotConfigured, match="cannot be used"):
        signed()


def test_without_botocore_the_hint_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "hermes.providers.bedrock.signing")
    monkeypatch.setitem(sys.modules, "botocore.auth", None)
    with pytest.raises(NotConfigured, match="botocore") as caught:
        signed()
    assert 'pip install "hermes[bedrock]"' in caught.value.hint


@pytest.mark.parametrize("name", ["bedrock", "aws", "aws-bedrock", "amazon-bedrock"])
def test_the_provider_has_these_names(name):
    assert load(name) is load("bedrock")


@pytest.fixture
async def botocore_client():
    """The vendor's own client, to check that the simulator speaks as the service does."""
    config = pytest.importorskip("botocore.config").Config(retries={"total_max_attempts": 1})
    session = pytest.importorskip("botocore.session").Session()
    made = []

    def make(url):
        made.append(session.create_client("bedrock-runtime", REGION, endpoint_url=url, config=config))
        return made[-1]

    yield make
    for client in made:
        client.close()


BLOCKS = (thought("hm"), {"text": "Let me look."})
ASKED = {
    "modelId": MODEL,
    "messages": [{"role": "user", "content": [{"text": "hi"}]}],
    "toolConfig": {"tools": [{"toolSpec": {"name": "look", "inputSchema": {"json": SCHEMA}}}]},
}


async def test_botocores_client_reads_the_simulators_whole_replies(botocore_client):
    async with ConverseSimulator(calls(("look", {"q": "a"}), before=BLOCKS)) as server:
        reply = await asyncio.to_thread(botocore_client(server.base_url).converse, **ASKED)
        assert server.refusals == []
    *said, asked = reply["output"]["message"]["content"]
    assert said == list(BLOCKS)
    assert (asked["toolUse"]["input"], reply["stopReason"]) == ({"q": "a"}, "tool_use")
    assert reply["usage"]["cacheReadInputTokens"] == 4


async def test_botocores_client_reads_the_simulators_streams(botocore_client):
    async with ConverseSimulator(calls(("look", {"q": "a"}), before=BLOCKS)) as server:
        client = botocore_client(server.base_url)
        stream = await asyncio.to_thread(lambda: list(client.converse_stream(**ASKED)["stream"]))
        assert server.refusals == []
    assert [next(iter(event)) for event in stream if "contentBlockDelta" not in event] == [
        "messageStart", "contentBlockStop", "contentBlockStop", "contentBlockStart", "contentBlockStop",
        "messageStop", "metadata",
    ]  # fmt: skip
    deltas = [event["contentBlockDelta"]["delta"] for event in stream if "contentBlockDelta" in event]
    assert "".join(delta.get("text", "") for delta in deltas) == "Let me look."
    assert "".join(delta["toolUse"]["input"] for delta in deltas if "toolUse" in delta) == '{"q": "a"}'


async def test_botocores_client_names_the_simulators_failures(botocore_client):
    reply = event_reply(*FRAMES[:2], THROTTLED)
    async with ConverseSimulator(raw(reply), fails(429, "ThrottlingException", "slow")) as server:
        client = botocore_client(server.base_url)
        errors = client.exceptions
        with pytest.raises(pytest.importorskip("botocore.exceptions").EventStreamError, match="throttling"):
            await asyncio.to_thread(lambda: list(client.converse_stream(**ASKED)["stream"]))
        with pytest.raises(errors.ThrottlingException, match="slow"):
            await asyncio.to_thread(client.converse, **ASKED)


async def test_what_we_send_is_what_botocores_client_sends(botocore_client):
    """The same call by both: path, body and signed headers agree."""
    transport, question = Transport(), Message(role="user", content="hi")
    request = Request(model=MODEL, messages=(question,), tools=(ToolSpec("look", "", SCHEMA),), stream=False)
    kwargs = transport.build_kwargs(request, load("bedrock"))
    async with ConverseSimulator(says("ok")) as server:
        theirs = {name: value for name, value in kwargs.items() if name != "stream"}
        await asyncio.to_thread(botocore_client(server.base_url).converse, **theirs)
        endpoint = endpoint_of(server.base_url)
        client = Client(environ={})
        http = load("bedrock").sign(transport.encode(kwargs, endpoint))
        async with client.open(http) as reply:
            await reply.read()
        await client.close()
        assert server.refusals == []
        assert server.bodies[0] == server.bodies[1]
        assert server.requests[0].path == server.requests[1].path
