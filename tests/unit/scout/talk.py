"""Chat-completions requests and tool results, built in few words."""

import json


def user(text):
    return {"role": "user", "content": text}


def calls(*named):
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for id, name, arguments in named
        ],
    }


def result(id, value):
    return {
        "role": "tool",
        "tool_call_id": id,
        "content": value if isinstance(value, str) else json.dumps(value),
    }


def found(*rows):
    web = [{"title": t, "url": u, "description": d, "position": n} for n, (t, u, d) in enumerate(rows, 1)]
    return {"success": True, "data": {"web": web}}


TOOLS = [{"type": "function", "function": {"name": name}} for name in ("web_search", "web_extract")]


def request(*messages, tools=TOOLS, **more):
    return {"model": "scout-1", "messages": list(messages), "tools": tools, **more}
