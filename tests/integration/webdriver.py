# SPDX-License-Identifier: LGPL-2.1-or-later
"""A headless Chromium through chromedriver: as much of https://www.w3.org/TR/webdriver2/ as tests need."""
import json
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--disable-dev-shm-usage", "--hide-scrollbars"]
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def missing():
    """The name of a program that is not installed, or None."""
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            return program
    return None


class Browser:
    """Use it with "with": the browser and its profile go away at the end."""

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="pevrec-chromium.", ignore_cleanup_errors=True)
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            if port := re.search(r"started successfully on port (\d+)", line):
                self.base = f"http://127.0.0.1:{port[1]}/session"
                break
        options = {"binary": shutil.which("chromium"),
                   "args": ARGUMENTS + [f"--user-data-dir={self.profile.name}", "--window-size=1400,900"]}
        answer = self.ask("POST", "", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.base += "/" + answer["sessionId"]
        return self

    def __exit__(self, *_):
        try:
            self.ask("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()
            self.profile.cleanup()

    def ask(self, method, path, body=None):
        """One WebDriver command; raises with the browser's words when it fails."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        request = urllib.request.Request(self.base + path, method=method,
                                         data=json.dumps(body).encode() if body is not None else None,
                                         headers={"Content-Type": "application/json"})
        try:
            with opener.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {json.load(error)['value']['message']}") from error

    def open(self, url):
        self.ask("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """What the body of a JavaScript function returns."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def element(self, selector):
        return self.ask("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def click(self, selector):
        self.ask("POST", f"/element/{self.element(selector)}/click", {})

    def type(self, selector, text):
        self.ask("POST", f"/element/{self.element(selector)}/value", {"text": text})

    def drag(self, selector, *points):
        """Presses at the first of the points (x, y from the middle of the element) and lets go at the last."""
        origin = {ELEMENT: self.element(selector)}
        moves = [{"type": "pointerMove", "duration": 0, "origin": origin, "x": round(x), "y": round(y)}
                 for x, y in points]
        self.ask("POST", "/actions", {"actions": [{
            "type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
            "actions": [moves[0], {"type": "pointerDown", "button": 0}, *moves[1:],
                        {"type": "pointerUp", "button": 0}]}]})

    def keys(self, *keys):
        """Presses keys, to whatever has the focus."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def complaints(self):
        """Errors that the page has caused so far."""
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})
                if entry["level"] == "SEVERE"]

    def screenshot(self):
        """A PNG, in base64."""
        return self.ask("GET", "/screenshot")
