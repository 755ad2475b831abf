"""`hermes serve` as a process: it says where it is, answers, and stops when it is told to."""

import asyncio
import json
import re
import signal
import urllib.request

PATIENCE = 20


async def _started(hermes, *arguments):
    process = await hermes.start("serve", "--port", "0", *arguments)
    said = ""
    async with asyncio.timeout(PATIENCE):
        while "token" not in said:
            said += (await process.stderr.readline()).decode()
    return process, said, re.search(r"http://[\d.]+:\d+", said)[0]


def _asked(url, token, body):
    request = urllib.request.Request(
        f"{url}/v1/chat/completions",
        data=json.dumps(body).encode(),
        headers={"authorization": f"Bearer {token}", "content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
        return json.loads(reply.read())


async def test_the_server_tells_its_token_once_answers_and_drains(hermes):
    process, said, url = await _started(hermes)
    token = re.search(r"#token=(\S+)", said)[1]
    body = {"model": "hermes", "messages": [{"role": "user", "content": "What is scout?"}]}
    answer = await asyncio.to_thread(_asked, url, token, body)
    assert answer["citations"]
    assert answer["choices"][0]["message"]["annotations"]
    process.send_signal(signal.SIGTERM)
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert (process.returncode, out, err) == (0, b"", b"")
    process, said, _ = await _started(hermes)
    assert "#token" not in said
    assert token not in said
    process.send_signal(signal.SIGINT)
    await asyncio.wait_for(process.communicate(), PATIENCE)
    assert process.returncode == 0
