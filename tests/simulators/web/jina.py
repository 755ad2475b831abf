"""Jina's reader and search on one server, as its own code serves them."""

import re

import msgspec

from simulators.web.base import KEY, Vendor, only, unknown_headers

_SEARCH = {"q", "gl", "hl", "location", "num", "page"}
_READ = {"url", "viewport", "injectPageScript"}


class Jina(Vendor):
    most = 20

    def environ(self):
        return {"JINA_API_KEY": KEY, "JINA_BASE_URL": self.url}

    def problem_with(self, asked):
        if asked.method != "POST" or asked.path not in ("/", "/search") or asked.params:
            return f"no route {asked.method} {asked.path}"
        if asked.headers.get("accept") != "application/json":
            return "the answer would be Markdown"
        if asked.path == "/":
            missing = None if asked.body.get("url", "").startswith("http") else "url is required"
            return missing or unknown_headers(asked, "authorization") or only(asked.body, _READ, "field")
        return (
            self._search(asked)
            or unknown_headers(asked, "authorization", "x-respond-with")
            or only(asked.body, _SEARCH, "field")
        )

    def _search(self, asked):
        if not asked.body.get("q") or not 0 <= asked.body.get("num", 5) <= 20:
            return "q is required, num is 0 to 20"
        if asked.headers.get("x-respond-with") != "no-content":
            return "the text of every page would be charged"
        codes = [asked.body.get("gl", "us"), asked.body.get("hl", "en")]
        return None if all(re.fullmatch("[a-z]{2}", code) for code in codes) else "unknown code"

    def is_authorized(self, asked):
        return asked.headers.get("authorization") == f"Bearer {KEY}"

    def refused(self, status, words):
        name = "AssertionFailureError"
        told = {"data": None, "code": status, "name": name, "status": status * 100, "message": words}
        return msgspec.json.encode(told | {"readableMessage": f"{name}: {words}"})

    def query(self, asked):
        return asked.body["q"]

    def limit(self, asked):
        return asked.body["num"]

    def row(self, title, url, description):
        return {
            "title": title,
            "url": url,
            "description": description,
            "date": "Jan 2, 2026",
            "content": "",
            "usage": {"tokens": 1},
        }

    def found(self, rows, asked):
        return {"code": 200, "status": 20000, "data": rows, "meta": {"usage": {"tokens": 10000}}}

    def urls(self, asked):
        return [asked.body["url"]] if "url" in asked.body else []

    def pages(self, read, asked):
        [(url, content), *_] = [*read.items(), ("", None)]
        page = {"title": "T", "description": "", "url": url, "content": content, "usage": {"tokens": 5}}
        if content is None:
            page |= {"content": "# Not here", "warning": "Target URL returned error 404: Not Found"}
        return {"code": 200, "status": 20000, "data": page, "meta": {"usage": {"tokens": 5}}}


VENDOR = Jina
