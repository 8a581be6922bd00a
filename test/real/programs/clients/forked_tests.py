"""Runs the tests of a package, an argument; one JSON line {test, outcome, text} for each test.

Each module of tests is run by a fork of its own, all at once: they mostly sleep. Classes of one module stay in one
process, because some tests list all of a resource and expect to find nobody else's.
"""

import fcntl
import importlib
import json
import os
import sys
import tempfile
import unittest

PACKAGE = sys.argv[1]
package = importlib.import_module(PACKAGE)
# The folder that has the outermost package.
top = os.path.abspath(os.path.join(package.__path__[0], *[".."] * len(PACKAGE.split("."))))

# Tests may print: what they print must not mix with the lines.
lines = os.dup(1)
os.dup2(2, 1)
lock = tempfile.TemporaryFile()


class Lines(unittest.TestResult):
    def _say(self, test, outcome, text=""):
        name = test.id().removeprefix(PACKAGE + ".")
        line = (json.dumps({"test": name, "outcome": outcome, "text": text}) + "\n").encode()
        fcntl.lockf(lock, fcntl.LOCK_EX)
        while line:
            line = line[os.write(lines, line) :]
        fcntl.lockf(lock, fcntl.LOCK_UN)

    def addSuccess(self, test, details=None):
        self._say(test, "passed")

    def addSkip(self, test, reason=None, details=None):
        self._say(test, "skipped", reason or details["reason"].as_text())

    def addFailure(self, test, err=None, details=None):
        self._say(test, "failed", str(err[1]) if err else "\n".join(part.as_text() for part in details.values()))

    addError = addFailure


def tests(suite):
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from tests(part)
        else:
            yield part


everything = unittest.defaultTestLoader.discover(package.__path__[0], top_level_dir=top)
modules = {}
for test in tests(everything):
    modules.setdefault(type(test).__module__, unittest.TestSuite()).addTest(test)
children = []
for suite in modules.values():
    child = os.fork()
    if child == 0:
        suite.run(Lines())
        os._exit(0)
    children.append(child)
sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))
