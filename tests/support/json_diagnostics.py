# SPDX-License-Identifier: Apache-2.0
"""What --diagnostics=json says, checked against docs/diagnostics.schema.json."""
import json
import re

from support import paths

SCHEMA = json.loads((paths.ROOT / "docs" / "diagnostics.schema.json").read_text())
TYPES = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict}


def check(value, schema, path="$"):
    """The few words of JSON Schema that ours uses."""
    known = {"$comment", "$schema", "title", "description", "type", "required", "additionalProperties", "properties", "pattern", "enum", "items"}
    unknown = set(schema) - known
    assert not unknown, unknown
    if "enum" in schema:
        assert value in schema["enum"], path
        return
    assert type(value) is TYPES[schema["type"]], path
    if "pattern" in schema:
        assert re.search(schema["pattern"], value), path
    for each in value if isinstance(value, list) else []:
        check(each, schema["items"], path + "[]")
    if isinstance(value, dict):
        assert set(value) == set(schema["required"]) == set(schema["properties"]), path
        for name, part in value.items():
            check(part, schema["properties"][name], f"{path}.{name}")


def diagnostics(result):
    found = [json.loads(line) for line in result.stderr.splitlines() if line.startswith("{")]
    for each in found:
        check(each, SCHEMA)
    return found
