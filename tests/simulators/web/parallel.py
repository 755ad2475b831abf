"""Parallel's search and extract, version 1, as the types of its own client describe them."""

import re

import msgspec

from simulators.web.base import KEY, Vendor, only, unknown_headers

_COMMON = {
    "objective",
    "search_queries",
    "max_chars_total",
    "session_id",
    "client_model",
    "advanced_settings",
}
_SEARCH_SETTINGS = {"max_results", "location", "source_policy", "fetch_policy", "excerpt_settings"}
_EXTRACT_SETTINGS = {"full_content", "fetch_policy", "excerpt_settings"}
_POLICY = {"include_domains", "exclude_domains", "after_date"}


class Parallel(Vendor):
    most = 20

    def environ(self):
        return {"PARALLEL_API_KEY": KEY, "PARALLEL_BASE_URL": self.url}

    def problem_with(self, asked):
        if asked.method != "POST" or asked.path not in ("/v1/search", "/v1/extract") or asked.params:
            return f"no route {asked.method} {asked.path}"
        is_search = asked.path == "/v1/search"
        settings = asked.body.get("advanced_settings", {})
        return (
            unknown_headers(asked, "x-api-key")
            or only(asked.body, _COMMON | ({"mode"} if is_search else {"urls"}), "field")
            or only(settings, _SEARCH_SETTINGS if is_search else _EXTRACT_SETTINGS, "setting")
            or (self._search(asked.body, settings) if is_search else self._extract(asked.body, settings))
        )

    def _search(self, body, settings):
        queries = body.get("search_queries", [])
        if not 1 <= len(queries) <= 5 or any(not 1 <= len(query) <= 200 for query in queries):
            return "search_queries: 1 to 5, of 1 to 200 characters"
        if len(body.get("objective", "")) > 5000:
            return "objective is too long"
        if body.get("mode", "advanced") not in ("turbo", "fast", "basic", "advanced"):
            return "unknown mode"
        if not re.fullmatch("[a-z]{2}", settings.get("location", "us")):
            return "unknown location"
        policy = settings.get("source_policy", {})
        if "after_date" in policy and not re.fullmatch(r"\d{4}-\d\d-\d\d", policy["after_date"]):
            return "after_date is no date"
        if any(len(policy.get(name, ())) > 10 for name in ("include_domains", "exclude_domains")):
            return "at most 10 domains"
        if policy.get("include_domains") and policy.get("exclude_domains"):
            return "exclude_domains would be ignored"
        return only(policy, _POLICY, "policy")

    def _extract(self, body, settings):
        if not 1 <= len(body.get("urls", [])) <= 20:
            return "urls: 1 to 20"
        return None if isinstance(settings.get("full_content", False), bool | dict) else "full_content"

    def is_authorized(self, asked):
        return asked.headers.get("x-api-key") == KEY

    def refused(self, status, words):
        return msgspec.json.encode({"type": "error", "error": {"ref_id": "r", "message": words}})

    def query(self, asked):
        return asked.body["objective"]

    def limit(self, asked):
        return asked.body["advanced_settings"]["max_results"]

    def row(self, title, url, description):
        return {"url": url, "title": title, "publish_date": "2026-01-02", "excerpts": [description]}

    def found(self, rows, asked):
        usage = [{"name": "sku_search", "count": 1}]
        return {"search_id": "s", "session_id": "n", "results": rows, "warnings": None, "usage": usage}

    def urls(self, asked):
        return asked.body.get("urls", [])

    def pages(self, read, asked):
        return {
            "extract_id": "e",
            "session_id": "n",
            "results": [
                {"url": url, "title": "T", "publish_date": None, "excerpts": [], "full_content": content}
                for url, content in read.items()
                if content is not None
            ],
            "errors": [
                {"url": url, "error_type": "fetch_error", "http_status_code": 500, "content": None}
                for url, content in read.items()
                if content is None
            ],
            "warnings": None,
            "usage": None,
        }


VENDOR = Parallel
