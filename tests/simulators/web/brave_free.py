"""Brave's web and news search, as its own tools describe them."""

import re

import msgspec

from simulators.web.base import KEY, Vendor, only, unknown_headers

_COMMON = {
    "q", "country", "search_lang", "ui_lang", "count", "offset", "safesearch", "spellcheck", "freshness",
    "extra_snippets", "goggles",
}  # fmt: skip
_WEB = _COMMON | {"text_decorations", "result_filter", "units", "summary"}
_COUNTRIES = {
    "ALL", "AR", "AU", "AT", "BE", "BR", "CA", "CL", "DK", "FI", "FR", "DE", "HK", "IN", "ID", "IT", "JP",
    "KR", "MY", "MX", "NL", "NZ", "NO", "CN", "PL", "PT", "PH", "RU", "SA", "ZA", "ES", "SE", "CH", "TW",
    "TR", "GB", "US",
}  # fmt: skip
_LANGUAGES = {
    "ar", "eu", "bn", "bg", "ca", "zh-hans", "zh-hant", "hr", "cs", "da", "nl", "en", "en-gb", "et", "fi",
    "fr", "gl", "de", "gu", "he", "hi", "hu", "is", "it", "jp", "kn", "ko", "lv", "lt", "ms", "ml", "mr",
    "nb", "pl", "pt-br", "pt-pt", "pa", "ro", "ru", "sr", "sk", "sl", "es", "sv", "ta", "te", "th", "tr",
    "uk", "vi",
}  # fmt: skip
_AGE = re.compile(r"p[dwmy]|\d{4}-\d\d-\d\dto\d{4}-\d\d-\d\d")


class Brave(Vendor):
    extracts = False
    most = 20

    def environ(self):
        return {"BRAVE_SEARCH_API_KEY": KEY, "BRAVE_BASE_URL": self.url}

    def problem_with(self, asked):
        is_web = asked.path == "/res/v1/web/search"
        if (
            asked.method != "GET"
            or not (is_web or asked.path == "/res/v1/news/search")
            or asked.body is not None
        ):
            return f"no route {asked.method} {asked.path}"
        params = asked.params
        if not params.get("q") or len(params["q"]) > 400 or len(params["q"].split()) > 50:
            return "q: 1 to 400 characters, 50 words"
        if not 1 <= int(params.get("count", 10)) <= (20 if is_web else 50):
            return "count is out of range"
        if not _AGE.fullmatch(params.get("freshness", "pd")):
            return "unknown freshness"
        return (
            unknown_headers(asked, "x-subscription-token")
            or only(params, _WEB if is_web else _COMMON, "parameter")
            or only([params.get("country", "ALL")], _COUNTRIES, "country")
            or only([params.get("search_lang", "en")], _LANGUAGES, "language")
        )

    def is_authorized(self, asked):
        return asked.headers.get("x-subscription-token") == KEY

    def refused(self, status, words):
        error = {"id": "e", "status": status, "detail": words, "code": "SOME_CODE", "meta": {}}
        return msgspec.json.encode({"type": "ErrorResponse", "error": error, "time": 1})

    def query(self, asked):
        return asked.params["q"]

    def limit(self, asked):
        return int(asked.params["count"])

    def row(self, title, url, description):
        return {
            "title": title,
            "url": url,
            "description": description,
            "age": "2 days ago",
            "page_age": "2026-01-02T00:00:00",
            "extra_snippets": ["more"],
            "language": "en",
            "meta_url": {"hostname": "h"},
        }

    def found(self, rows, asked):
        if asked is not None and asked.path == "/res/v1/news/search":
            return {"type": "news", "query": {"original": "q"}, "results": rows}
        web = {"type": "search", "results": rows, "family_friendly": True}
        return {"type": "search", "query": {"original": "q"}, "mixed": {}, "web": web}


VENDOR = Brave
