"""A stand-in for the package `ddgs`: its names and signatures, with one server on loopback as its engine.

The server is what `FAKE_DDGS_URL` says. It is asked with the call as JSON and answers with the rows as a
list, or with an object that says what to raise.
"""

import json
import os
from urllib.request import Request, urlopen

from ddgs import exceptions

__version__ = "9.16.1"


class DDGS:
    def __init__(self, proxy=None, timeout=5, *, verify=True):
        self._timeout = timeout

    def text(self, query, **kwargs):
        return self._search("text", query, **kwargs)

    def news(self, query, **kwargs):
        return self._search("news", query, **kwargs)

    def _search(
        self,
        category,
        query,
        *,
        region="us-en",
        safesearch="moderate",
        timelimit=None,
        max_results=10,
        page=1,
        backend="auto",
    ):
        call = {
            "category": category,
            "query": query,
            "region": region,
            "safesearch": safesearch,
            "timelimit": timelimit,
            "max_results": max_results,
            "backend": backend,
            "timeout": self._timeout,
        }
        request = Request(os.environ["FAKE_DDGS_URL"], data=json.dumps(call).encode())
        with urlopen(request, timeout=self._timeout) as reply:
            answer = json.load(reply)
        if isinstance(answer, dict):
            known = getattr(exceptions, answer["raise"], ValueError)
            raise known(answer["words"])
        return answer
