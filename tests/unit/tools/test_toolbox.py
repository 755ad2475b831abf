"""The toolbox: the schema follows the signature, arguments are made to fit, tools are chosen by name."""

from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.errors import ToolError, UnknownName, UnknownTool
from hermes.protocols import Concern, ToolResult
from hermes.tools.base import Param, tool
from hermes.tools.toolbox import Toolbox, select


async def sample(
    services: object,
    name: Annotated[str, Param("Who.")],
    size: Annotated[int, Param("How big.", minimum=1, maximum=9)] = 3,
    tags: list[str] | None = None,
    exact: bool = False,
    mode: Literal["fast", "slow"] = "fast",
    weight: float | None = None,
    extra: dict[str, Any] | None = None,
    marks: list[int] | None = None,
    odd: Annotated[int, Param("Anything.", loose=True)] = 0,
) -> ToolResult:
    """Do a thing
    in two lines.

    What the model does not read.
    """
    return ToolResult(text=repr((name, size, tags, exact, mode)))


SAMPLE = tool(sample, toolset="test", effect="changes")
BOX = Toolbox([SAMPLE], object())


def test_the_signature_is_the_schema():
    assert SAMPLE.spec.description == "Do a thing in two lines."
    assert SAMPLE.spec.parameters == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Who."},
            "size": {"type": "integer", "default": 3, "description": "How big.", "minimum": 1, "maximum": 9},
            "tags": {"type": "array", "items": {"type": "string"}},
            "exact": {"type": "boolean", "default": False},
            "mode": {"type": "string", "enum": ["fast", "slow"], "default": "fast"},
            "weight": {"type": "number"},
            "extra": {"type": "object"},
            "marks": {"type": "array", "items": {"type": "integer"}},
            "odd": {"type": "integer", "default": 0, "description": "Anything."},
        },
        "required": ["name"],
    }


@pytest.mark.parametrize(
    ("given", "fitted"),
    [
        ({"size": "5"}, {"size": 5}),
        ({"size": " -5 "}, {"size": -5}),
        ({"size": 5.0}, {"size": 5}),
        ({"exact": "true"}, {"exact": True}),
        ({"exact": "False"}, {"exact": False}),
        ({"tags": "one"}, {"tags": ["one"]}),
        ({"tags": '["a", "b"]'}, {"tags": ["a", "b"]}),
        ({"tags": "[not json"}, {"tags": ["[not json"]}),
        ({"tags": [1]}, {"tags": ["1"]}),
        ({"tags": None, "size": None}, {}),
        ({"marks": "3"}, {"marks": [3]}),
        ({"marks": '["3", 4]'}, {"marks": [3, 4]}),
        ({"weight": "1.5"}, {"weight": 1.5}),
        ({"weight": 2}, {"weight": 2}),
        ({"weight": 10**400}, {"weight": 10**400}),
        ({"extra": '{"a": 1}'}, {"extra": {"a": 1}}),
        ({"mode": "slow"}, {"mode": "slow"}),
        ({"odd": "abc"}, {"odd": "abc"}),
        ({"size": 99}, {"size": 99}),
    ],
)
def test_arguments_are_made_to_fit(given, fitted):
    assert BOX.fit("sample", {"name": "x", **given}) == {"name": "x", **fitted}


def test_a_number_for_a_text_is_that_text():
    assert BOX.fit("sample", {"name": 7}) == {"name": "7"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "`sample` needs `name`"),
        ({"name": None}, "`sample` needs `name`"),
        ({"name": "x", "nmae": 1}, "has no parameter `nmae`; did you mean `name`"),
        ({"name": "x", "zzz": 1}, "has no parameter `zzz`; it takes `name`, `size`"),
        ({"name": True}, "`name` of `sample` must be text, not true"),
        ({"name": {"a": 1}}, "`name` of `sample` must be text, not an object"),
        ({"name": "x", "size": "many"}, '`size` of `sample` must be a whole number, not "many"'),
        ({"name": "x", "size": 1.5}, "must be a whole number"),
        ({"name": "x", "size": True}, "must be a whole number, not true"),
        ({"name": "x", "size": "9" * 5000}, "must be a whole number"),
        ({"name": "x", "exact": "perhaps"}, "must be true or false"),
        ({"name": "x", "weight": "heavy"}, "must be a number"),
        ({"name": "x", "weight": "nan"}, "must be a number"),
        ({"name": "x", "mode": "medium"}, "must be one of `fast`, `slow`"),
        ({"name": "x", "tags": [{}]}, "a list in which each item is text"),
        ({"name": "x", "extra": "[1]"}, "must be an object"),
        ({"name": "x", "extra": "[" * 100_000}, "must be an object"),
    ],
)
def test_what_does_not_fit_is_named_with_what_it_must_be(given, said):
    with pytest.raises(ToolError) as caught:
        BOX.fit("sample", given)
    assert said in str(caught.value)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(list(SAMPLE.spec.parameters["properties"])), _json))
def test_what_fits_once_fits_again_unchanged(arguments):
    try:
        fitted = BOX.fit("sample", {"name": "x", **arguments})
    except ToolError:
        return
    assert repr(BOX.fit("sample", fitted)) == repr(fitted)


async def test_a_tool_is_called_with_its_arguments():
    assert (await BOX.call("sample", {"name": "x", "size": "4"})).text == "('x', 4, None, False, 'fast')"


async def test_an_unknown_tool_offers_the_nearest():
    for call in (BOX.fit, BOX.effect):
        with pytest.raises(UnknownTool, match="did you mean sample"):
            call("smaple", *([{}] if call == BOX.fit else []))
    with pytest.raises(UnknownTool, match="there are sample"):
        await BOX.call("zzz", {})
    with pytest.raises(UnknownTool, match="there are none"):
        await Toolbox([], object()).call("sample", {})


def test_a_tool_says_what_it_does_to_the_world():
    assert BOX.effect("sample") == "changes"


async def test_a_tool_that_lacks_something_is_not_offered_and_says_why():
    lacking = tool(sample, toolset="test", missing=lambda services: f"no {services}")
    box = Toolbox([lacking], "paper")
    assert box.specs() == ()
    assert box.why_not() == {"sample": "no paper"}
    with pytest.raises(ToolError, match="`sample` cannot be used: no paper"):
        await box.call("sample", {"name": "x"})
    assert BOX.why_not() == {}


def names(*wanted):
    return {found.spec.name for found in select(wanted)}


def test_tools_are_chosen_by_name_or_toolset():
    assert names("web") == {"web_search", "web_extract"}
    assert names("terminal") == {"terminal"}
    assert names("file") == {"read_file", "write_file", "patch", "list_files", "search_files"}
    assert names("memory") == {"memory"}
    assert names("web_search", "memory") == {"web_search", "memory"}
    assert names("all") == names("web", "x_search", "terminal", "file", "memory")
    assert names("none") == names() == set()
    with pytest.raises(UnknownName) as caught:
        select(["termnal"])
    assert "`terminal`" in caught.value.hint


def _asks(services, arguments):
    return Concern(kind=services["kind"], action=arguments["name"], reason="why", rules=services["rules"])


JUDGED = tool(sample, toolset="test", concern=_asks)


def judged(kind="ask", rules=("a",), action="x"):
    return Concern(kind=kind, action=action, reason="why", rules=rules)


def test_what_a_tool_says_against_a_call_is_asked_of_it():
    assert BOX.concern("sample", {"name": "x"}) is None
    assert Toolbox([JUDGED], {"kind": "ask", "rules": ("a",)}).concern("sample", {"name": "x"}) == judged()


@pytest.mark.parametrize(
    ("now", "consented", "runs"),
    [
        (judged(), None, False),
        (judged(), judged(), True),
        (judged(), judged(rules=("a", "b")), True),
        (judged(rules=("a", "b")), judged(), False),
        (judged(), judged(action="y"), False),
        (judged(), judged(kind="free"), False),
        (judged(kind="free"), None, True),
        (judged(kind="forbidden"), judged(), False),
    ],
)
async def test_a_call_is_run_only_as_far_as_it_was_consented_to(now, consented, runs):
    box = Toolbox([JUDGED], {"kind": now.kind, "rules": now.rules})
    if runs:
        assert "x" in (await box.call("sample", {"name": "x"}, consented)).text
        return
    with pytest.raises(ToolError, match=r"not consented|never run"):
        await box.call("sample", {"name": "x"}, consented)
