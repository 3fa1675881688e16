#!/usr/bin/env python3
"""Tools in Python for Toolyard. Start it with TOOLYARD_API_KEY (a key with the scope `work`) and TOOLYARD_URL.

SIGTERM or Ctrl-C ends it when the running calls are over; a second one ends it at once.
"""
from toolyard_worker import main, tool

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


if __name__ == "__main__":
    main()
