"""The tools that `toolyard worker-check` calls, in Python: `toolyard worker-check -- python3 check_tools.py`."""
import json
import time
from toolyard_worker import main, suspend, tool

INTEGER, runs = {"type": "integer"}, [0]


@tool("Returns the value: a text as it is, anything else as JSON.", {"value": {}}, ["value"])
def check_echo(call, value):
    return value if isinstance(value, str) else json.dumps(value)


@tool("Waits, until it is cancelled unless that is to be ignored.", {"ms": INTEGER, "ignoreCancel": {"type": "boolean"}}, ["ms"])
def check_sleep(call, ms, ignoreCancel=False):
    time.sleep(ms / 1000) if ignoreCancel else call.sleep(ms / 1000)
    return "slept"


@tool("Sends updates and progress, then ends.", {"count": INTEGER}, ["count"])
def check_updates(call, count):
    for n in range(1, count + 1):
        call.update(f"update {n}")
        call.progress(n, count)
    return "done"


@tool("Fails with the message.", {"message": {"type": "string"}}, ["message"])
def check_fail(call, message):
    raise ValueError(message)


@tool("Returns so many letters x.", {"bytes": INTEGER}, ["bytes"])
def check_big(call, bytes):
    return "x" * bytes


@tool("Suspends its first attempt.", {"ms": INTEGER}, ["ms"])
def check_suspend(call, ms):
    return suspend(ms) if call.attempt == 1 else "resumed"


@tool("Suspends its first attempt until something, with a state.", {"until": {"type": "string"}, "state": {}}, ["until", "state"])
def check_wait(call, until, state):
    question = {"prompt": "Which value?", "inputSchema": {"type": "string"}} if until == "input" else {}
    return suspend(until=until, state=state, **question) if call.attempt == 1 else json.dumps(call.resumed)


@tool("Returns session, workspace and secrets of the call as JSON.", {})
def check_context(call):
    return json.dumps({"session": call.session, "workspace": call.workspace, "secrets": call.secrets})


@tool("How often this tool ran in this process.", {})
def check_count(call):
    runs[0] += 1
    return str(runs[0])


@tool("Announces the tool check_added, or takes it away.", {"add": {"type": "boolean"}}, ["add"])
def check_tools(call, add):
    if add:
        tool("Was added later.", {})(check_added)
    call.worker.announce(["check_added"] if add else [], [] if add else ["check_added"])
    return "announced"


def check_added(call):
    return "added"


if __name__ == "__main__":
    main()
