"""Runs modules of openstacksdk's functional tests for bare metal; one JSON line {test, outcome, text} for each test."""

import json
import sys
import unittest

FOLDER = "openstack.tests.functional.baremetal.v1."


class Lines(unittest.TestResult):
    def _say(self, test, outcome, text=""):
        name = test.id().removeprefix(FOLDER)
        print(json.dumps({"test": name, "outcome": outcome, "text": text}), file=lines, flush=True)

    def addSuccess(self, test, details=None):
        self._say(test, "passed")

    def addSkip(self, test, reason=None, details=None):
        self._say(test, "skipped", reason or details["reason"].as_text())

    def addFailure(self, test, err=None, details=None):
        self._say(test, "failed", str(err[1]) if err else "\n".join(part.as_text() for part in details.values()))

    addError = addFailure


# Tests may print: what they print must not mix with the lines.
lines, sys.stdout = sys.stdout, sys.stderr
for module in sys.argv[1:]:
    unittest.defaultTestLoader.loadTestsFromName(FOLDER + module).run(Lines())
