"""Serper's web and news search."""

import re

import msgspec

from simulators.web.base import KEY, Vendor, only, unknown_headers

_KNOWN = {"q", "num", "gl", "hl", "tbs", "page", "location", "autocorrect"}
_RANGE = re.compile(r"qdr:[hdwmy]|cdr:1(,cd_min:\d\d/\d\d/\d{4})?(,cd_max:\d\d/\d\d/\d{4})?")


class Serper(Vendor):
    extracts = False
    url_key = "link"

    def environ(self):
        return {"SERPER_API_KEY": KEY, "SERPER_BASE_URL": self.url}

    def problem_with(self, asked):
        if asked.method != "POST" or asked.path not in ("/search", "/news") or asked.params:
            return f"no route {asked.method} {asked.path}"
        body = asked.body
        if not body.get("q") or not 1 <= body.get("num", 10) <= 100:
            return "q is required, num is 1 to 100"
        if not re.fullmatch("[a-z]{2}", body.get("gl", "us")) or not _RANGE.fullmatch(
            body.get("tbs", "qdr:d")
        ):
            return "unknown country or range"
        return unknown_headers(asked, "x-api-key") or only(body, _KNOWN, "field")

    def is_authorized(self, asked):
        return asked.headers.get("x-api-key") == KEY

    def refused(self, status, words):
        return msgspec.json.encode({"message": words, "statusCode": status})

    def query(self, asked):
        return asked.body["q"]

    def limit(self, asked):
        return asked.body["num"]

    def row(self, title, url, description):
        return {
            "title": title,
            "link": url,
            "snippet": description,
            "date": "Jan 2, 2026",
            "position": 1,
            "sitelinks": [{"title": "s", "link": "https://s.example/"}],
            "source": "The Source",
            "imageUrl": "https://img.example/x.png",
        }

    def found(self, rows, asked):
        kind = "news" if asked is not None and asked.path == "/news" else "organic"
        return {"searchParameters": {"q": "q", "type": "search"}, kind: rows, "credits": 1}


VENDOR = Serper
