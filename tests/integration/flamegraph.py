# SPDX-License-Identifier: LGPL-2.1-or-later
"""The flame graph, made from a recording of now, in a browser that clicks."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import webdriver

PEVREC = os.environ["PEVREC"]
LOAD = """
import time
def hot():
    return sum(i * i for i in range(2000))
def warm():
    return sorted(str(i) for i in range(300))
until = time.monotonic() + 2
while time.monotonic() < until:
    hot(), hot(), warm()
"""


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def check(truth, what):
    if not truth:
        sys.exit(f"FAILED: {what}")
    print("ok:", what)


def number(text):
    return float(text.replace(",", ""))


def record(path):
    run = subprocess.run([PEVREC, "record", "-e", "cpu-clock", "-F", "499", "-g", "-o", path, "--",
                          sys.executable, "-c", LOAD], capture_output=True, text=True)
    if run.returncode:
        skip("this machine lets nothing be recorded: " + run.stderr.strip())
    return int(re.search(r"(\d+) samples", run.stderr)[1])


def samples(browser):
    return number(re.search(r"([\d,]+) samples", browser.text("#summary"))[1])


def shares(browser, column):
    cells = browser.run("return [...document.querySelectorAll(`tbody td:nth-child(${arguments[0]})`)]"
                        ".map(td => td.textContent)", column)
    return [float(re.match(r"[\d.]+", cell)[0]) for cell in cells]


def show_all_rows(browser):
    while not browser.run("return document.getElementById('more').hidden"):
        browser.click("#more")


def status(browser):
    return browser.text("#status")


def click_frame(browser, frame):
    """In the middle of a frame, as window.pevrec.frames() tells where it is."""
    size = browser.run("const c = document.getElementById('graph');"
                       "return [c.clientWidth, c.clientHeight]")
    at = (frame["x"] + frame["width"] / 2 - size[0] / 2, frame["y"] + frame["height"] / 2 - size[1] / 2)
    browser.drag("#graph", at)


def frames(browser):
    return browser.run("return pevrec.frames()")


def check_counts(browser, recorded):
    check(samples(browser) == recorded, f"all {recorded} samples are there")
    root = frames(browser)[0]
    check(root["name"] == "all" and root["samples"] == recorded, "the root has all samples")
    show_all_rows(browser)
    rounding = 0.05 * len(shares(browser, 1))
    check(abs(sum(shares(browser, 1)) - 100) <= rounding, "what functions have in themselves is all there is")
    check("Most in " in browser.text("#summary"), "there is a summary in words")


def check_zoom(browser, recorded):
    wide = max((f for f in frames(browser) if 0 < f["samples"] < recorded and f["width"] > 30),
               key=lambda f: f["samples"])
    click_frame(browser, wide)
    zoomed = [f for f in frames(browser) if f["name"] == wide["name"] and f["samples"] == wide["samples"]]
    full = browser.run("return document.getElementById('graph').clientWidth")
    check(any(abs(f["width"] - full) < 1 for f in zoomed), "a click zooms in")
    check(wide["name"] in status(browser), "the status line says where")
    browser.click("#reset")
    check(frames(browser)[0]["name"] == "all" and browser.run("return document.getElementById('reset').disabled"),
          "the button zooms out")
    browser.run("document.getElementById('graph').focus()")
    browser.keys("\ue013", "\ue013", "\ue007")  # up, up, enter
    check(not browser.run("return document.getElementById('reset').disabled"), "the keyboard zooms in")
    browser.keys(*["\ue00c"] * 3)  # escape
    check(browser.run("return document.getElementById('reset').disabled"), "the keyboard zooms out")


def check_search(browser):
    browser.type("#search", "^all of nothing$")
    check(browser.text("#matched").startswith("0.0"), "what is nowhere has no share")
    browser.run("document.getElementById('search').value = ''")
    browser.type("#search", ".")
    check(browser.text("#matched").startswith("100.0"), "what is everywhere has all")
    browser.run("document.getElementById('search').value = ''")
    browser.click("tbody td button")
    total = browser.run("return document.querySelector('tbody td:nth-child(2)').textContent")
    check(browser.text("#matched").startswith(total), f"a function's share is its total, {total}")
    browser.run("document.getElementById('search').value = ''")
    browser.type("#search", "(")
    check(browser.run("return document.getElementById('search').ariaInvalid") == "true"
          or "no regular expression" in browser.text("#matched"), "a broken pattern is told")
    browser.run("const s = document.getElementById('search'); s.value = '';"
                "s.dispatchEvent(new Event('input'))")


def check_table(browser):
    check(shares(browser, 1) == sorted(shares(browser, 1), reverse=True), "the table is sorted by self")
    browser.click("th:nth-child(2) button")
    check(shares(browser, 2) == sorted(shares(browser, 2), reverse=True), "and by total")
    browser.click("th:nth-child(2) button")
    check(shares(browser, 2) == sorted(shares(browser, 2)), "and backwards")
    check(browser.run("return document.querySelector('th:nth-child(2)').ariaSort") == "ascending",
          "and says so")


def check_invert(browser, recorded):
    before = frames(browser)
    browser.click("#invert")
    after = frames(browser)
    check(after[0]["samples"] == recorded and after != before, "callers have the same root")
    check(sum(f["samples"] for f in after if f["y"] == after[1]["y"]) <= recorded,
          "and no more samples next to it")
    browser.click("#invert")
    check(frames(browser) == before, "and back")
    browser.click("#flip")
    check(frames(browser)[0]["y"] == 0, "an icicle has its root on top")
    browser.click("#flip")


def check_theme(browser):
    theme = "return document.documentElement.dataset.theme"
    first = browser.run(theme)
    browser.click("#theme")
    check({first, browser.run(theme)} == {"light", "dark"}, "the theme changes")


def check_timeline(browser, recorded):
    half = browser.run("return document.getElementById('timeline').clientWidth") / 2
    browser.drag("#timeline", (-half / 2, 0), (0, 0), (half / 2, 0))
    some = samples(browser)
    check(0 < some < recorded and frames(browser)[0]["samples"] == some,
          f"a range has a part of the samples, {some:.0f}")
    check(re.search(r"\d\d:\d\d:\d\d", browser.text("#range-text")), "and times of day")
    browser.click("#range-clear")
    check(samples(browser) == recorded, "the whole has all again")
    browser.drag("#timeline", (-half + 2, 0), (0, 0))
    left = samples(browser)
    browser.run("document.getElementById('timeline').focus()")
    browser.keys("\ue014")  # right
    right = samples(browser)
    check(left and right, "the keyboard moves the range")
    browser.keys("\ue00c")
    check(samples(browser) == recorded, "and clears it")


def check_many(browser, folder):
    """A page of 100,000 distinct stacks does all the same, and draws only what can be seen."""
    with open("many.html", "wb") as page:
        subprocess.run([f"{os.environ['BUILD_DIR']}/tests/integration/many_stacks", "100000"],
                       stdout=page, check=True)
    browser.open(f"file://{folder}/many.html")
    check(samples(browser) == 100000, "100,000 stacks are there")
    check(len(frames(browser)) < 50000, f"and {len(frames(browser))} frames are drawn")
    check_zoom(browser, 100000)
    check_invert(browser, 100000)
    check_timeline(browser, 100000)


def make(*arguments):
    subprocess.run([PEVREC, "flamegraph", *arguments], check=True)


def main():
    if missing := webdriver.missing():
        skip(f"needs {missing}")
    with tempfile.TemporaryDirectory(prefix="pevrec-test.") as folder, webdriver.Browser() as browser:
        os.chdir(folder)
        recorded = record("one.data")
        record("two.data")
        make("-o", "one.html", "-i", "one.data")
        page = pathlib.Path("one.html").read_text()
        check(not re.search(r'(src|href)="(?!#)', page) and "@import" not in page,
              "the page asks for nothing beside itself")
        browser.open(f"file://{folder}/one.html")
        check_counts(browser, recorded)
        check_zoom(browser, recorded)
        check_search(browser)
        check_table(browser)
        check_invert(browser, recorded)
        check_theme(browser)
        check_timeline(browser, recorded)
        make("-o", "diff.html", "--diff", "one.data", "two.data")
        browser.open(f"file://{folder}/diff.html")
        check("before" in browser.text("#summary") and "grew" in browser.text("#legend"), "a difference")
        show_all_rows(browser)
        changes = [float(re.search(r"[\d.]+", t)[0]) * (-1 if "−" in t else 1) for t in browser.run(
            "return [...document.querySelectorAll('tbody td:first-child')].map(td => td.textContent)")]
        check(abs(sum(changes)) <= 0.05 * len(changes), "what grew and what shrank is the same much")
        check_many(browser, folder)
        check(browser.complaints() == [], "the browser has nothing to complain about")


main()
