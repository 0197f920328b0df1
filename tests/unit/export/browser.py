"""Chromium without a window, steered over a pipe (the DevTools protocol)."""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--hide-scrollbars", "--remote-debugging-pipe", "about:blank"]


def find_chromium():
    return shutil.which("chromium") or shutil.which("chromium-browser")


def start(executable, folder):
    """The process, a descriptor to write requests to and one to read answers from."""
    requests_read, requests_write = os.pipe()
    answers_read, answers_write = os.pipe()
    # The protocol wants descriptors 3 and 4; these are out of their way.
    child_in = fcntl.fcntl(requests_read, fcntl.F_DUPFD, 50)
    child_out = fcntl.fcntl(answers_write, fcntl.F_DUPFD, 50)

    def give_descriptors():
        os.dup2(child_in, 3)
        os.dup2(child_out, 4)

    process = subprocess.Popen([executable, f"--user-data-dir={folder}", *FLAGS],
                               preexec_fn=give_descriptors, pass_fds=(3, 4),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for descriptor in (requests_read, answers_write, child_in, child_out):
        os.close(descriptor)
    return process, requests_write, answers_read


class Browser:
    """One page.  What it asked the network for and complained about is kept."""

    def __init__(self, executable, width=1200, height=800):
        self.folder = tempfile.TemporaryDirectory(prefix="fathom-browser-",
                                                  ignore_cleanup_errors=True)
        self.process, self.write_to, self.read_from = start(executable, self.folder.name)
        self.unread = b""
        self.last_id = 0
        self.session = None
        self.requests = []
        self.complaints = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.session = None
        try:
            self.call("Browser.close")
        except OSError:
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.write_to)
        os.close(self.read_from)
        self.folder.cleanup()

    def receive(self, seconds):
        deadline = time.monotonic() + seconds
        while b"\0" not in self.unread:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.read_from], [], [], left)[0]:
                raise TimeoutError("chromium does not answer")
            piece = os.read(self.read_from, 1 << 20)
            if not piece:
                raise OSError("chromium went away")
            self.unread += piece
        message, self.unread = self.unread.split(b"\0", 1)
        return json.loads(message)

    def note(self, event):
        method, given = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(given["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(given["exceptionDetails"].get("text", "exception"))
        elif method == "Runtime.consoleAPICalled" and given["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(given["args"]))
        elif method == "Log.entryAdded" and given["entry"]["level"] in ("error", "warning"):
            self.complaints.append(given["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append("a dialog: " + given["message"])

    def call(self, method, **given):
        self.last_id += 1
        request = {"id": self.last_id, "method": method, "params": given}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write_to, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.receive(60)
            if answer.get("id") != request["id"]:
                self.note(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def open(self, url):
        self.call("Page.navigate", url="about:blank")
        self.requests.clear()
        self.call("Page.navigate", url=url)
        self.wait_for(f"location.href === {json.dumps(url)} && document.readyState === 'complete'")
        self.settle()

    def wait_for(self, expression):
        deadline = time.monotonic() + 60
        while not self.evaluate(expression):
            if time.monotonic() > deadline:
                raise TimeoutError(f"never true: {expression}")

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def settle(self):
        """Until what was drawn is on the screen."""
        self.evaluate("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def move(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x, y):
        self.move(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def drag(self, begin, end):
        self.move(*begin)
        for kind, (x, y) in (("mousePressed", begin), ("mouseMoved", end), ("mouseReleased", end)):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def unnamed(self):
        """Roles of what can be focused and has no name in the tree that screen readers get."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [node["role"]["value"] for node in nodes if not node.get("ignored")
                and any(p["name"] == "focusable" and p["value"].get("value") for p in node.get("properties", []))
                and node["role"]["value"] != "RootWebArea" and not node.get("name", {}).get("value")]

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key,
                      **({"text": key} if len(key) == 1 else {}))
        self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))
