"""Workers of Toolyard in Python 3.9 or newer, standard library alone: `toolyard-worker/1` over long polls."""
import http.client
import json
import os
import random
import signal
import sys
import threading
import time
from urllib.parse import urlsplit

TOOLS = {}
FRAME_BYTES = 1_040_000


def tool(description, properties, required=(), **more):
    """Announces a function: it gets a Call and the arguments, and returns a text, a dict for an `output` schema, or Suspend."""
    def add(function):
        schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
        TOOLS[function.__name__] = (function, {"name": function.__name__, "description": description, "input": schema, **more})
        return function
    return add


class Cancelled(Exception):
    """The call is to stop. A handler lets it pass."""


class Refused(Exception):
    """The gateway refused a request; repeating it is no use."""


class Gone(Exception):
    """The gateway does not know this connection: hello comes again."""


class Suspend:
    """Returned by a handler: the call comes again after so many milliseconds, as the next attempt."""

    def __init__(self, ms):
        self.ms = ms


class Call:
    """One attempt. A handler calls `check` often, so that it stops when it is to stop."""

    def __init__(self, worker, frame):
        self.worker, self.frame, self.attempt, self.wseq, self.end = worker, frame, frame["attempt"], 0, None
        self.key = {"callId": frame["callId"], "fence": frame["fence"]}
        self.stopped, self.answered = threading.Event(), threading.Event()

    def check(self):
        if self.stopped.is_set():
            raise Cancelled()

    def sleep(self, seconds):
        """Waits, but no longer than until the call is to stop."""
        self.stopped.wait(seconds)
        self.check()

    def update(self, text):
        """Partial output, for watchers."""
        self.check()
        self.wseq += 1
        self.send({"op": "update", "wseq": self.wseq, "content": [{"type": "text", "text": text}]})

    def progress(self, done, total, message=""):
        self.check()
        self.send({"op": "progress", "done": done, "total": total, "message": message})

    def send(self, frame):
        if not self.answered.is_set():
            self.worker.send({**frame, **self.key})

    def run(self):
        self.send({"op": "started"})
        try:
            function, about = TOOLS[self.frame["tool"]]
            end = result_frame(function(self, **self.frame["arguments"]), "output" in about)
        except Cancelled:
            end = failure("cancelled", "The worker stopped the call.")
        except Exception as error:  # a tool that fails fails its call only
            end = failure("failed", f"{type(error).__name__}: {error}")
        self.end = {**end, "wseq": self.wseq + 1} if end["op"] == "finish" else end
        while not self.answered.is_set():  # until it is written, or the call is no longer of this worker
            self.send(self.end)
            self.answered.wait(self.worker.heartbeat)
        self.worker.ended(self)


def result_frame(result, is_structured):
    if isinstance(result, Suspend):
        return {"op": "suspend", "resumeInMs": result.ms}
    text = result if isinstance(result, str) else json.dumps(result)
    end = {"op": "finish", "outcome": "completed", "content": [{"type": "text", "text": text}]}
    end.update({"structuredContent": result} if is_structured else {})
    return end if len(dumps(end)) <= FRAME_BYTES else failure("too_large", f"The result is larger than {FRAME_BYTES} bytes.")


def failure(code, message):
    return {"op": "finish", "outcome": "failed", "error": {"code": code, "message": message[:8000], "retryable": False}}


class Worker:
    """`slots`: calls that run at a time in each pool."""

    def __init__(self, url, key, name, slots):
        self.url, self.name, self.slots, self.local, self.lock = urlsplit(url), name, slots, threading.local(), threading.RLock()
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self.id, self.calls, self.granted, self.pool_of, self.leaving, self.heartbeat = None, {}, {}, {}, False, 5.0
        self.stop, self.over, self.code = threading.Event(), threading.Event(), 0

    def post(self, path, body):
        """On one connection for each thread. Raises Gone, Refused, or OSError when it may be tried again."""
        connection = getattr(self.local, "connection", None)
        try:
            if connection is None:
                kind = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
                connection = self.local.connection = kind(self.url.hostname, self.url.port, timeout=60)
            connection.request("POST", self.url.path.rstrip("/") + path, dumps(body), self.headers)
            answer = connection.getresponse()
            status, data = answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            self.local.connection = None
            raise OSError(f"{type(error).__name__}: {error}") from error
        if status < 300:
            return json.loads(data) if data else None
        detail = f"{status} {data[:2000].decode('utf-8', 'replace')}"
        again = Gone if status == 404 and path != "/v1/workers" else OSError
        raise (again if again is Gone or status >= 500 or status in (408, 409, 429) else Refused)(detail)

    def send(self, frame):
        """Sends a frame, again after each failure. Without a connection it is dropped: what matters is said again."""
        pause = 0.1
        while True:
            try:
                return self.post(f"/v1/workers/{self.id}/messages", {"frames": [frame]})
            except Gone:
                return
            except Refused as problem:
                return self.refused(frame.get("callId"), str(problem))
            except OSError:
                pause = back_off(pause)

    def refused(self, call_id, problem):
        """A result that the gateway does not take becomes a failure; a refused failure is given up."""
        say(f"refused: {problem}")
        for call in [it for it in self.calls.values() if it.key["callId"] == call_id and it.end]:
            call.answered.set() if "error" in call.end else call.end.update(failure("refused", problem), content=[])

    def announce(self, added=(), removed=()):
        """Announces tools that came after the start, and takes tools away, by their names."""
        for name in removed:
            TOOLS.pop(name, None)
        self.send({"op": "tools", "added": [TOOLS[name][1] for name in added], "removed": list(removed)})

    def give_credit(self):
        """For the free slots. Given again after a failure: if the gateway did get it, `slots` may be passed for a moment."""
        with self.lock:
            for pool in set() if self.stop.is_set() or self.leaving else set(self.pool_of.values()):
                running = sum(self.pool_of.get(call.frame["tool"], "net") == pool for call in self.calls.values())
                n = self.slots - running - self.granted.get(pool, 0)
                try:
                    if n > 0:
                        self.post(f"/v1/workers/{self.id}/messages", {"frames": [{"op": "credit", "pool": pool, "n": n}]})
                        self.granted[pool] = self.granted.get(pool, 0) + n
                except (Gone, OSError, Refused):
                    pass

    def ended(self, call):
        with self.lock:
            self.calls.pop((call.key["callId"], call.key["fence"]), None)
        self.give_credit()

    def connect_forever(self):
        """Hello, then polls; again with back-off when the gateway is away, or another one."""
        pause = 0.1
        while not self.over.is_set():
            try:
                self.hello()
                pause = 0.1
                self.poll_until_gone()
            except (Gone, OSError) as error:
                say(f"the connection is over ({error or 'bye'})")
            except Refused as problem:
                say(f"refused: {problem}")
                self.code = 1
                return self.over.set()
            pause = back_off(pause)

    def hello(self):
        welcome = self.post("/v1/workers", {
            "op": "hello", "protocol": "toolyard-worker/1", "worker": self.name, "sdk": "python-example/1",
            "labels": {"pid": str(os.getpid())}, "tools": [about for _, about in TOOLS.values()]})
        with self.lock:
            self.id, self.granted, self.leaving, self.heartbeat = welcome["workerId"], {}, False, welcome["heartbeatMs"] / 1000
            self.pool_of = {taken["name"]: taken["pool"] for taken in welcome["tools"]}
        say(f"connected to {self.url.geturl()} as {self.id}; tools: {', '.join(self.pool_of)}", *welcome["problems"])

    def poll_until_gone(self):
        after, renewed, pause = 0, 0.0, 0.1
        while not self.over.is_set():
            with self.lock:
                held = [call.key for call in self.calls.values() if not call.answered.is_set()]
            if held and time.monotonic() - renewed > self.heartbeat / 2:
                self.send({"op": "renew", "callIds": [it["callId"] for it in held], "fences": [it["fence"] for it in held]})
                renewed = time.monotonic()
            self.give_credit()
            if (self.stop.is_set() or self.leaving) and not self.calls:
                self.send({"op": "bye"})
                self.over.set() if self.stop.is_set() else None
                raise Gone()
            try:
                page = self.post(f"/v1/workers/{self.id}/poll?wait={0 if self.stop.is_set() else 30}", {"after": after})
                for frame in page["frames"]:
                    self.take(frame)
                after, pause = page["seq"], 0.1
            except OSError as error:  # the same poll again: frames that were lost on the way come again
                say(f"the gateway cannot be reached ({error})")
                pause = back_off(pause)

    def take(self, frame):
        with self.lock:
            key = (frame.get("callId"), frame.get("fence"))
            call = self.calls.get(key)
            if frame["op"] == "call" and call is None:
                call = self.calls[key] = Call(self, frame)
                pool = self.pool_of.get(frame["tool"], "net")
                self.granted[pool] = max(0, self.granted.get(pool, 0) - 1)
                threading.Thread(target=call.run, daemon=True).start()
            elif frame["op"] == "drain":
                self.leaving = True
            elif frame["op"] == "refused":
                self.refused(frame.get("callId"), json.dumps(frame["problem"]))
            elif call is not None and frame["op"] in ("cancel", "stale"):
                call.stopped.set()
            if call is not None and frame["op"] in ("done", "stale"):
                call.answered.set()

    def run(self):
        """Until SIGTERM or SIGINT, and the running calls are over. Returns the exit code."""
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda *_: os._exit(1) if self.stop.is_set() else self.stop.set())
        threading.Thread(target=self.connect_forever, daemon=True).start()
        while not self.over.is_set() and not self.stop.wait(0.2):
            pass
        if self.id is not None and not self.over.is_set():
            self.send({"op": "drain"})
        while not self.over.wait(0.2):
            pass
        return self.code


def main():
    """Runs the tools that were announced, with the gateway and the key that the environment names."""
    key, url = os.environ.get("TOOLYARD_API_KEY"), os.environ.get("TOOLYARD_URL", "http://127.0.0.1:7411")
    if not key:
        sys.exit("Expected TOOLYARD_API_KEY: a key with the scope `work`.")
    sys.exit(Worker(url, key, os.environ.get("TOOLYARD_WORKER", "python"), int(os.environ.get("TOOLYARD_SLOTS", "4"))).run())


def dumps(body):
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def back_off(pause):
    time.sleep(pause * random.uniform(0.5, 1))
    return min(pause * 2, 5.0)


def say(*texts):
    print(*texts, sep="\n", file=sys.stderr, flush=True)
