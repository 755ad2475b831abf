"""Exa's search and contents, as its API reference describes them."""

from simulators.web.base import KEY, Vendor, only, unknown_headers

_SEARCH = {
    "query", "numResults", "contents", "type", "category", "includeDomains", "excludeDomains",
    "startPublishedDate", "endPublishedDate", "includeText", "excludeText", "userLocation", "moderation",
}  # fmt: skip
_CATEGORIES = {"news", "financial report", "company", "research paper", "pdf", "personal site", "people"}


class Exa(Vendor):
    def environ(self):
        return {"EXA_API_KEY": KEY, "EXA_BASE_URL": self.url}

    def problem_with(self, asked):
        if asked.method != "POST" or asked.path not in ("/search", "/contents") or asked.params:
            return f"no route {asked.method} {asked.path}"
        if asked.headers.get("content-type") != "application/json":
            return "not JSON"
        known = _SEARCH if asked.path == "/search" else {"urls", "ids", "text", "highlights", "summary"}
        return (
            unknown_headers(asked, "x-api-key")
            or only(asked.body, known, "field")
            or (self._search(asked.body) if asked.path == "/search" else self._contents(asked.body))
        )

    def _search(self, body):
        if not isinstance(body.get("query"), str) or not body["query"]:
            return "query is required"
        if not 1 <= body.get("numResults", 10) <= 100:
            return "numResults is out of range"
        if "contents" not in body:
            return "without contents the text of every page is charged"
        if body.get("category", "news") not in _CATEGORIES:
            return f"unknown category {body['category']}"
        return None

    def _contents(self, body):
        return None if body.get("urls") and body.get("text") is True else "urls and text are required"

    def is_authorized(self, asked):
        return asked.headers.get("x-api-key") == KEY

    def refused(self, status, words):
        return super().refused(status, words)

    def query(self, asked):
        return asked.body["query"]

    def limit(self, asked):
        return asked.body["numResults"]

    def row(self, title, url, description):
        return {
            "id": url,
            "url": url,
            "title": title,
            "score": 0.5,
            "publishedDate": "2026-01-02T00:00:00.000Z",
            "author": "A. Author",
            "image": "https://img.example/x.png",
            "favicon": "https://img.example/f.ico",
            "highlights": [description],
            "highlightScores": [0.4],
        }

    def found(self, rows, asked):
        return {
            "requestId": "r",
            "resolvedSearchType": "neural",
            "results": rows,
            "costDollars": {"total": 0.005},
        }

    def urls(self, asked):
        return asked.body.get("urls", [])

    def pages(self, read, asked):
        results = [
            {"id": u, "url": u, "title": f"Title of {u}", "text": t} for u, t in read.items() if t is not None
        ]
        statuses = [
            {"id": url, "status": "success", "source": "crawled"}
            if text is not None
            else {"id": url, "status": "error", "error": {"tag": "CRAWL_NOT_FOUND", "httpStatusCode": 404}}
            for url, text in read.items()
        ]
        return {"requestId": "r", "results": results, "statuses": statuses}


VENDOR = Exa
