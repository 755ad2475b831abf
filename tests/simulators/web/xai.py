"""xAI's Responses API with its own web search, whose model writes the rows as JSON into its answer."""

import msgspec

from simulators.web.base import KEY, Vendor, only, unknown_headers

_KNOWN = {
    "model",
    "input",
    "tools",
    "include",
    "store",
    "stream",
    "temperature",
    "max_output_tokens",
    "reasoning",
}


class Xai(Vendor):
    extracts = False

    def environ(self):
        return {"XAI_API_KEY": KEY, "XAI_BASE_URL": f"{self.url}/v1"}

    def problem_with(self, asked):
        if asked.method != "POST" or asked.path != "/v1/responses" or asked.params:
            return f"no route {asked.method} {asked.path}"
        [message], [tool] = asked.body["input"], asked.body["tools"]
        if message.keys() != {"role", "content"} or message["role"] != "user":
            return "one message of the user"
        if tool.keys() - {"type", "filters", "enable_image_understanding"} or tool["type"] != "web_search":
            return "unknown tool"
        filters = tool.get("filters", {})
        if len(filters) > 1 or any(not 1 <= len(domains) <= 5 for domains in filters.values()):
            return "one list of 1 to 5 domains"
        return (
            unknown_headers(asked, "authorization")
            or only(asked.body, _KNOWN, "field")
            or only(filters, ("allowed_domains", "excluded_domains"), "filter")
            or only(asked.body.get("include", []), ("no_inline_citations",), "include")
        )

    def is_authorized(self, asked):
        return asked.headers.get("authorization") == f"Bearer {KEY}"

    def refused(self, status, words):
        return msgspec.json.encode({"code": "some-code", "error": words})

    def query(self, asked):
        return asked.body["input"][0]["content"].partition("Query: ")[2]

    def limit(self, asked):
        return None

    def row(self, title, url, description):
        return {"title": title, "url": url, "description": description}

    def found(self, rows, asked):
        return self.said(msgspec.json.encode({"results": rows}).decode())

    def said(self, text, annotations=(), citations=()):
        """The reply of a model that said this."""
        part = {"type": "output_text", "text": text, "annotations": list(annotations), "logprobs": []}
        message = {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
        search = {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search"}}
        return {
            "id": "r",
            "object": "response",
            "status": "completed",
            "error": None,
            "model": "grok-build-0.1",
            "output": [search, message],
            "citations": list(citations),
            "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
        }


VENDOR = Xai
