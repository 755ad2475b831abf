"""A chat-completions endpoint that searches, with the fields that Perplexity's Sonar adds."""

import msgspec

from simulators.web.base import KEY, Vendor, only, unknown_headers


class Custom(Vendor):
    def environ(self):
        return {"CUSTOM_SEARCH_API_KEY": KEY, "CUSTOM_SEARCH_BASE_URL": self.url}

    def problem_with(self, asked):
        if asked.method != "POST" or asked.path != "/chat/completions" or asked.params:
            return f"no route {asked.method} {asked.path}"
        if set(asked.body) != {"model", "messages"}:
            return "the body is model and messages, and nothing else"
        [message] = asked.body["messages"]
        if message.keys() != {"role", "content"} or message["role"] != "user" or not message["content"]:
            return "one message of the user"
        return unknown_headers(asked, "authorization") or only([asked.body["model"]], ["sonar"], "model")

    def is_authorized(self, asked):
        return asked.headers.get("authorization") == f"Bearer {KEY}"

    def refused(self, status, words):
        return msgspec.json.encode({"error": {"message": words, "type": "bad", "code": status}})

    def query(self, asked):
        return asked.body["messages"][0]["content"]

    def limit(self, asked):
        return None

    def row(self, title, url, description):
        return {
            "title": title,
            "url": url,
            "snippet": description,
            "date": "2026-01-02",
            "last_updated": "2026-01-03",
        }

    def found(self, rows, asked):
        return self._completion("") | {"search_results": rows, "citations": []}

    def urls(self, asked):
        first = self.query(asked).partition("\n")[0]
        return [first.partition(": ")[2]] if "http" in first else []

    def pages(self, read, asked):
        [content, *_] = [*read.values(), None]
        return self._completion(content) if content else {"error": {"message": "cannot fetch"}}

    def _completion(self, content):
        return {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "sonar",
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
            ],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }


VENDOR = Custom
