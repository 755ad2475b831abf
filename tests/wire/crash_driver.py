"""Run as a program: whole turns with tools, killed at random moments or side by side; prints what was lost.

A program of its own, because forking is safe only in a process without threads.
"""

import asyncio
import importlib
import json
import os
import random
import select
import signal
import sys
import time

from hermes.app import Runtime, Terms
from hermes.config import load
from hermes.store import Session, Store
from simulators.chat_completions import ChatSimulator, calls, says

ROUNDS = 3
for slow in ("hermes.net.client", "hermes.transports.chat_completions"):
    importlib.import_module(slow)  # once here, not in each process that may be killed before it has begun


def reply(body):
    """Three rounds of tools for every question, then its answer."""
    places = [at for at, message in enumerate(body["messages"]) if message["role"] == "user"]
    rounds = sum(message["role"] == "tool" for message in body["messages"][places[-1] :])
    if rounds < ROUNDS:
        return calls(("read_file", {"path": f"page{rounds}.txt"}), text="one moment")(body)
    return says(f"answer to {body['messages'][places[-1]]['content'].split()[-1]}")(body)


async def serve(port_to, refusals_to):
    async with ChatSimulator(reply) as server:
        os.write(port_to, f"{server.base_url}\n".encode())
        told = 0
        while True:
            for refusal in server.refusals[told:]:
                os.write(refusals_to, f"{refusal}\n".encode())
            told = len(server.refusals)
            await asyncio.sleep(0.01)


def forked(act, *arguments):
    child = os.fork()
    if child == 0:
        asyncio.run(act(*arguments))
        os._exit(0)
    return child


async def chat(home, url, name, questions, acknowledged):
    """Ask one question after the other; a line is written for every message that was promised to be kept."""
    config = load({"HERMES_HOME": home, "HERMES_MODEL_LOCAL_SERVERS": "false", "CUSTOM_BASE_URL": url})
    append = Store.append

    def append_and_tell(store, session_id, messages, events):
        def tell(done):
            done.result()
            kept = "".join(map(written, messages))
            os.write(acknowledged, (json.dumps([name, kept]) + "\n").encode())

        appended = append(store, session_id, messages, events)
        appended.add_done_callback(tell)
        return appended

    Store.append = append_and_tell
    async with Runtime(config) as runtime:
        store = runtime.store()
        session = await store.find("s")
        terms = Terms(model="custom/m", tools=("file",), session=session, history=await store.messages("s"))
        dialogue = runtime.converse(terms)
        for number in range(questions):
            await dialogue.ask(f"question {name}:{number}", lambda _event: None)


async def begin(path):
    store = Store.open(path)
    await store.create(Session("s", "", 0, 0, "custom", "m", "/"))
    await store.close()


async def look(path):
    store = Store.open(path)
    messages = await store.messages("s")
    problems = [*await store.check(), *store.notices]
    status = (await store.find("s")).status
    await store.close()
    return messages, problems, status


def written(message):
    return f"{message.role} {message.content} {message.tool_call_id}"[:200]


def heard(reader, lines):
    """What a process promised, once it has done so this often: by the clock, a busy machine would be late."""
    told = b""
    while told.count(b"\n") < lines and select.select([reader], [], [], 10)[0]:
        part = os.read(reader, 65_536)
        if not part:
            break
        told += part
    return told


def kill_talks(home, path, url, kills):
    """Each process takes the session up, asks until it is killed, and leaves the rest to the next one."""
    problems, promised, statuses = [], 0, set()
    before = ()
    for name in range(kills):
        reader, acknowledged = os.pipe()
        child = forked(chat, home, url, name, 1_000, acknowledged)
        os.close(acknowledged)
        told = heard(reader, random.randint(1, 8) if name % 4 else 0)
        time.sleep(random.uniform(0, 0.05 if told else 0.25))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            problems.append(f"process {name} ended by itself")
        with open(reader, "rb") as rest:
            told += rest.read()
        kept = [json.loads(line)[1] for line in told.split(b"\n")[:-1]]
        promised += len(kept)
        messages, faults, marked = asyncio.run(look(path))
        problems += faults
        statuses.add(marked)
        if messages[: len(before)] != before:
            problems.append(f"what was there before process {name} has changed")
        added = "".join(map(written, messages[len(before) :]))
        if not added.startswith("".join(kept)):
            problems.append(f"process {name} lost what it had promised")
        before = messages
    return {"problems": problems, "promised": promised, "statuses": sorted(statuses)}


def talk_at_once(home, path, url, talkers):
    """Several processes ask in one session at the same time, and one more takes it up when they are done."""
    null = os.open(os.devnull, os.O_WRONLY)
    children = [forked(chat, home, url, name, 4, null) for name in range(talkers)]
    codes = [os.waitpid(child, 0)[1] for child in children]
    last = os.waitpid(forked(chat, home, url, "last", 1, null), 0)[1]
    messages, problems, status = asyncio.run(look(path))
    said = [message.content for message in messages]
    wanted = [f"{name}:{number}" for name in range(talkers) for number in range(4)]
    lost = [one for one in wanted if f"question {one}" not in said or f"answer to {one}" not in said]
    return {"problems": problems, "lost": lost, "codes": {*codes, last} == {0}, "statuses": [status]}


def main(act, folder, times, seed):
    random.seed(seed)
    os.chdir(folder)
    for number in range(ROUNDS):
        with open(f"page{number}.txt", "w") as file:
            file.write("words of a page\n" * random.randint(1, 300))
    home = os.path.join(folder, "home")
    path = os.path.join(home, "sessions.db")
    asyncio.run(begin(path))
    ports, port_to = os.pipe()
    refusals, refusals_to = os.pipe()
    server = forked(serve, port_to, refusals_to)
    with os.fdopen(ports) as lines:
        url = lines.readline().strip()
    try:
        report = {"kill": kill_talks, "race": talk_at_once}[act](home, path, url, int(times))
    finally:
        time.sleep(0.05)
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)
    os.close(refusals_to)
    with os.fdopen(refusals) as lines:
        report["refusals"] = lines.read().splitlines()
    print(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:])
