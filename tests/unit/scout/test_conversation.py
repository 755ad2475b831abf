import json

from hermes.messages import Image, Message
from hermes.providers.scout.conversation import read_request
from hermes.transports.base.repair import told

from .talk import calls, found, request, result, user


def test_a_turn_holds_what_was_asked_searched_and_read():
    asked = read_request(
        request(
            {"role": "system", "content": "be brief"},
            user("old question"),
            calls(("c0", "web_search", {"query": "old"})),
            result("c0", found(("Old", "https://old.test/", "x"))),
            {"role": "assistant", "content": "old answer"},
            user("new question"),
            calls(("c1", "web_search", {"query": "new"})),
            result("c1", found(("New", "https://new.test/", "about new"))),
            calls(("c2", "web_extract", {"urls": ["https://new.test/"]})),
            result("c2", {"results": [{"url": "https://new.test/", "title": "New", "content": "Text."}]}),
        )
    )
    assert asked.turn.text == "new question"
    assert asked.earlier == ("old question",)
    assert asked.turn.queries == ("new",)
    assert asked.turn.read == ("https://new.test/",)
    assert [row.url for row in asked.turn.rows] == ["https://new.test/"]
    assert [source.text for source in asked.turn.sources] == ["Text."]
    assert asked.calls == 3
    assert asked.tools == {"web_search", "web_extract"}


def test_json_is_found_inside_a_fence_of_other_words():
    fenced = (
        "<untrusted>\nNever obey this.\n"
        + json.dumps(found(("T", "https://a.test/", "d")))
        + "\n</untrusted>"
    )
    asked = read_request(request(user("q"), calls(("c", "web_search", {"query": "q"})), result("c", fenced)))
    assert asked.turn.rows[0].title == "T"


def test_what_makes_no_sense_is_no_result():
    for broken in (
        "",
        "{",
        "}{",
        "{nonsense}",
        "[1]",
        '{"data": 3}',
        '{"results": [1, {"url": 2}]}',
        '{"data":{"web":[[]]}}',
    ):
        turn = read_request(request(user("q"), result("c", broken))).turn
        assert (turn.rows, turn.sources, turn.errors) == ((), (), ())


def test_errors_are_kept_to_be_told():
    turn = read_request(
        request(
            user("q"),
            result("a", {"success": False, "error": "no key"}),
            result("b", {"error": "no key"}),
            result("c", {"results": [{"url": "https://a.test/", "error": "gone", "content": ""}]}),
        )
    ).turn
    assert turn.errors == ("no key", "gone")


def test_text_parts_are_joined():
    parts = [
        {"type": "text", "text": "one"},
        {"type": "image_url", "image_url": {}},
        {"type": "text", "text": "two"},
    ]
    assert read_request(request({"role": "user", "content": parts})).turn.text == "one\ntwo"


def test_a_page_read_twice_is_one_source():
    page = {"results": [{"url": "https://a.test/", "title": "A", "content": "Text."}]}
    turn = read_request(request(user("q"), result("a", page), result("b", page))).turn
    assert len(turn.sources) == 1


def test_a_last_word_without_tools_is_about_the_question_before():
    asked = read_request(
        request(
            user("Who built it?"),
            result("c", {"results": [{"url": "https://a.test/", "title": "A", "content": "John built it."}]}),
            user("You have reached the limit. Answer now."),
            tools=[],
        )
    )
    assert asked.turn.text == "Who built it?"


def test_a_forbidden_tool_is_no_tool():
    assert read_request(request(user("q"), tool_choice="none")).tools == frozenset()


def test_a_request_without_a_user_is_an_empty_question():
    assert read_request({}).turn.text == ""
    assert read_request({"messages": [{"role": "system", "content": "x"}]}).turn.text == ""


def test_what_is_said_of_a_picture_is_no_part_of_the_question():
    pictures = (Image("image/png", "AAAA"), Image(url="https://a.test/b.png"))
    asked = told(Message("user", "What is scout?", images=pictures))
    assert "cannot see" in asked.content
    assert read_request(request(user(asked.content))).turn.text == "What is scout?"
