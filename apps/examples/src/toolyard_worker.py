"""Workers of Toolyard in Python 3.9 or newer, standard library alone: `toolyard-worker/1` over long polls."""
import http.client
import json
import os
import random
import signal
import sys
import threading
import time
from urllib.parse import urlencode, urlsplit

TOOLS = {}
FRAME_BYTES, OUTPUT_BYTES = 1_040_000, 8_388_608


def tool(description, properties, required=(), **more):
    """Announces a function: it gets a Call and the arguments, and returns a text, a dict for an `output` schema, or suspend()."""
    def add(function):
        schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
        TOOLS[function.__name__] = (function, {"name": function.__name__, "description": description, "input": schema, **more})
        return function
    return add


def suspend(ms=None, until=None, **more):
    """Returned by a handler: the call waits without a slot, and comes again with `call.resumed`: after `ms` milliseconds, or `until`
    "children" (a call of `call.child` ends) or "input" (a person answers `prompt`; `inputSchema`). `state` is kept for it."""
    return {"op": "suspend", **more, **({} if ms is None else {"resumeInMs": ms}), **({} if until is None else {"until": until})}


# Of a call that is to stop: a handler lets it pass. Of a request that the gateway refused. Of a connection that is over.
Cancelled, Refused, Gone = (type(name, (Exception,), {}) for name in ("Cancelled", "Refused", "Gone"))


class Call:
    """One attempt. A handler calls `sleep` often, so that it stops when it is to stop."""

    def __init__(self, worker, frame):
        self.worker, self.frame, self.attempt, self.wseq, self.end = worker, frame, frame["attempt"], 0, None
        self.resumed = frame.get("resumed", {})  # reason, state, input
        self.session, self.workspace, self.secrets = frame.get("session"), frame.get("workspace"), frame.get("secrets", {})
        self.key = {"callId": frame["callId"], "fence": frame["fence"]}
        self.stopped, self.answered = threading.Event(), threading.Event()

    def sleep(self, seconds=0.0):
        """Waits, but no longer than until the call is to stop."""
        if self.stopped.wait(seconds):
            raise Cancelled("The call is to stop.")

    def update(self, text):
        """Partial output, for watchers."""
        self.sleep()
        self.wseq += 1
        self.send({"op": "update", "wseq": self.wseq, "content": [{"type": "text", "text": text}]})

    def progress(self, done, total, message=""):
        self.sleep()
        self.send({"op": "progress", "done": done, "total": total, "message": message})

    def child(self, name, arguments, number):
        """Makes a call, once for each `number`, and returns it as it is now: with `status`, and `result` when that is "ended"."""
        self.sleep()
        body, key = {"tool": name, "arguments": arguments, "parentCallId": self.key["callId"]}, f"{self.key['callId']}/{number}"
        return self.worker.post("/v1/calls", body, {"Idempotency-Key": key})

    def send(self, frame):
        if not self.answered.is_set():
            self.worker.send({**frame, **self.key})

    def run(self):
        self.send({"op": "started"})
        try:
            function, about = TOOLS[self.frame["tool"]]
            self.finish(end_of(function(self, **self.frame["arguments"]), "output" in about))
        except Exception as error:  # a tool that fails fails its call only
            self.finish(failure("failed", f"{type(error).__name__}: {error}"))
        while not self.answered.is_set():  # until it is written, or the call is no longer of this worker
            self.send(self.end)
            self.answered.wait(self.worker.heartbeat)
        with self.worker.lock:
            self.worker.calls.pop((self.key["callId"], self.key["fence"]), None)
        self.worker.give_credit()

    def finish(self, end):
        self.wseq += 1
        end = end if len(dumps(end)) <= FRAME_BYTES else self.beside(end)
        self.end = {**end, "wseq": self.wseq} if end["op"] == "finish" else end

    def beside(self, end):
        """The text of a result that is too large for a frame is sent on its own."""
        rest, data = {**end, "content": []}, end.get("content", [{"text": ""}])[0]["text"].encode("utf-8", "replace")
        if len(data) > OUTPUT_BYTES or len(dumps(rest)) > FRAME_BYTES:
            return failure("too_large", f"The result is too large: expected at most {OUTPUT_BYTES} bytes of text.")
        path = f"/v1/calls/{self.key['callId']}/output?{urlencode({'worker': self.worker.name, 'fence': self.key['fence']})}"
        return {**rest, "output": self.worker.post(path, data, {"Content-Type": "text/plain; charset=utf-8"}, "PUT")}

    def refused(self, problem):
        """An end that the gateway does not take becomes a failure; a refused failure is given up."""
        if self.end is not None:
            self.answered.set() if "error" in self.end else self.finish(failure("refused", problem))


def end_of(result, is_structured):
    if isinstance(result, dict) and result.get("op") == "suspend":
        return result
    text = result if isinstance(result, str) else json.dumps(result)
    end = {"op": "finish", "outcome": "completed", "content": [{"type": "text", "text": text}]}
    return {**end, "structuredContent": result} if is_structured else end


def failure(code, message):
    return {"op": "finish", "outcome": "failed", "error": {"code": code, "message": message[:8000], "retryable": False}}


class Worker:
    """`slots`: calls that run at a time in each pool."""

    def __init__(self, url, key, name, slots):
        self.url, self.name, self.slots, self.local, self.lock = urlsplit(url), name, slots, threading.local(), threading.RLock()
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self.id, self.calls, self.granted, self.pool_of, self.leaving, self.heartbeat = None, {}, {}, {}, False, 5.0
        self.stop = threading.Event()

    def post(self, path, body, headers=(), method="POST"):
        """Until it is answered: repetitions do no harm. Raises Gone and Refused."""
        kind = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
        pause, sent = 0.1, body if isinstance(body, bytes) else dumps(body)
        while True:
            connection = kind(self.url.hostname, self.url.port, timeout=60)
            try:
                connection.request(method, self.url.path.rstrip("/") + path, sent, {**self.headers, **dict(headers)})
                answer = connection.getresponse()
                status, data = answer.status, answer.read()
            except (OSError, http.client.HTTPException) as error:
                status, data = 503, f"{type(error).__name__}: {error}".encode()
            finally:
                connection.close()
            if status < 300:
                return json.loads(data) if data else None
            detail = f"{status} {data[:2000].decode('utf-8', 'replace')}"
            if status < 500 and status not in (408, 429):
                raise (Gone if status == 404 and path.startswith("/v1/workers/") else Refused)(detail)
            say(f"no answer from {self.url.geturl()}: {detail}")
            time.sleep(pause * random.uniform(0.5, 1))
            pause = min(pause * 2, 5.0)

    def send(self, frame):
        """Without a connection the frame is dropped: what matters is said again."""
        try:
            self.post(f"/v1/workers/{self.id}/messages", {"frames": [frame]})
        except Gone:
            pass
        except Refused as problem:
            self.refused(frame.get("callId"), str(problem))

    def refused(self, call_id, problem):
        say(f"refused: {problem}")
        for call in [it for it in self.calls.values() if it.key["callId"] == call_id]:
            call.refused(problem)

    def announce(self, added=(), removed=()):
        """Announces tools that came after the start, and takes tools away, by their names."""
        for name in removed:
            TOOLS.pop(name, None)
        self.send({"op": "tools", "added": [TOOLS[name][1] for name in added], "removed": list(removed)})

    def give_credit(self):
        """For the free slots. If a repeated frame counts twice, `slots` may be passed for a moment."""
        with self.lock:
            for pool in () if self.stop.is_set() or self.leaving else set(self.pool_of.values()):
                running = sum(self.pool_of.get(call.frame["tool"], "net") == pool for call in self.calls.values())
                n = self.slots - running - self.granted.get(pool, 0)
                if n > 0:
                    self.granted[pool] = self.granted.get(pool, 0) + n
                    self.send({"op": "credit", "pool": pool, "n": n})

    def connect(self):
        """Hello, then polls until the connection is over."""
        about = {"worker": self.name, "sdk": "python-example/1", "labels": {"pid": str(os.getpid())}}
        tools = [announced for _, announced in TOOLS.values()]
        welcome = self.post("/v1/workers", {"op": "hello", "protocol": "toolyard-worker/1", **about, "tools": tools})
        with self.lock:
            self.id, self.granted, self.leaving, self.heartbeat = welcome["workerId"], {}, False, welcome["heartbeatMs"] / 1000
            self.pool_of = {taken["name"]: taken["pool"] for taken in welcome["tools"]}
        say(f"connected to {self.url.geturl()} as {self.id}; tools: {', '.join(self.pool_of)}", *welcome["problems"])
        after, renewed = 0, 0.0
        while True:
            with self.lock:
                held = [call.key for call in self.calls.values() if not call.answered.is_set()]
            if held and time.monotonic() - renewed > self.heartbeat / 2:
                self.send({"op": "renew", "callIds": [it["callId"] for it in held], "fences": [it["fence"] for it in held]})
                renewed = time.monotonic()
            self.give_credit()
            if (self.stop.is_set() or self.leaving) and not self.calls:
                return self.send({"op": "bye"})
            page = self.post(f"/v1/workers/{self.id}/poll?wait={0 if self.stop.is_set() else 30}", {"after": after})
            for frame in page["frames"]:
                self.take(frame)
            after = page["seq"]

    def take(self, frame):
        op, key = frame["op"], (frame.get("callId"), frame.get("fence"))
        with self.lock:
            call = self.calls.get(key)
            if op == "call" and call is None:
                call = self.calls[key] = Call(self, frame)
                pool = self.pool_of.get(frame["tool"], "net")
                self.granted[pool] = max(0, self.granted.get(pool, 0) - 1)
                threading.Thread(target=call.run, daemon=True).start()
            elif op == "drain":
                self.leaving = True
            elif op == "refused":
                self.refused(frame.get("callId"), json.dumps(frame["problem"]))
            elif call is not None and op in ("cancel", "stale"):
                call.stopped.set()
            if call is not None and op in ("done", "stale"):
                call.answered.set()

    def run(self):
        """Until SIGTERM or SIGINT, and the running calls are over. Returns the exit code."""
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda *_: os._exit(1) if self.stop.is_set() else self.drain())
        while not self.stop.is_set() or self.calls:
            try:
                self.connect()
            except Gone as why:
                say(f"the connection is over: {why}")
            except Refused as problem:
                return say(f"refused: {problem}") or 1
            time.sleep(0.1)
        return 0

    def drain(self):
        self.stop.set()
        threading.Thread(target=self.send, args=({"op": "drain"},), daemon=True).start()


def main():
    """Runs the tools that were announced, with the gateway and the key that the environment names."""
    key = os.environ.get("TOOLYARD_API_KEY") or sys.exit("Expected TOOLYARD_API_KEY: a key with the scope `work`.")
    url, name = os.environ.get("TOOLYARD_URL", "http://127.0.0.1:7411"), os.environ.get("TOOLYARD_WORKER", "python")
    sys.exit(Worker(url, key, name, int(os.environ.get("TOOLYARD_SLOTS", "4"))).run())


def dumps(body):
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def say(*texts):
    print(*texts, sep="\n", file=sys.stderr, flush=True)
