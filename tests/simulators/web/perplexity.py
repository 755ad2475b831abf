"""Perplexity's search, as the types of its own client describe it."""

import re

import msgspec

from simulators.web.base import KEY, Vendor, only, unknown_headers

_KNOWN = {
    "query", "country", "display_server_time", "last_updated_after_filter", "last_updated_before_filter",
    "max_results", "max_tokens", "max_tokens_per_page", "search_after_date_filter",
    "search_before_date_filter", "search_context_size", "search_domain_filter", "search_language_filter",
    "search_mode", "search_recency_filter", "search_type",
}  # fmt: skip


class Perplexity(Vendor):
    extracts = False
    most = 20

    def environ(self):
        return {"PERPLEXITY_API_KEY": KEY, "PERPLEXITY_BASE_URL": self.url}

    def problem_with(self, asked):
        if asked.method != "POST" or asked.path != "/search" or asked.params:
            return f"no route {asked.method} {asked.path}"
        body = asked.body
        if not body.get("query") or not 1 <= body.get("max_results", 10) <= 20:
            return "query is required, max_results is 1 to 20"
        domains = body.get("search_domain_filter", [])
        if len(domains) > 20 or len({domain.startswith("-") for domain in domains}) > 1:
            return "at most 20 domains, and not wanted and unwanted ones together"
        dates = [body[name] for name in body if name.endswith("_date_filter")]
        if any(not re.fullmatch(r"\d\d/\d\d/\d{4}", date) for date in dates):
            return "a date is month/day/year"
        if dates and "search_recency_filter" in body:
            return "dates and recency cannot be combined"
        if body.get("search_recency_filter", "day") not in ("hour", "day", "week", "month", "year"):
            return "unknown recency"
        if not re.fullmatch("[A-Z]{2}", body.get("country", "US")):
            return "unknown country"
        return unknown_headers(asked, "authorization") or only(body, _KNOWN, "field")

    def is_authorized(self, asked):
        return asked.headers.get("authorization") == f"Bearer {KEY}"

    def refused(self, status, words):
        return msgspec.json.encode({"error": {"message": words, "type": "bad", "code": status}})

    def query(self, asked):
        return asked.body["query"]

    def limit(self, asked):
        return asked.body["max_results"]

    def row(self, title, url, description):
        return {
            "title": title,
            "url": url,
            "snippet": description,
            "date": "2026-01-02",
            "last_updated": "2026-01-03",
        }

    def found(self, rows, asked):
        return {"id": "s", "results": rows, "server_time": None}


VENDOR = Perplexity
