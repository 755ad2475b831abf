"""An MCP server as a program without an SDK: it starts at once, and misbehaves as a test wants it.

    python mcp_program.py FOLDER

`FOLDER/tools.json` holds what it lists, read anew for every list. What it is started with is written to
`FOLDER/started`, one line of JSON for every start; what it is told to cancel to `FOLDER/cancelled`.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

EMPTY = {"type": "object", "properties": {}}


def main(folder: Path) -> None:
    note(folder / "started", {"pid": os.getpid(), "env": dict(os.environ)})
    if (folder / "stubborn").exists():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.stderr.write("started, and saying so\n")
    time.sleep(float(os.environ.get("SLOW", "0")))
    while line := sys.stdin.readline():
        hear(json.loads(line), folder)
    while (folder / "stubborn").exists():
        time.sleep(0.05)


def note(path: Path, value: object) -> None:
    with path.open("a") as file:
        file.write(json.dumps(value) + "\n")


def say(message: dict) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def hear(message: dict, folder: Path) -> None:
    match message:
        case {"method": "initialize", "id": id, "params": {"protocolVersion": version}}:
            info = {"name": "program", "version": "1"}
            shown = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
            say({"id": id, "result": shown})
        case {"method": "tools/list", "id": id}:
            say({"id": id, "result": {"tools": json.loads((folder / "tools.json").read_text())}})
        case {"method": "tools/call", "id": id, "params": params}:
            call(id, params, folder)
        case {"method": "notifications/cancelled"}:
            note(folder / "cancelled", message["params"])
        case {"id": id, "method": _}:
            say({"id": id, "error": {"code": -32601, "message": "what is that"}})


def call(id: int, params: dict, folder: Path) -> None:
    given = params.get("arguments") or {}
    content: list[dict] = [{"type": "text", "text": json.dumps(given)}]
    match params["name"]:
        case "crash":
            os._exit(3)
        case "hang":
            return
        case "huge":
            content = [{"type": "text", "text": "x" * given["size"]}]
        case "endless":
            sys.stdout.write("x" * (17 << 20))
            sys.stdout.flush()
            return
        case "child":
            child = subprocess.Popen(["sleep", "60"])
            content = [{"type": "text", "text": str(child.pid)}]
        case "picture":
            content = [
                {"type": "image", "data": "aGk=", "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "file:///a", "text": "held"}},
                {"type": "resource_link", "uri": "file:///b", "name": "b"},
            ]
        case "steps":
            token = params["_meta"]["progressToken"]
            told = {"progressToken": token, "progress": 1, "message": "half\u202e way"}
            say({"method": "notifications/progress", "params": told})
    say({"id": id, "result": {"content": content, "isError": params["name"] == "fails"}})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
