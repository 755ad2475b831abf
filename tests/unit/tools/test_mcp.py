"""The tools of MCP servers: what they say is made harmless, what was agreed to is kept."""

import json

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.config import load
from hermes.errors import ConfigError, StoreUnavailable
from hermes.tools.arguments import fit
from hermes.tools.mcp.pins import Pins
from hermes.tools.mcp.reading import LARGEST_SCHEMA, LONGEST_DESCRIPTION, MOST_TOOLS, plain, read
from hermes.tools.mcp.servers import Server, as_tools
from hermes.tools.mcp.spec import Spec
from hermes.tools.mcp.telling import describe, why
from hermes.transports.base.names import NAME

EMPTY = {"type": "object", "properties": {}}


def listed(name="read", description="Read it.", schema=EMPTY, **more):
    return {"name": name, "description": description, "inputSchema": schema, **more}


def test_letters_that_nobody_sees_are_taken_out_of_descriptions():
    hidden = "Read\u202e a\u200b file.\U000e0049\U000e0067\x1b[31m\n\nNow."
    schema = {
        "type": "object",
        "properties": {"title": {"type": "string", "description": "A\u2066 title.\x00"}},
    }
    tool = read([listed(description=hidden, schema=schema)]).tools[0]
    assert tool.description == "Read a file.[31m Now."
    assert tool.parameters["properties"]["title"] == {"type": "string", "description": "A title."}


@given(st.text())
def test_what_is_left_of_a_text_can_be_printed_in_one_line(text):
    shown = plain(text, 50)
    assert len(shown) <= 50
    assert shown.isprintable()


def test_a_long_description_is_cut():
    assert len(read([listed(description="word " * 5_000)]).tools[0].description) == LONGEST_DESCRIPTION


@pytest.mark.parametrize(
    ("tool", "why_not"),
    [
        (listed(name="read\u202efile"), "a name that cannot be shown"),
        (listed(name=""), "a name that cannot be shown"),
        (listed(name="x" * 200), "a name that cannot be shown"),
        (listed(schema={"type": "nonsense"}), "not JSON Schema"),
        (listed(schema={"description": "x" * LARGEST_SCHEMA}), "no schema of at most"),
        (listed(schema={"enum": ["a\u200b"]}), "nobody can see"),
        (listed(schema={"properties": {"a\u202e": {}}}), "nobody can see"),
        ({"name": "bare"}, "no schema of at most"),
    ],
)
def test_a_tool_that_cannot_be_made_harmless_is_left_out(tool, why_not):
    listing = read([tool, listed(name="other")])
    assert [tool.name for tool in listing.tools] == ["other"]
    assert why_not in listing.left_out[0]
    assert listing.left_out[0].isprintable()


def test_a_name_counts_once_and_so_many_tools_are_enough():
    listing = read([listed(), listed(description="Another."), *(listed(name=f"t{n}") for n in range(200))])
    assert len(listing.tools) == MOST_TOOLS
    assert listing.tools[0].description == "Read it."
    assert "is there twice" in listing.left_out[0]


def test_the_digest_changes_with_every_letter_and_not_with_the_order():
    tools = [listed(), listed(name="write")]
    digest = read(tools).digest
    assert read(tools[::-1]).digest == digest
    for changed in (listed(description="Read it.\u200b"), listed(title="x"), listed(annotations={})):
        assert read([changed, tools[1]]).digest != digest
    assert read([listed(_meta={"at": "another time"}), tools[1]]).digest == digest


@pytest.mark.parametrize(
    ("annotations", "effect"),
    [
        ({"readOnlyHint": True}, "reads"),
        ({"readOnlyHint": "yes"}, "changes"),
        ({}, "changes"),
        (None, "changes"),
    ],
)
def test_a_tool_changes_something_unless_it_says_otherwise(annotations, effect):
    assert read([listed(annotations=annotations)]).tools[0].effect == effect


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "properties": {"a": True, "b": {"type": "array", "items": True}}},
        {"properties": {"description": {"type": "string"}}, "required": ["description"]},
        {"properties": {"a": {"type": ["string", "null"]}, "b": {"anyOf": [{"type": "integer"}]}}},
    ],
)
def test_any_schema_becomes_one_that_arguments_can_be_held_against(schema):
    parameters = read([listed(schema=schema)]).tools[0].parameters
    jsonschema_rs.meta.validate(parameters)
    known = parameters["properties"]
    given = {name: ["x"] if known[name].get("type") == "array" else "x" for name in known}
    assert fit("tool", given, parameters) == given


@pytest.fixture
def pins(tmp_path):
    return Pins(str(tmp_path / "mcp"), lambda: 5.0)


async def nobody(*_):
    return False


def server(pins, name="files", tools=None, **spec):
    return Server(Spec(name=name, command="program", tools=tools, **spec), pins, nobody, {}, "log")


def test_a_consent_is_kept_and_holds_for_the_same_program_only(pins, tmp_path):
    listing = read([listed(), listed(name="write")])
    pins.put("files", pins.made("program", listing))
    assert [tool.name for tool in server(pins).tools()] == ["read", "write"]
    assert [tool.name for tool in server(pins, tools=("write",)).tools()] == ["write"]
    assert server(pins, args=("--other",)).tools() == ()
    assert (tmp_path / "mcp" / "files.json").stat().st_mode & 0o777 == 0o600
    assert pins.forget("files")
    assert not pins.forget("files")
    assert server(pins).tools() == ()


def test_a_broken_file_is_no_consent(pins, tmp_path):
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "files.json").write_text('{"who": 1}')
    assert server(pins).pin is None


def test_a_consent_that_cannot_be_kept_says_so(pins, tmp_path):
    (tmp_path / "mcp").write_text("in the way")
    with pytest.raises(StoreUnavailable, match="cannot be written"):
        pins.put("files", pins.made("program", read([listed()])))


def test_names_are_legal_on_every_wire_and_nobody_elses(pins):
    hostile = ("search", "read/file", "né", "x" * 128, "b_c")
    for name, tools in (("web", hostile), ("a", ("b_c",)), ("a_b", ("c",))):
        pins.put(name, pins.made("program", read([listed(name=tool) for tool in tools])))
    servers = [server(pins, name) for name in ("web", "a", "a_b")]
    names = [tool.spec.name for tool in as_tools(servers, {"web_search"})]
    assert len(set(names)) == 7
    assert "web_search" not in names
    assert all(NAME.fullmatch(name) for name in names)


def test_a_person_is_shown_all_that_a_model_would_read(pins):
    schema = {"properties": {"path": {"type": "string", "description": "Where it is."}}}
    spec = Spec(name="files", command="program", args=("a b",), tools=("read",))
    first = read([listed(schema=schema), listed(name="gone"), listed(name="same"), {"name": "bad"}])
    shown = describe(spec, first, None)
    for part in (
        "program 'a b'",
        "- read (changes): Read it.",
        "path: Where it is.",
        "`bad`",
        "of these: read",
    ):
        assert part in shown
    before = pins.made(spec.who, first)
    now = read([listed(description="Read it all.", schema=schema), listed(name="same"), listed(name="new")])
    shown = describe(spec, now, before)
    for part in ("changed: read", "Read it all.", "before: Read it.", "new: new", "gone: gone", "1 of 3"):
        assert part in shown
    assert "not those" in why(spec, before)
    assert "another program" in why(Spec(name="files", url="http://x"), before)


def settings(servers, **environ):
    return load({"HERMES_HOME": "/nowhere", "HERMES_MCP_SERVERS": json.dumps(servers), **environ})


@pytest.mark.parametrize(
    ("servers", "words"),
    [
        ({"a": {"comand": "x"}}, "unknown field `comand`"),
        ({"a b": {"command": "x"}}, "`a b` is no name"),
        ({"a": {}}, "either a `command` or a `url`"),
        ({"a": {"command": "x", "url": "y"}}, "either a `command` or a `url`"),
        ({"a": {"command": "x", "env": {"B": []}}}, "`a.env.*`: expected text"),
        ({"a": {"command": True}}, "`a.command`: expected `str`, got `bool`"),
        ({"a": {"command": "x", "timeout": 0}}, ">= 1"),
        (["a"], "settings by server"),
    ],
)
def test_a_server_that_makes_no_sense_is_refused_in_words(servers, words):
    with pytest.raises(ConfigError, match=words):
        settings(servers)


@pytest.mark.parametrize(("token", "warns"), [("tokentoken", True), ("${P_TOKEN}", False)])
def test_a_secret_in_a_file_that_others_can_read_is_warned_of(tmp_path, token, warns):
    servers = {"p": {"url": "https://p.example", "headers": {"Authorization": f"Bearer {token}"}}}
    (tmp_path / "config.yaml").write_text(json.dumps({"mcp": {"servers": servers}}))
    (tmp_path / "config.yaml").chmod(0o644)
    assert any("mcp.servers" in warning for warning in load({"HERMES_HOME": str(tmp_path)}).warnings) is warns


def test_what_a_server_is_given_in_secret_is_never_printed():
    config = settings(
        {
            "a": {
                "command": "x",
                "env": {"A_TOKEN": "tokentoken", "A_PATH": "/some/where", "N": 1, "B": True},
            },
            "b": {"url": "https://u:password@b.example/", "headers": {"Authorization": "Bearer tokentokens"}},
        }
    )
    assert "tokentoken" not in repr(config.mcp)
    redact = config.redactor()
    assert redact("tokentoken tokentokens password Bearer") == "[redacted] [redacted] [redacted] Bearer"
    assert redact("/some/where") == "/some/where"
    assert [value.reveal() for value in config.mcp.servers["a"].env.values()][2:] == ["1", "true"]
