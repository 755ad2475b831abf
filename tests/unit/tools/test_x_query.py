"""What may be asked of X, and the request that it becomes."""

from datetime import date, timedelta

import pytest
from hypothesis import given as supposing
from hypothesis import strategies as st

from hermes.errors import UsageError
from hermes.tools.x_search import TOOL
from hermes.tools.x_search.query import MOST_HANDLES, Given, judge
from simulators.xai import refusal

TODAY = date(2026, 5, 15)


def fields(**arguments):
    return judge(Given(**{"query": "q", **arguments}), TODAY).fields()


def test_a_plain_question_is_asked_of_x_alone_and_not_kept():
    assert fields(query="  what is new?\n") == {
        "input": [{"role": "user", "content": "what is new?"}],
        "tools": [{"type": "x_search"}],
        "store": False,
    }


def test_what_narrows_the_search_stands_in_the_tool():
    asked = fields(
        allowed_x_handles=["xai", "@grok", "@@a ", "", "@", " "],
        from_date="2026-05-01",
        to_date="2026-05-10",
        enable_image_understanding=True,
    )
    assert asked["tools"] == [
        {
            "type": "x_search",
            "allowed_x_handles": ["xai", "grok", "a"],
            "from_date": "2026-05-01",
            "to_date": "2026-05-10",
            "enable_image_understanding": True,
        }
    ]
    assert asked["store"] is False


def test_excluded_handles_and_videos_are_sent_too():
    tool = fields(excluded_x_handles=["a"], enable_video_understanding=True)["tools"][0]
    assert tool == {"type": "x_search", "excluded_x_handles": ["a"], "enable_video_understanding": True}


def test_a_handle_that_stands_alone_is_a_list_of_one():
    assert fields(allowed_x_handles="@grok")["tools"][0]["allowed_x_handles"] == ["grok"]


def test_a_date_is_sent_in_its_iso_form():
    tool = fields(from_date="2026-1-5", to_date=" 2026-01-7 ")["tools"][0]
    assert (tool["from_date"], tool["to_date"]) == ("2026-01-05", "2026-01-07")


@pytest.mark.parametrize("blank", [None, "", "  "])
def test_what_is_blank_or_null_is_not_sent(blank):
    plain = fields(from_date=blank, to_date=blank, instructions=blank, previous_response_id=blank)
    assert plain == fields()


def test_from_today_and_up_to_a_day_to_come_are_fine():
    tool = fields(from_date=str(TODAY), to_date=str(TODAY + timedelta(days=40)))["tools"][0]
    assert tool["from_date"] == "2026-05-15"


def test_a_schema_is_sent_flat_and_strict():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    form = fields(output_schema=schema)["text"]["format"]
    assert form == {"type": "json_schema", "name": "answer", "strict": True, "schema": schema}


def test_an_empty_schema_counts_as_given():
    assert fields(output_schema={})["text"]["format"]["schema"] == {}


def test_instructions_stand_on_top():
    assert fields(instructions=" Be brief ")["instructions"] == "Be brief"


@pytest.mark.parametrize("store", [True, False])
def test_what_goes_on_from_an_answer_is_kept_and_takes_no_instructions(store):
    asked = fields(previous_response_id=" r1 ", instructions="Be brief", store=store)
    assert (asked["previous_response_id"], asked["store"]) == ("r1", True)
    assert "instructions" not in asked


def test_an_answer_is_kept_when_asked_for():
    assert fields(store=True)["store"] is True


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"query": ""}, "`query` is empty"),
        ({"query": " \n"}, "`query` is empty"),
        ({"allowed_x_handles": [f"h{n}" for n in range(11)]}, "`allowed_x_handles` takes at most 10"),
        ({"excluded_x_handles": [f"h{n}" for n in range(11)]}, "`excluded_x_handles` takes at most 10"),
        ({"allowed_x_handles": ["a"], "excluded_x_handles": ["b"]}, "cannot be used together"),
        ({"from_date": "2026-05-10", "to_date": "2026-05-01"}, "is after `to_date`"),
        ({"from_date": "2026-05-16"}, "is in the future: today is 2026-05-15 in UTC"),
        ({"from_date": "yesterday"}, "`from_date` must be a date as YYYY-MM-DD, not `yesterday`"),
        ({"to_date": "2026-02-30"}, "`to_date` must be a date"),
        ({"to_date": "05/01/2026"}, "`to_date` must be a date"),
        ({"to_date": "\uff12026-01-01"}, "`to_date` must be a date"),
        ({"output_schema": "x"}, "`output_schema` must be a JSON object"),
        ({"output_schema": []}, "`output_schema` must be a JSON object"),
    ],
)
def test_what_cannot_be_asked_is_said(arguments, words):
    with pytest.raises(UsageError, match=words):
        fields(**arguments)


def test_ten_handles_and_blanks_beside_them_are_fine():
    tool = fields(allowed_x_handles=[f"h{n}" for n in range(10)] + [" ", "@"])["tools"][0]
    assert len(tool["allowed_x_handles"]) == 10
    assert fields(allowed_x_handles=["a"], excluded_x_handles=[" "])["tools"][0]["allowed_x_handles"] == ["a"]


def test_the_model_is_told_how_many_handles_there_may_be():
    properties = TOOL.spec.parameters["properties"]
    for name in ("allowed_x_handles", "excluded_x_handles"):
        assert properties[name]["maxItems"] == MOST_HANDLES


_blank_or = st.one_of(st.none(), st.sampled_from(["", "  "]))
_days = st.dates(date(2020, 1, 1), date(2027, 1, 1)).map(str)
_handles = st.lists(st.from_regex(r"[ @]{0,2}[a-z0-9_]{0,12} ?", fullmatch=True), max_size=12)


@supposing(
    query=st.text(max_size=8),
    allowed_x_handles=_handles | _blank_or,
    excluded_x_handles=_handles | _blank_or,
    from_date=_days | _blank_or,
    to_date=_days | _blank_or,
    enable_image_understanding=st.booleans(),
    enable_video_understanding=st.booleans(),
    output_schema=st.none() | st.just({}) | st.just({"type": "object"}),
    instructions=st.text(max_size=8) | _blank_or,
    previous_response_id=st.sampled_from(["r1", " r2 "]) | _blank_or,
    store=st.booleans(),
)
def test_whatever_is_given_is_refused_here_or_taken_there(**arguments):
    try:
        body = {"model": "m", **fields(**arguments)}
    except UsageError:
        return
    assert refusal("/v1/responses", body) is None
