"""A search server of one's own that answers GET requests with JSON of its own shape."""

from simulators.web.base import KEY, Vendor, only, unknown_headers


class CustomJson(Vendor):
    extracts = False
    has_key = False
    url_key = "link"

    def environ(self):
        return {}

    def settings(self):
        return {
            "custom": {
                "url_template": f"{self.url}/api/v1/web?s=%s&fmt=json",
                "results_path": "data.items",
                "title_field": "name",
                "url_field": "link",
                "description_field": "text.short",
                "ok_path": "status",
                "ok_value": "ok",
                "headers": {"X-Pass": KEY},
            }
        }

    def problem_with(self, asked):
        if asked.method != "GET" or asked.path != "/api/v1/web" or asked.body is not None:
            return f"no route {asked.method} {asked.path}"
        if asked.params.get("fmt") != "json" or not asked.params.get("s"):
            return "s and fmt=json are required"
        if asked.headers.get("x-pass") != KEY:
            return "the pass is wrong"
        return unknown_headers(asked, "x-pass") or only(asked.params, ("s", "fmt"), "parameter")

    def is_authorized(self, asked):
        return True

    def query(self, asked):
        return asked.params["s"]

    def limit(self, asked):
        return None

    def row(self, title, url, description):
        return {"name": title, "link": url, "text": {"short": description}}

    def found(self, rows, asked):
        return {"status": "ok", "npt": None, "data": {"items": rows}}


VENDOR = CustomJson
