"""`hermes x` in a real process, against a strict server on loopback."""

import json

import pytest

from simulators.xai import KEY, XaiSimulator, fails, says

POSTS = [f"https://x.com/i/status/{number}" for number in (11, 22, 33)]


async def test_the_answer_and_its_posts_are_printed_like_those_of_the_web(hermes):
    text = f"One [[2]]({POSTS[0]}), two [[1]]({POSTS[1]})."
    cited = [{"url": POSTS[0], "title": "2"}, {"url": POSTS[1], "title": "A post"}]
    async with XaiSimulator(says(text, cited=cited, citations=POSTS)) as server:
        outcome = await hermes("x", "what?", XAI_API_KEY=KEY, XAI_BASE_URL=server.base_url)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == (
        f"{text}\n\n[1] A post  {POSTS[1]}  (not verified)\n[2] {POSTS[0]}  {POSTS[0]}  (not verified)\n"
    )


async def test_every_option_reaches_the_server_and_a_follow_up_goes_on(hermes, tmp_path):
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "object", "required": ["a"]}')
    place = {"XAI_API_KEY": KEY}
    script = (says('{"b": 1}', searches=1), says(lambda before: before[0][1]))
    async with XaiSimulator(*script) as server:
        place["XAI_BASE_URL"] = server.base_url
        first = await hermes(
            *("x", "q", "--allow", "@a,b", "--allow", "c", "--from", "2026-1-5", "--to", "2026-01-06"),
            *("--images", "--videos", "--schema", str(schema), "--instructions", "Be brief", "--store"),
            **place,
        )
        (id,) = server.stored
        second = await hermes("x", "and?", "--previous", id, "--instructions", "no", "--json", **place)
    assert server.refusals == []
    body = server.bodies[0]
    assert body["tools"] == [
        {
            "type": "x_search",
            "allowed_x_handles": ["a", "b", "c"],
            "from_date": "2026-01-05",
            "to_date": "2026-01-06",
            "enable_image_understanding": True,
            "enable_video_understanding": True,
        }
    ]
    assert (first.code, first.out) == (0, '{"b": 1}\n')
    assert "note: no post is cited, although X was searched by allowed_x_handles" in first.err
    assert "note: the answer does not keep the schema" in first.err
    assert f"`--previous {id}`" in first.err
    assert second.out.count("\n") == 1
    assert (second.json()["success"], second.json()["answer"]) == (True, '{"b": 1}')
    assert "`instructions` is left out" in second.err


@pytest.mark.parametrize("as_json", [True, False])
async def test_what_cannot_be_asked_exits_with_2(hermes, as_json):
    flags = ["--json"] if as_json else []
    outcome = await hermes("x", "q", "--allow", "a", "--exclude", "b", *flags, XAI_API_KEY=KEY)
    words = "`allowed_x_handles` and `excluded_x_handles` cannot be used together"
    assert (outcome.code, outcome.err) == (2, f"error: {words}\nhint: see `hermes x --help`\n")
    assert outcome.out == (json.dumps({"error": words}, separators=(",", ":")) + "\n" if as_json else "")


async def test_without_a_key_it_says_what_is_missing(hermes):
    outcome = await hermes("x", "q")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error: No xAI credentials\nhint: set `XAI_API_KEY`")


async def test_a_refused_key_exits_with_1_and_stays_hidden(hermes):
    async with XaiSimulator(fails(403, f"{KEY} may not", "forbidden")) as server:
        outcome = await hermes("x", "q", "--json", XAI_API_KEY=KEY, XAI_BASE_URL=server.base_url)
    assert outcome.code == 1
    assert outcome.json()["error"] == "forbidden: [redacted] may not"
    assert outcome.err == "error: forbidden: [redacted] may not\nhint: check the key in `XAI_API_KEY`\n"


async def test_doctor_and_tools_say_which_credential_serves(hermes):
    def found(outcome):
        return next(row for row in outcome.json()["checks"] if row["check"] == "x_search")

    without = found(await hermes("doctor", "--offline", "--json"))
    assert (without["status"], without["detail"]) == ("ok", "not offered: No xAI credentials")
    signed = await hermes("doctor", "--offline", "--json", HERMES_X_SEARCH_CREDENTIAL_SOURCE="oauth")
    assert found(signed)["status"] == "warning"
    keyed = found(await hermes("doctor", "--offline", "--json", XAI_API_KEY=KEY))
    assert keyed["detail"] == "grok-4.5 at https://api.x.ai/v1, with the API key in `XAI_API_KEY`"
    tools = (await hermes("tools", "--json", XAI_API_KEY=KEY)).json()["tools"]
    assert next(tool for tool in tools if tool["name"] == "x_search")["lacks"] is None
