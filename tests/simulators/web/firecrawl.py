"""Firecrawl's search and scrape, version 2, as its API reference and its own client describe them."""

import msgspec

from simulators.web.base import KEY, Vendor, only, unknown_headers

_SEARCH = {
    "query", "limit", "sources", "categories", "includeDomains", "excludeDomains", "tbs", "location",
    "country", "timeout", "ignoreInvalidURLs", "highlights", "scrapeOptions", "enterprise", "origin",
    "integration",
}  # fmt: skip
_SCRAPE = {
    "url",
    "formats",
    "onlyMainContent",
    "maxAge",
    "headers",
    "waitFor",
    "timeout",
    "parsers",
    "origin",
}


class Firecrawl(Vendor):
    def environ(self):
        return {"FIRECRAWL_API_KEY": KEY, "FIRECRAWL_API_URL": self.url}

    def problem_with(self, asked):
        if asked.method != "POST" or asked.path not in ("/v2/search", "/v2/scrape") or asked.params:
            return f"no route {asked.method} {asked.path}"
        is_search = asked.path == "/v2/search"
        return (
            unknown_headers(asked, "authorization")
            or only(asked.body, _SEARCH if is_search else _SCRAPE, "field")
            or (self._search(asked.body) if is_search else self._scrape(asked.body))
        )

    def _search(self, body):
        if not body.get("query") or not 1 <= body.get("limit", 5) <= 100:
            return "query is required, limit is 1 to 100"
        if body.get("includeDomains") and body.get("excludeDomains"):
            return "includeDomains and excludeDomains cannot both be specified"
        if any(source.get("type") not in ("web", "news", "images") for source in body.get("sources", [])):
            return "unknown source"
        return None if 0 < body.get("timeout", 60000) <= 300000 else "timeout is out of range"

    def _scrape(self, body):
        if not body.get("url", "").startswith("http"):
            return "url is required"
        return only(body.get("formats", []), ("markdown", "html", "links", "summary"), "format")

    def is_authorized(self, asked):
        return asked.headers.get("authorization") == f"Bearer {KEY}"

    def refused(self, status, words):
        return msgspec.json.encode({"success": False, "error": words})

    def query(self, asked):
        return asked.body["query"]

    def limit(self, asked):
        return asked.body["limit"]

    def row(self, title, url, description):
        return {
            "url": url,
            "title": title,
            "description": description,
            "position": 1,
            "category": "github",
            "date": "2 days ago",
            "markdown": "",
        }

    def found(self, rows, asked):
        is_news = bool(asked and asked.body.get("sources") == [{"type": "news"}])
        return {"success": True, "data": {"news" if is_news else "web": rows}, "creditsUsed": 2, "id": "s"}

    def urls(self, asked):
        return [asked.body["url"]] if "url" in asked.body else []

    def pages(self, read, asked):
        [(url, content), *_] = [*read.items(), ("", None)]
        if content is None:
            return {
                "success": False,
                "error": "All scraping engines failed!",
                "code": "SCRAPE_ALL_ENGINES_FAILED",
            }
        metadata = {"title": "T", "url": url, "sourceURL": url, "statusCode": 200, "language": "en"}
        return {"success": True, "data": {"markdown": content, "metadata": metadata, "warning": None}}


VENDOR = Firecrawl
