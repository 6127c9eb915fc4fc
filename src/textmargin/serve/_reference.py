"""`/docs`: the routes as one page, made here from the OpenAPI schema; it loads nothing, from nowhere."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

from jinja2 import Environment

from .shield import NOTHING

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 "
    "1rem;color:#1a1a1a;background:#fff}"
    "pre{background:#f4f4f4;padding:.6rem;overflow:auto}table{border-collapse:collapse}"
    "td,th{text-align:left;padding:.15rem 1rem .15rem 0;vertical-align:top}"
)
_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
REFERENCE_HEADERS = {"Content-Security-Policy": f"{NOTHING}; style-src 'sha256-{_DIGEST}'"}


def render_reference(schema: dict[str, Any]) -> str:
    """The page of an OpenAPI schema, every text in it escaped."""
    source = (files("textmargin.serve") / "reference.html.jinja").read_text(encoding="utf-8")
    operations = [
        {
            "method": method.upper(),
            "path": path,
            "about": one.get("description") or one.get("summary", ""),
            "asks": _body(schema, one.get("requestBody", {})),
            "answers": [
                (status, answer.get("description", ""), _body(schema, answer))
                for status, answer in one["responses"].items()
            ],
        }
        for path, methods in schema["paths"].items()
        for method, one in methods.items()
    ]
    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(source)
    return template.render(
        title=schema["info"]["title"], version=schema["info"]["version"], operations=operations, style=_STYLE
    )


def _body(schema: dict[str, Any], part: dict[str, Any]) -> str:
    """The fields of a JSON body, as they are named in the schema; empty where there is none."""
    found = part.get("content", {}).get("application/json", {}).get("schema", {})
    name = found.get("$ref", "").rpartition("/")[2]
    if not name:
        return ""
    fields = schema["components"]["schemas"][name]
    needed = set(fields.get("required", []))
    shown = {
        f"{key}{'' if key in needed else '?'}": _kind(value)
        for key, value in fields.get("properties", {}).items()
    }
    return json.dumps(shown, indent=2)


def _kind(value: dict[str, Any]) -> str:
    if "$ref" in value:
        return str(value["$ref"]).rpartition("/")[2]
    if "anyOf" in value:
        return " or ".join(_kind(one) for one in value["anyOf"])
    if value.get("type") == "array":
        return f"list of {_kind(value.get('items', {}))}"
    if isinstance(value.get("additionalProperties"), dict):
        return f"name to {_kind(value['additionalProperties'])}"
    return str(value.get("type", "anything"))
