"""The caller's own tools, whichever protocol the model behind the server speaks."""

import json

import msgspec
import pytest

from simulators.serving import client, serving
from simulators.wires import WIRES

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather.",
        "parameters": {"type": "object", "properties": {"town": {"type": "string"}}},
    },
}
QUESTION = [{"role": "user", "content": "what is the weather?"}]


@pytest.mark.parametrize("name", WIRES)
async def test_a_callers_tool_goes_back_and_forth_and_signed_thoughts_go_with_it(tmp_path, name):
    wire = WIRES[name]
    script = (
        wire.calls(("web_search", {"query": "scout", "limit": 1})),
        wire.calls(("weather", {"town": "Ulm"})),
        wire.says("It rains. [1]"),
    )
    async with wire.simulator(*script) as model, serving(wire.settings(tmp_path, model)) as server:
        async with client(server) as ask:
            given = {"model": wire.model, "tools": [WEATHER]}
            first = await ask.chat.completions.create(messages=QUESTION, **given)
            message = first.choices[0].message
            (call,) = message.tool_calls
            result = {"role": "tool", "tool_call_id": call.id, "content": "rain"}
            history = [*QUESTION, message.model_dump(exclude_none=True), result]
            last = await ask.chat.completions.create(messages=history, **given)
        assert model.refusals == []
        said = wire.messages(model.bodies[-1])
    assert json.loads(call.function.arguments) == {"town": "Ulm"}
    assert last.choices[0].message.content == "It rains. [1]"
    assert last.choices[0].message.annotations
    # The model sees what it said before, byte for byte: its thoughts, its search, and what it found.
    before = wire.messages(model.bodies[1])
    assert msgspec.json.encode(said[: len(before)]) == msgspec.json.encode(before)
