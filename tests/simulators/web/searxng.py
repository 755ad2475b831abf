"""A SearXNG instance whose settings allow JSON."""

from simulators.web.base import Vendor, only, unknown_headers

_KNOWN = {"q", "format", "pageno", "categories", "engines", "language", "time_range", "safesearch"}


class Searxng(Vendor):
    extracts = False
    has_key = False

    def environ(self):
        return {"SEARXNG_URL": self.url}

    def problem_with(self, asked):
        if asked.method != "GET" or asked.path != "/search" or asked.body is not None:
            return f"no route {asked.method} {asked.path}"
        if asked.params.get("format") != "json" or asked.headers.get("accept") != "application/json":
            return "the page for people was asked for"
        if not asked.params.get("q"):
            return "q is required"
        if asked.params.get("time_range", "day") not in ("day", "week", "month", "year"):
            return "Invalid value for parameter time_range"
        return unknown_headers(asked, "authorization") or only(asked.params, _KNOWN, "parameter")

    def is_authorized(self, asked):
        return True

    def query(self, asked):
        return asked.params["q"]

    def limit(self, asked):
        return None

    def row(self, title, url, description):
        return {
            "title": title,
            "url": url,
            "content": description,
            "engine": "e",
            "engines": ["e"],
            "score": 1.0,
            "category": "general",
            "publishedDate": "2026-01-02T00:00:00",
            "img_src": "",
        }

    def found(self, rows, asked):
        return {
            "query": "q",
            "number_of_results": 0,
            "results": rows,
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": [],
            "unresponsive_engines": [],
        }


VENDOR = Searxng
