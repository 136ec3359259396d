#!/usr/bin/env python3
"""A page in a headless Chromium, over the pipe of its debugging protocol.

browser.py CHROMIUM PAGE STEP...

    eval:CODE       print what the code makes, as JSON
    key:SEL:KEY     press a key with the focus on the element of a selector
    size:W:H        the size of the window
    shot:FILE       a picture of what is seen: .png or .webp

Exit 1 where the page throws, or logs an error.
"""
import base64
import json
import os
import subprocess
import sys
import tempfile
import time

KEYS = {"ArrowRight": 39, "ArrowLeft": 37, "ArrowUp": 38, "ArrowDown": 40,
        "Home": 36, "Enter": 13}

# A page without a script, as plan writes, is ready when it is read.
READY = ("!!document.body && (document.documentElement.dataset.ready === 'yes' || "
         "(document.readyState === 'complete' && !document.querySelector('noscript')))")


class Browser:
    def __init__(self, program, profile):
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()
        # The program reads descriptor 3 and writes descriptor 4.
        shell = f"exec 3<&{to_read} 4>&{back_write}; exec \"$0\" \"$@\""
        self.process = subprocess.Popen(
            ["bash", "-c", shell, program, "--headless=new", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage",
             "--remote-debugging-pipe", "--user-data-dir=" + profile,
             "about:blank"],
            pass_fds=(to_read, back_write), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(back_write)
        self.number = 0
        self.session = None
        self.rest = b""
        self.faults = []

    def read(self):
        while b"\0" not in self.rest:
            more = os.read(self.back, 1 << 20)
            if not more:
                raise SystemExit("error: the browser has ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def note(self, message):
        method, of = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.faults.append(json.dumps(of["exceptionDetails"])[:600])
        if method == "Log.entryAdded" and of["entry"]["level"] == "error":
            self.faults.append(of["entry"]["text"])
        if method == "Runtime.consoleAPICalled" and of["type"] == "error":
            self.faults.append(json.dumps(of["args"])[:600])

    def ask(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit("error: " + json.dumps(answer["error"]))
                return answer["result"]
            self.note(answer)

    def value(self, code):
        result = self.ask("Runtime.evaluate", expression=code,
                          returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise SystemExit("error: " + json.dumps(result)[:800])
        return result["result"].get("value")

    def open(self, page):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target,
                                flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.ask(domain + ".enable")
        self.ask("Page.navigate", url=page)
        for _ in range(200):
            if self.faults or self.value(READY):
                return
            time.sleep(0.05)
        raise SystemExit("error: the page is not ready")

    def key(self, selector, key):
        self.value(f"document.querySelector({json.dumps(selector)}).focus()")
        text = {} if len(key) > 1 else {"text": key}
        code = KEYS.get(key, ord(key[0]))
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key,
                     windowsVirtualKeyCode=code,
                     **(text if kind == "keyDown" else {}))
        # What the key asked for is drawn.
        self.value("new Promise(r => requestAnimationFrame(() => "
                   "requestAnimationFrame(() => r(1))))")

    def step(self, step):
        what, _, of = step.partition(":")
        if what == "eval":
            print(json.dumps(self.value(of), ensure_ascii=True))
        elif what == "key":
            selector, _, key = of.rpartition(":")
            self.key(selector, key)
        elif what == "size":
            width, height = of.split(":")
            self.ask("Emulation.setDeviceMetricsOverride", width=int(width),
                     height=int(height), deviceScaleFactor=1, mobile=False)
        elif what == "shot":
            data = self.ask("Page.captureScreenshot", quality=75,
                            format=of.rpartition(".")[2])["data"]
            with open(of, "wb") as out:
                out.write(base64.b64decode(data))
        else:
            raise SystemExit(f"error: no such step: '{step}'")


def main():
    program, page, steps = sys.argv[1], sys.argv[2], sys.argv[3:]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            browser.open(page)
            for step in steps:
                browser.step(step)
            browser.value("1")  # what was thrown by then has come
        finally:
            browser.process.kill()
            browser.process.wait()
    for fault in browser.faults:
        print("error: " + fault, file=sys.stderr)
    return 1 if browser.faults else 0


sys.exit(main())
