"""`hermes chat --image`: pictures go with the question; what is none is refused before anything is sent."""

import asyncio
import base64

import pytest

from simulators.chat_completions import ChatSimulator, says

PNG = b"\x89PNG\r\n\x1a\n" + b"not much of a picture"
GIF = b"GIF89a and so on"


@pytest.fixture
def pictures(tmp_path):
    (tmp_path / "one.png").write_bytes(PNG)
    (tmp_path / "two").write_bytes(GIF)
    return ("--image", "one.png", "--image", "two")


async def test_pictures_go_with_the_question_in_their_order(hermes, pictures):
    async with ChatSimulator(says("Two.")) as server:
        outcome = await hermes(
            "chat", "-q", "How many?", "-m", "custom/m", *pictures, CUSTOM_BASE_URL=server.base_url
        )
        assert server.refusals == []
    assert (outcome.code, outcome.out) == (0, "Two.\n")
    words, *shown = server.bodies[0]["messages"][-1]["content"]
    assert words == {"type": "text", "text": "How many?"}
    assert [part["image_url"]["url"] for part in shown] == [
        f"data:image/png;base64,{base64.b64encode(PNG).decode()}",
        f"data:image/gif;base64,{base64.b64encode(GIF).decode()}",
    ]
    told = f"(a picture: image/png, {len(PNG)} bytes)\n(a picture: image/gif, {len(GIF)} bytes)"
    assert f"[you]\nHow many?\n{told}" in (await hermes("sessions", "show", "How many?")).out


async def test_at_the_prompt_they_go_with_the_first_question_alone(terminal, pictures):
    async with ChatSimulator(says("ok.")) as server:
        screen = terminal("chat", "-m", "custom/m", *pictures, CUSTOM_BASE_URL=server.base_url, TERM="dumb")
        for question in ("What is this?", "And now?"):
            await asyncio.to_thread(screen.wait_for, r"> ")
            screen.type(f"{question}\n")
            await asyncio.to_thread(screen.wait_for, r"ok\.")
        screen.type("\x04")
        assert await asyncio.to_thread(screen.leave) == 0
    first, second = (body["messages"] for body in server.bodies)
    assert len(first[1]["content"]) == 3
    assert second[1] == first[1]
    assert second[-1]["content"] == "And now?"


async def test_a_model_that_sees_nothing_answers_the_words_and_says_so(hermes, pictures):
    outcome = await hermes("chat", "-q", "What is scout?", *pictures)
    assert outcome.code == 0
    assert outcome.out.startswith("Scout is the built-in model of Hermes")
    assert "note: `scout/scout-1` takes no pictures" in outcome.err


@pytest.mark.parametrize(
    ("name", "words"),
    [("nowhere.png", "No such file"), (".", "Is a directory"), ("letter.png", "holds no picture")],
)
async def test_what_is_no_picture_is_a_mistake_and_nothing_is_sent(hermes, tmp_path, name, words):
    (tmp_path / "letter.png").write_text("dear Ann")
    async with ChatSimulator(says("ok")) as server:
        asked = ("chat", "-q", "hi", "-m", "custom/m", "--image", name)
        outcome = await hermes(*asked, CUSTOM_BASE_URL=server.base_url)
    assert (outcome.code, outcome.out, server.bodies) == (2, "", [])
    assert f"`{name}`" in outcome.err
    assert words in outcome.err
    assert "\nhint: " in outcome.err
