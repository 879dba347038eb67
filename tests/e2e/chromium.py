#!/usr/bin/env python3
"""Loads a page in headless Chromium and prints what expressions of JavaScript say there, one JSON value a line.

    chromium.py URL [--loads N] [--screenshot FILE.png] [--wait EXPRESSION]... EXPRESSION...

--wait goes on when the expression is true, and fails after 30 s. --loads loads the page N times and prints the times
of each load first: the last byte, the first content on the screen, the load event, in ms since the navigation began.
Anything that the browser complains about (a script that fails, what the Content-Security-Policy blocks) is a failure.
The browser is spoken to through pipes (--remote-debugging-pipe), so that nothing but its package is needed."""
import argparse
import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

TIMES = """(() => {
    const n = performance.getEntriesByType('navigation')[0];
    const p = performance.getEntriesByName('first-contentful-paint')[0];
    return n.loadEventEnd > 0 && p ? {bytes: n.decodedBodySize, last_byte: n.responseEnd, paint: p.startTime,
                                      load: n.loadEventEnd} : null;
})()"""
WAIT_S = 30


class Browser:
    def __init__(self):
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if not program:
            sys.exit("chromium.py: no Chromium here (Debian: chromium)")
        self.profile = tempfile.mkdtemp()
        read_there, self.write_fd = os.pipe()
        self.read_fd, write_there = os.pipe()
        command = [program, "--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                   "--remote-debugging-pipe", "--user-data-dir=" + self.profile, "--window-size=1280,900",
                   "about:blank"]
        if os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # which does not work for root
        # The browser reads at descriptor 3 and writes at 4.
        shell = 'exec "$@" 3<&%d 4>&%d' % (read_there, write_there)
        self.process = subprocess.Popen(["bash", "-c", shell, "bash"] + command,
                                        pass_fds=(read_there, write_there), stderr=subprocess.DEVNULL)
        os.close(read_there)
        os.close(write_there)
        self.got, self.number, self.complaints, self.session = b"", 0, [], None

    def message(self, until):
        while b"\0" not in self.got:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.read_fd], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.read_fd, 1 << 16)
            if not part:
                raise EOFError("the browser has ended")
            self.got += part
        text, self.got = self.got.split(b"\0", 1)
        return json.loads(text)

    def note(self, m):
        method, p = m.get("method"), m.get("params", {})
        if method == "Log.entryAdded" and p["entry"]["level"] == "error":
            self.complaints.append(p["entry"]["text"])
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(p["exceptionDetails"]))

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write_fd, json.dumps(request).encode() + b"\0")
        until = time.monotonic() + WAIT_S
        while True:
            m = self.message(until)
            if m.get("id") != self.number:
                self.note(m)
            elif "error" in m:
                raise RuntimeError("%s: %s" % (method, m["error"]["message"]))
            else:
                return m["result"]

    def open(self):
        page = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def value(self, expression):
        r = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in r:
            raise RuntimeError("%s: %s" % (expression, r["exceptionDetails"]["exception"]["description"]))
        return r["result"].get("value")

    def wait(self, expression):
        until = time.monotonic() + WAIT_S
        while (value := self.value(expression)) in (None, False, 0, ""):  # an element of the page is {}
            if time.monotonic() > until:
                raise TimeoutError("not within %d s: %s" % (WAIT_S, expression))
            time.sleep(0.05)
        return value

    def load(self, url):
        r = self.call("Page.navigate", url=url)
        if r.get("errorText"):
            raise RuntimeError("%s: %s" % (url, r["errorText"]))
        return self.wait(TIMES)

    def screenshot(self, path):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        with open(path, "wb") as out:
            out.write(base64.b64decode(shot["data"]))

    def close(self):
        os.close(self.write_fd)
        os.close(self.read_fd)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("expressions", nargs="*")
    parser.add_argument("--loads", type=int, default=0)
    parser.add_argument("--screenshot")
    parser.add_argument("--wait", action="append", default=[])
    a = parser.parse_intermixed_args()
    browser = Browser()
    try:
        browser.open()
        for _ in range(max(a.loads, 1)):
            times = browser.load(a.url)
            if a.loads:
                print(json.dumps(times), flush=True)
        for expression in a.wait:
            browser.wait(expression)
        for expression in a.expressions:
            print(json.dumps(browser.value(expression)), flush=True)
        if a.screenshot:
            browser.screenshot(a.screenshot)
        for c in browser.complaints:
            print("chromium.py: the browser complains: " + c, file=sys.stderr)
        return 1 if browser.complaints else 0
    except (RuntimeError, TimeoutError, EOFError) as e:
        print("chromium.py: %s" % e, file=sys.stderr)
        return 1
    finally:
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
