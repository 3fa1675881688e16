"""Client of Toolyard in one file, for Python 3.9 or newer, with the standard library alone. Copy it into your project.

    from toolyard import Toolyard

    toolyard = Toolyard()  # TOOLYARD_URL and TOOLYARD_API_KEY, else the folder .toolyard of `npm start`
    call = toolyard.run("shell", {"command": "date"})
    print(call["outcome"], text_of(call))

    for event in toolyard.stream("shell", {"command": "make test"}):  # live, until the end
        print(event["type"], event["data"])

    # In an agent's loop: what the model asked for, and the text that it reads. The same session and id run once.
    text = toolyard.execute("shell", '{"command": "date"}', session_id="task-1", tool_call_id="call_1")

The fields of calls and events are those of `/openapi.json`. One object serves one thread.
"""
import http.client
import json
import os
import random
import time
import uuid
from urllib.parse import quote, urlencode, urlsplit

RETRIES = 5  # of one request, after 429, 502, 503, 504 or a lost connection; none where the first connection ever is refused
WAIT_SECONDS = 30  # of one request for the end of a call; `run` and `execute` repeat it
OUTAGE_SECONDS = 600  # how long a stream, and the wait for an end, go on trying while no gateway answers
SILENCE_SECONDS = 60  # a stream that is silent longer is opened again; the gateway sends a comment every 15 s


class ToolyardError(Exception):
    """A refused request, or no answer. `code` is that of the gateway, or `unreachable`; `problem` is its whole answer.
    `result` is what a model may read, for a call that was refused."""

    def __init__(self, code, message, status=0, problem=None):
        super().__init__(message)
        self.code, self.status, self.problem = code, status, problem or {}
        self.result = self.problem.get("result")


class Toolyard:
    def __init__(self, url=None, key=None, data=None):
        folder = data or os.environ.get("TOOLYARD_DATA", ".toolyard")
        self.url = (url or os.environ.get("TOOLYARD_URL") or _first_line(folder, "address", "TOOLYARD_URL")).rstrip("/")
        self._answered = False  # until then a failed connection is a wrong address rather than a restart, and not repeated
        self.key = key or os.environ.get("TOOLYARD_API_KEY") or _first_line(folder, "key", "TOOLYARD_API_KEY")

    # Calls

    def submit(self, tool, arguments=None, wait=0, idempotency_key=None, **more):
        """Submits a call and returns it; `more` are other fields of a submission, such as sessionId, labels, timeouts.
        Waits up to `wait` seconds for its end."""
        body = {"tool": tool, "arguments": {} if arguments is None else arguments, **more}
        # With a session and the model's id the gateway knows a repetition by these; otherwise by a key.
        if idempotency_key is None and not ("sessionId" in more and "toolCallId" in more):
            idempotency_key = str(uuid.uuid4())
        headers = {"Prefer": "wait=%d" % wait} if wait else {}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        return self._request("POST", "/v1/calls", body, headers, timeout=30 + wait)

    def get(self, call_id, wait=0):
        """The call; with `wait`, after its end or that many seconds."""
        path = "/v1/calls/" + quote(call_id, safe="")
        return self._request("GET", path + ("?wait=%d" % wait if wait else ""), timeout=30 + wait)

    def run(self, tool, arguments=None, **more):
        """Submits a call and returns it when it has ended, also if a person must allow it first."""
        call, answered = self.submit(tool, arguments, wait=WAIT_SECONDS, **more), time.monotonic()
        while call["status"] != "ended":
            try:
                call, answered = self.get(call["id"], wait=WAIT_SECONDS), time.monotonic()
            except ToolyardError as error:
                if error.code != "unreachable" or time.monotonic() - answered > OUTAGE_SECONDS:
                    raise
        return call

    def execute(self, name, json_text, session_id, tool_call_id=None, **more):
        """Runs one tool call of a model and returns the text for the model; a refused or failed call has one, too."""
        try:
            ids = {"sessionId": session_id, **({} if tool_call_id is None else {"toolCallId": tool_call_id})}
            return text_of(self.run(name, json_text if json_text.strip() else {}, **ids, **more))
        except ToolyardError as error:
            if error.result is None or error.code == "unauthenticated":
                raise
            return text_of({"result": error.result})

    def stream(self, tool, arguments=None, **more):
        """Submits a call and yields its events, each once and in order, until its end."""
        yield from self.events(self.submit(tool, arguments, **more)["id"])

    def events(self, call_id):
        """The events of a call: those that were, then those that come, until its end."""
        path, count = "/v1/calls/%s/events" % quote(call_id, safe=""), 0
        while True:
            for number, event in enumerate(self._events(path)):
                if event["type"] in ("gap", "resync"):  # this reader was too slow, or Redis lost its newest events: read again
                    break
                if number >= count:
                    count = number + 1
                    yield event
            else:
                return

    def cancel(self, call_id, reason=None):
        """Asks to stop a call. Its End says how it stopped."""
        body = {} if reason is None else {"reason": reason}
        return self._request("POST", "/v1/calls/%s/cancel" % quote(call_id, safe=""), body)

    def decide(self, call_id, decision, scope="once", **more):
        """Answers an approval: `allow` or `deny`."""
        body = {"decision": decision, "scope": scope, **more}
        return self._request("POST", "/v1/calls/%s/decision" % quote(call_id, safe=""), body, repeat=False)

    # Everything else

    def calls(self, **filters):
        """One page of calls, newest first. Filters as the query of `GET /v1/calls`."""
        return self._request("GET", "/v1/calls" + _query(filters))

    def approvals(self):
        """The calls that wait for a person, each with its question."""
        page = self._request("GET", "/v1/approvals")
        calls = page["calls"]
        while "nextCursor" in page:
            page = self._request("GET", "/v1/approvals" + _query({"cursor": page["nextCursor"]}))
            calls += page["calls"]
        return calls

    def tools(self, format="full", **filters):
        """The tools that this key may use; `anthropic`, `openai`, `openai-responses` and `mcp` are shapes of model APIs."""
        return self._request("GET", "/v1/tools" + _query({"format": format, **filters}))["tools"]

    def watch(self, **filters):
        """Live events of everything that the key may see, without end. Filters as the query of `GET /v1/events`. Where events are
        missing there is one of type `gap` or `resync`, which says what is known."""
        return self._events("/v1/events" + _query(filters), ends=False)

    def _request(self, method, path, body=None, headers=None, timeout=30, repeat=True):
        for attempt in range(RETRIES + 1):
            error, pause = None, 0.0
            try:
                connection, response = self._open(method, path, body, headers or {}, timeout)
                with connection:
                    text = response.read()
                if response.status < 300:
                    return json.loads(text) if text else None
                error, pause = _refusal(response, text)
            except (OSError, http.client.HTTPException) as failure:
                error = self._unreachable(failure)
            if not repeat or attempt == RETRIES or self._is_wrong_address(error) or (error.status and error.status not in (429, 502, 503, 504)) or pause > 60:
                raise error
            time.sleep(pause + random.random() * min(10.0, 0.2 * 2**attempt))

    def _unreachable(self, failure):
        advice = "" if self._answered else ". Nothing has answered there yet: check the address and whether the gateway runs"
        error = ToolyardError("unreachable", "No answer from %s: %s%s" % (self.url, failure, advice))
        error.__cause__ = failure
        return error

    def _is_wrong_address(self, error):
        """No connection was ever made (refused, unknown host, wrong certificate), and the reason is none that passes."""
        passing = (ConnectionResetError, BrokenPipeError, http.client.HTTPException)
        return not self._answered and error.status == 0 and not isinstance(error.__cause__, passing)

    def _events(self, path, ends=True):
        """Server-sent events; continues after the last one when the connection is lost."""
        last, failures, answered = None, 0, time.monotonic()
        while True:
            headers = {"Accept": "text/event-stream", **({} if last is None else {"Last-Event-ID": last})}
            try:
                connection, response = self._open("GET", path, None, headers, SILENCE_SECONDS)
                with connection:
                    if response.status == 204:  # ended, and all of it was read
                        return
                    if response.status != 200:
                        error, pause = _refusal(response, response.read())
                        if error.status not in (429, 502, 503, 504) or time.monotonic() - answered > OUTAGE_SECONDS:
                            raise error
                        time.sleep(pause)
                    else:
                        for name, last, data in _frames(response):
                            failures, answered = 0, time.monotonic()
                            yield {"type": name, "data": json.loads(data)} if name in ("gap", "resync") else json.loads(data)
                            if ends and name == "call.end":
                                return
            except (OSError, http.client.HTTPException) as failure:
                if not self._answered or time.monotonic() - answered > OUTAGE_SECONDS:
                    raise self._unreachable(failure) from failure
            failures += 1
            time.sleep(random.random() * min(10.0, 0.2 * 2 ** min(failures, 10)))

    def _open(self, method, path, body, headers, timeout):
        address = urlsplit(self.url)
        kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        connection = _Closing(kind(address.hostname, address.port, timeout=timeout))
        headers = {"Authorization": "Bearer " + self.key, **headers, **({} if body is None else {"Content-Type": "application/json"})}
        try:
            connection.http.request(method, address.path + path, None if body is None else json.dumps(body), headers)
            response = connection.http.getresponse()
            self._answered = True
            return connection, response
        except BaseException:
            connection.http.close()
            raise


class _Closing:
    def __init__(self, connection):
        self.http = connection

    def __enter__(self):
        return self.http

    def __exit__(self, *_):
        self.http.close()


def text_of(call):
    """What a model reads of a call that has ended."""
    result = call.get("result")
    if result is None:
        return call.get("error", {}).get("message") or "The call ended as %s." % call.get("outcome", "unknown")
    return "\n".join(_text_of_part(part) for part in result["content"])


def _text_of_part(part):
    if part["type"] == "text":
        return part["text"]
    if part["type"] in ("image", "audio"):
        return "[%s of type %s, which cannot be shown here]" % (part["type"], part.get("mimeType"))
    return json.dumps(part["json"] if part["type"] == "json" else part, ensure_ascii=False, separators=(",", ":"))


def _frames(response):
    """(event, id, data) of each frame of a stream of server-sent events."""
    name, last, data = "message", None, []
    for line in response:
        field, _, value = line.decode("utf-8").rstrip("\r\n").partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "event":
            name = value
        elif field == "id":
            last = value
        elif field == "data":
            data.append(value)
        elif not field and not value:
            if data:
                yield name, last, "\n".join(data)
            name, data = "message", []


def _refusal(response, text):
    """The error of a refused request, and the seconds after which it may be repeated."""
    try:
        problem = json.loads(text)
    except ValueError:
        problem = {}
    pause = response.headers.get("Retry-After", "0")
    details = ["%s: %s" % (fault.get("pointer"), fault.get("message")) for fault in problem.get("errors", [])]
    message = "; ".join([problem.get("detail") or "HTTP %d" % response.status, *details])
    return ToolyardError(problem.get("code", "internal"), message, response.status, problem), float(pause) if pause.isdigit() else 0.0


def _query(filters):
    chosen = {name: value for name, value in filters.items() if value is not None}
    return "?" + urlencode(chosen, doseq=True) if chosen else ""


def _first_line(folder, file, variable):
    try:
        with open(os.path.join(folder, file), encoding="utf-8") as text:
            return text.readline().strip()
    except OSError as failure:
        raise ToolyardError("unreachable", "Set %s, or run in the folder of `npm start`: %s" % (variable, failure)) from None
