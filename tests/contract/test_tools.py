"""Every tool under `tools/`: it tells the model what it needs, and no argument makes it break."""

import asyncio

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes import Agent, discover
from hermes.app.services import Services
from hermes.config import load
from hermes.errors import ToolError
from hermes.messages import Message
from hermes.protocols import Provider, Request, ToolResult
from hermes.tools.toolbox import ALL, PACKAGE, Toolbox, select
from hermes.transports.chat_completions import Transport
from simulators.chat_completions import ChatSimulator, calls, refusal, says

TOOLS = {found.spec.name: found for found in select([ALL])}
every_tool = pytest.mark.parametrize("name", TOOLS)

GARBAGE = (
    *("", " ", "\0", "\n", "é€\U0001f600", "../..", "~none", "[", "("),
    *("*" * 300, "x" * 5_000, "-1", "null", "{}"),
)


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    folder = tmp_path_factory.mktemp("top") / "between" / "work"
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("one\ntwo\n")
    (folder / "sub").mkdir()
    alone = {"HERMES_X_SEARCH_RETRIES": "0", "XAI_API_KEY": "k", "XAI_BASE_URL": "http://127.0.0.1:9/v1"}
    config = load({"HERMES_HOME": str(tmp_path_factory.mktemp("home")), **alone})
    return Toolbox(select([ALL]), Services(config, folder=str(folder)))


def test_the_built_in_tools_are_there():
    local = {"terminal", "memory", "read_file", "write_file", "patch", "list_files", "search_files"}
    assert set(TOOLS) >= local | {"web_search", "web_extract", "x_search"}


@every_tool
def test_the_file_is_named_as_its_tool(name):
    assert discover.load(PACKAGE, name, "tool").TOOL is TOOLS[name]


@pytest.mark.parametrize("name", discover.names(PACKAGE))
def test_what_its_file_says_is_what_it_is(name):
    made = getattr(discover.load(PACKAGE, name, "tool"), "TOOL", None)
    assert made is TOOLS.get(name)
    assert made is None or made in select([made.toolset])


@every_tool
def test_it_tells_the_model_what_it_needs_to_know(name):
    spec = TOOLS[name].spec
    assert spec.description.endswith(".")
    assert "\n" not in spec.description
    assert len(spec.description) < 300
    for key, parameter in spec.parameters["properties"].items():
        assert parameter["description"].endswith("."), key
    assert TOOLS[name].toolset in ("web", "x_search", "terminal", "file", "memory")
    assert TOOLS[name].effect in ("reads", "changes")


@every_tool
def test_its_schema_is_json_schema_and_holds_for_its_defaults(name):
    parameters = TOOLS[name].spec.parameters
    jsonschema_rs.meta.validate(parameters)
    for key, parameter in parameters["properties"].items():
        if "default" in parameter:
            jsonschema_rs.validate(parameter, parameter["default"])
        assert (key in parameters["required"]) <= ("default" not in parameter)


def test_a_strict_server_takes_them_all(box):
    provider = Provider(name="p", title="P", api_mode="chat_completions", base_url="http://x/v1")
    request = Request(messages=(Message(role="user", content="hi"),), tools=box.specs(), model="m")
    body = Transport().build_kwargs(request, provider)
    assert len(body["tools"]) == len(TOOLS)
    assert refusal("/v1/chat/completions", {"model": "m", **body}) is None


_anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(GARBAGE),
    st.lists(st.sampled_from(GARBAGE), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


def _fitting(key, schema):
    """Values as the schema names them, of a kind that is safe to run."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema["type"]:
        case "integer":
            return st.integers(-5, 5) | st.integers()
        case "boolean":
            return st.booleans()
        case "array":
            return st.lists(st.sampled_from(GARBAGE), max_size=3)
        case _ if key == "command":
            return st.sampled_from(("true", "exit 3", "no-such-program", "'", "(", *GARBAGE))
        case _:
            return st.sampled_from((*GARBAGE, "a.txt", "sub", "one", "**")) | st.text(max_size=20)


def _arguments(name):
    properties = TOOLS[name].spec.parameters["properties"]
    odd = st.dictionaries(st.sampled_from([*properties, "other"]), _anything)
    fitting = st.fixed_dictionaries(
        {}, optional={key: _fitting(key, schema) for key, schema in properties.items()}
    )
    return odd | fitting


@every_tool
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_odd_arguments_are_answered_in_words(box, name, data):
    arguments = data.draw(_arguments(name))
    arguments = {**arguments, "timeout": 2} if name == "terminal" else arguments
    result = asyncio.run(_answer(box, name, arguments))
    assert result.text
    assert result.text.encode()


@every_tool
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_speaks_against_a_call_is_known_before_it_is_run(box, name, data):
    try:
        fitted = box.fit(name, data.draw(_arguments(name)))
    except ToolError:
        return
    found = box.concern(name, fitted)
    assert found is None or found.kind == "free" or found.reason
    assert found is None or found.kind != "ask" or (found.action and found.rules)


async def _answer(box, name, arguments):
    """What the model reads: a result, or the words of a `ToolError`."""
    try:
        return await box.call(name, arguments)
    except ToolError as error:
        return ToolResult(text=str(error), is_error=True)
    finally:
        for wire in box._services._wires.values():
            await wire.close()  # it belongs to the event loop of this call


async def test_a_model_works_with_them_through_a_whole_conversation(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = (
        calls(("write_file", {"path": "a.txt", "content": "one\n"})),
        calls(("terminal", {"command": "cat a.txt", "timeout": "5"}), ("list_files", {})),
        calls(("terminal", {"command": "rm -rf ."}), ("read_file", {"path": "b.txt"}), ("memory", {})),
        says("done"),
    )
    async with ChatSimulator(*script) as server:
        config = load({"HERMES_HOME": str(tmp_path / "home"), "CUSTOM_BASE_URL": server.base_url})
        async with Agent("custom/m", tools=["all"], config=config) as agent:
            answer = await agent.run("go")
    assert answer.text == "done"
    results = [message.content for message in answer.messages if message.role == "tool"]
    said = (
        "created",
        '"output": "one\\n"',
        "a.txt",
        "has not consented",
        "near it are `a.txt`",
        "needs `action`",
    )
    assert len(results) == len(said)
    assert all(part in result for part, result in zip(said, results, strict=True))
