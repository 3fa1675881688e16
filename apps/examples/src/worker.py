#!/usr/bin/env python3
"""Tools in Python for Toolyard. Start it with TOOLYARD_API_KEY (a key with the scope `work`) and TOOLYARD_URL.

SIGTERM or Ctrl-C ends it when the running calls are over; a second one ends it at once.
"""
import json
from toolyard_worker import main, suspend, tool

COUNTS = {"type": "object", "properties": {"words": {"type": "integer"}, "lines": {"type": "integer"}}}


@tool("Counts the words and lines of a text.", {"text": {"type": "string"}}, ["text"], output=COUNTS)
def word_count(call, text):
    return {"words": len(text.split()), "lines": len(text.splitlines())}


@tool("Counts to a number, one step at a time.", {"to": {"type": "integer", "minimum": 1, "maximum": 1000},
      "stepMs": {"type": "integer", "minimum": 1, "maximum": 60000}}, ["to"])
def slow_count(call, to, stepMs=1000):
    for done in range(1, to + 1):
        call.sleep(stepMs / 1000)
        call.update(f"{done}\n")
        call.progress(done, to, f"counted to {done}")
    return f"counted to {to}"


@tool("Counts the words of several texts, each in a call of its own.",
      {"texts": {"type": "array", "items": {"type": "string"}, "maxItems": 20}}, ["texts"])
def word_counts(call, texts):
    calls = [call.child("word_count", {"text": text}, number) for number, text in enumerate(texts)]
    if any(child["status"] != "ended" for child in calls):
        return suspend(until="children")  # the call comes again when one of them ends
    return json.dumps([child["result"].get("structuredContent") for child in calls])


@tool("Asks a person for a name, and greets.", {})
def greet(call):
    if call.resumed.get("reason") != "input":
        return suspend(until="input", prompt="Who is to be greeted?", inputSchema={"type": "string", "maxLength": 100})
    return f"Hello {call.resumed['input']}!"


if __name__ == "__main__":
    main()
