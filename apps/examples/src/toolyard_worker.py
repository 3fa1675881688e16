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


def tool(description, properties, required=(), **more):
    """Announces a function: it gets a Call and the arguments, and returns a text, or a dict if it has an `output` schema."""
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


class Call:
    """One attempt. A handler calls `check` often, so that it stops when it is to stop."""

    def __init__(self, worker, frame):
        self.worker, self.frame = worker, frame
        self.key = {"callId": frame["callId"], "fence": frame["fence"]}
        self.stopped, self.answered, self.wseq = threading.Event(), threading.Event(), 0

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
        self.worker.send([{"op": "update", **self.key, "wseq": self.wseq, "content": [{"type": "text", "text": text}]}])

    def progress(self, done, total, message=""):
        self.check()
        self.worker.send([{"op": "progress", **self.key, "done": done, "total": total, "message": message}])

    def run(self):
        try:
            self.worker.send([{"op": "started", **self.key}])
            function, about = TOOLS[self.frame["tool"]]
            result = function(self, **self.frame["arguments"])
            text = result if isinstance(result, str) else json.dumps(result)
            end = {"outcome": "completed", "content": [{"type": "text", "text": text}]}
            if "output" in about:
                end["structuredContent"] = result
        except Cancelled:
            end = failure("cancelled", "The worker stopped the call.")
        except Exception as error:  # a tool that fails fails its call only
            end = failure("failed", f"{type(error).__name__}: {error}")
        self.finish(end)
        self.worker.ended(self)

    def finish(self, end):
        """Repeats the end until the gateway says that it is written, or that the call is no longer of this worker."""
        self.wseq += 1
        while not self.answered.is_set():
            try:
                self.worker.send([{"op": "finish", **self.key, "wseq": self.wseq, **end}])
            except Refused as problem:
                if end.get("error", {}).get("code") == "refused":
                    return
                end = failure("refused", f"The gateway refused the result: {problem}")
                continue
            self.answered.wait(self.worker.heartbeat)


def failure(code, message):
    return {"outcome": "failed", "error": {"code": code, "message": message[:8000], "retryable": False}}


class Http:
    """One connection that is kept. Each thread that waits has its own."""

    def __init__(self, url, key):
        self.url, self.connection = urlsplit(url), None
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def post(self, path, body):
        """Raises Gone, Refused, or OSError when it may be tried again."""
        try:
            if self.connection is None:
                kind = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
                self.connection = kind(self.url.hostname, self.url.port, timeout=60)
            self.connection.request("POST", self.url.path.rstrip("/") + path, json.dumps(body), self.headers)
            answer = self.connection.getresponse()
            status, data = answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise OSError(f"{type(error).__name__}: {error}") from error
        if status < 300:
            return json.loads(data) if data else None
        detail = f"{status} {data[:2000].decode('utf-8', 'replace')}"
        if status == 404 and path != "/v1/workers":
            raise Gone(detail)
        if status >= 500 or status in (408, 409, 429):
            raise OSError(detail)
        raise Refused(detail)

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None


class Worker:
    """`slots`: calls that run at a time in each pool."""

    def __init__(self, url, key, name, slots):
        self.url, self.key, self.name, self.slots = url, key, name, slots
        self.sender, self.sending = Http(url, key), threading.Lock()
        self.lock = threading.RLock()  # of the next line
        self.id, self.calls, self.granted, self.pool_of, self.draining, self.leaving = None, {}, {}, {}, False, False
        self.heartbeat, self.failed, self.stop = 5.0, False, threading.Event()

    def path(self, what):
        with self.lock:
            return self.id and f"/v1/workers/{self.id}/{what}"

    def send(self, frames):
        """Sends frames of a call, again after each failure. After a reconnect they go to the new connection."""
        pause = 0.1
        while True:
            with self.sending:
                try:
                    return self.sender.post(self.path("messages"), {"frames": frames})
                except (Gone, OSError):
                    pass
            pause = back_off(pause)

    def give_credit(self, http_of):
        """Credit for the free slots. What the gateway may not have got is given again: `slots` may be passed for a moment."""
        with self.lock:
            path, frames = self.path("messages"), []
            for pool in set() if self.draining or self.leaving else set(self.pool_of.values()):
                running = sum(self.pool_of.get(call.frame["tool"]) == pool for call in self.calls.values())
                n = self.slots - running - self.granted.get(pool, 0)
                if n > 0:
                    frames.append({"op": "credit", "pool": pool, "n": n})
                    self.granted[pool] = self.granted.get(pool, 0) + n
        try:
            if frames:
                http_of.post(path, {"frames": frames})
        except (Gone, OSError):
            with self.lock:
                if path == self.path("messages"):
                    for frame in frames:
                        self.granted[frame["pool"]] = max(0, self.granted[frame["pool"]] - frame["n"])

    def ended(self, call):
        with self.lock:
            self.calls.pop((call.key["callId"], call.key["fence"]), None)
        with self.sending:
            self.give_credit(self.sender)

    def poll_forever(self):
        """Keeps the connection: hello, then polls; again with back-off when the gateway is away."""
        http_of, pause = Http(self.url, self.key), 0.1
        while True:
            try:
                self.hello(http_of)
                pause = 0.1
                self.poll_until_gone(http_of)
            except Gone:
                say("this connection is over; connecting again")
            except OSError as error:
                say(f"the gateway cannot be reached ({error}); trying again")
            except Refused as problem:
                say(f"refused: {problem}")
                self.failed = True
                return self.stop.set()
            pause = back_off(pause)

    def hello(self, http_of):
        welcome = http_of.post("/v1/workers", {
            "op": "hello", "protocol": "toolyard-worker/1", "worker": self.name, "sdk": "python-example/1",
            "labels": {"pid": str(os.getpid())}, "tools": [about for _, about in TOOLS.values()]})
        for problem in welcome["problems"]:
            say(f"left out: {problem}")
        with self.lock:
            self.id, self.granted, self.leaving = welcome["workerId"], {}, False
            self.pool_of = {taken["name"]: taken["pool"] for taken in welcome["tools"]}
            self.heartbeat = welcome["heartbeatMs"] / 1000
        say(f"connected to {self.url} as {self.id}; tools: {', '.join(self.pool_of)}")

    def poll_until_gone(self, http_of):
        after, renewed, pause = 0, 0.0, 0.1
        while True:
            try:
                with self.lock:
                    running = [call.key for call in self.calls.values()]
                if running and time.monotonic() - renewed > self.heartbeat / 2:
                    ids, fences = [key["callId"] for key in running], [key["fence"] for key in running]
                    http_of.post(self.path("messages"), {"frames": [{"op": "renew", "callIds": ids, "fences": fences}]})
                    renewed = time.monotonic()
                if self.leaving and not running:
                    http_of.post(self.path("messages"), {"frames": [{"op": "bye"}]})
                    raise Gone()
                self.give_credit(http_of)
                page = http_of.post(self.path("poll?wait=30"), {"after": after})
                for frame in page["frames"]:
                    self.take(frame)
                after, pause = page["seq"], 0.1
            except OSError as error:  # the same poll again: frames that were lost on the way come again
                say(f"the gateway cannot be reached ({error}); trying again")
                pause = back_off(pause)

    def take(self, frame):
        with self.lock:
            key = (frame.get("callId"), frame.get("fence"))
            call = self.calls.get(key)
            if frame["op"] == "call" and call is None:
                call = self.calls[key] = Call(self, frame)
                pool = self.pool_of.get(frame["tool"])
                self.granted[pool] = max(0, self.granted.get(pool, 0) - 1)
                threading.Thread(target=call.run, daemon=True).start()
            elif frame["op"] == "drain":
                self.leaving = True
            elif frame["op"] == "refused":
                say(f"refused: {json.dumps(frame['problem'])}")
            elif call is not None and frame["op"] in ("cancel", "stale"):
                call.stopped.set()
            if call is not None and frame["op"] in ("done", "stale"):
                call.answered.set()

    def run(self):
        """Until SIGTERM or SIGINT. Returns the exit code."""
        signals = []
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda *_: (signals.append(1), self.stop.set(), len(signals) > 1 and os._exit(1)))
        threading.Thread(target=self.poll_forever, daemon=True).start()
        self.stop.wait()
        self.draining = True
        last = Http(self.url, self.key)
        if self.id and not self.failed:
            say("draining: no more calls")
            try:
                last.post(self.path("messages"), {"frames": [{"op": "drain"}]})
                while self.calls:
                    time.sleep(0.05)
                last.post(self.path("messages"), {"frames": [{"op": "bye"}]})
            except (Gone, Refused, OSError) as error:
                say(f"left without a bye: {error}")
        return 1 if self.failed else 0


def main():
    """Runs the tools that were announced, with the gateway and the key that the environment names."""
    key = os.environ.get("TOOLYARD_API_KEY")
    if not key:
        sys.exit("Expected TOOLYARD_API_KEY: a key with the scope `work`.")
    url, name = os.environ.get("TOOLYARD_URL", "http://127.0.0.1:7411"), os.environ.get("TOOLYARD_WORKER", "python")
    sys.exit(Worker(url, key, name, int(os.environ.get("TOOLYARD_SLOTS", "4"))).run())


def back_off(pause):
    time.sleep(pause * random.uniform(0.5, 1))
    return min(pause * 2, 5.0)


def say(text):
    print(text, file=sys.stderr, flush=True)
