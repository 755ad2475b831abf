"""Tavily's search and extract, as its API reference and its own client describe them."""

import msgspec

from simulators.web.base import KEY, Vendor, only, unknown_headers

_SEARCH = {
    "query", "max_results", "include_raw_content", "include_images", "search_depth", "topic", "time_range",
    "start_date", "end_date", "days", "include_domains", "exclude_domains", "country", "include_answer",
}  # fmt: skip
_EXTRACT = {"urls", "include_images", "extract_depth", "format", "timeout"}


class Tavily(Vendor):
    most = 20

    def environ(self):
        return {"TAVILY_API_KEY": KEY, "TAVILY_BASE_URL": self.url}

    def problem_with(self, asked):
        if asked.method != "POST" or asked.path not in ("/search", "/extract") or asked.params:
            return f"no route {asked.method} {asked.path}"
        known = _SEARCH if asked.path == "/search" else _EXTRACT
        return (
            unknown_headers(asked, "authorization", "x-tavily-access-mode", "x-client-source")
            or only(asked.body, known, "field")
            or (self._search(asked.body) if asked.path == "/search" else self._extract(asked.body))
        )

    def _search(self, body):
        if not body.get("query"):
            return "query is required"
        if len(body["query"]) > 400:
            return "Query is too long. Max query length is 400 characters."
        if not 0 <= body.get("max_results", 5) <= 20:
            return "max_results is out of range"
        if body.get("topic", "general") not in ("general", "news", "finance"):
            return "unknown topic"
        if body.get("time_range", "day") not in ("day", "week", "month", "year"):
            return "unknown time_range"
        return None

    def _extract(self, body):
        if not 1 <= len(body.get("urls", [])) <= 20:
            return "urls: 1 to 20"
        return None if body.get("format", "markdown") in ("markdown", "text") else "unknown format"

    def is_authorized(self, asked):
        if asked.headers.get("x-tavily-access-mode") == "keyless":
            return "authorization" not in asked.headers
        return asked.headers.get("authorization") == f"Bearer {KEY}"

    def refused(self, status, words):
        return msgspec.json.encode({"detail": {"error": words}})

    def query(self, asked):
        return asked.body["query"]

    def limit(self, asked):
        return asked.body["max_results"]

    def row(self, title, url, description):
        return {
            "title": title,
            "url": url,
            "content": description,
            "score": 0.9,
            "raw_content": None,
            "published_date": "2026-01-02",
        }

    def found(self, rows, asked):
        return {"query": "q", "answer": None, "images": [], "results": rows, "response_time": 1.1}

    def urls(self, asked):
        return asked.body.get("urls", [])

    def pages(self, read, asked):
        return {
            "results": [
                {"url": url, "title": "T", "raw_content": content, "images": []}
                for url, content in read.items()
                if content is not None
            ],
            "failed_results": [
                {"url": url, "error": "Failed to fetch url"}
                for url, content in read.items()
                if content is None
            ],
            "response_time": 0.2,
        }


VENDOR = Tavily
