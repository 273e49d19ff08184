"""Runs the tests of one module and writes one JSON line per test.

``python unittest_worker.py MODULE OUTCOMES [SECONDS]``: tests that OUTCOMES names already are not
run again, so that a run that ended with the process (a crash, a test without end) can be continued.
A test that is begun is written down as such first.
"""

import faulthandler
import json
import sys
import time
import unittest


class Recorder(unittest.TestResult):
    """Writes each test's outcome and the last line of its error."""

    def __init__(self, path, seconds):
        super().__init__()
        self.file = open(path, "a", buffering=1)
        self.seconds = seconds
        self.outcome = None

    def write(self, test, outcome, reason=""):
        line = {"test": test.id(), "outcome": outcome, "reason": reason}
        if outcome != "begun":
            line["seconds"] = round(time.monotonic() - self.begun, 2)
        self.file.write(json.dumps(line) + "\n")

    def startTest(self, test):
        super().startTest(test)
        self.begun = time.monotonic()
        self.outcome = None
        self.write(test, "begun")
        faulthandler.dump_traceback_later(self.seconds, exit=True)

    def stopTest(self, test):
        faulthandler.cancel_dump_traceback_later()
        self.write(test, *(self.outcome or ("passed", "")))
        super().stopTest(test)

    def fail_with(self, kind, error):
        lines = [line for line in str(error[1]).splitlines() if line.strip()] or [""]
        said = lines[-1] if len(lines[-1]) > 20 else " | ".join(lines[-3:])
        # pytest's way to skip is an exception.
        kind = "skipped" if error[0].__name__ == "Skipped" else kind
        self.outcome = (kind, f"{error[0].__name__}: {said}"[:400])
        if "-v" in sys.argv:
            import traceback

            traceback.print_exception(*error)

    def addError(self, test, error):
        if self.outcome is None and not hasattr(self, "begun"):
            self.begun = time.monotonic()
        self.fail_with("failed", error)
        if isinstance(test, unittest.suite._ErrorHolder):
            self.write(test, *self.outcome)

    def addFailure(self, test, error):
        self.fail_with("failed", error)

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.fail_with("failed", error)

    def addSkip(self, test, reason):
        self.outcome = ("skipped", reason)
        if isinstance(test, unittest.suite._ErrorHolder):
            self.begun = time.monotonic()
            self.write(test, *self.outcome)

    def addExpectedFailure(self, test, error):
        self.outcome = ("passed", "fails as its authors expect")

    def addUnexpectedSuccess(self, test):
        self.outcome = ("failed", "its authors expect it to fail")


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def main():
    module, path = sys.argv[1:3]
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3] != "-v" else 120
    seen = set()
    try:
        with open(path) as file:
            seen = {json.loads(line)["test"] for line in file}
    except FileNotFoundError:
        pass
    faulthandler.enable()
    loaded = unittest.defaultTestLoader.loadTestsFromName(module)
    # A suite of each class's own tests keeps setUpClass working.
    suite = unittest.TestSuite(test for test in flat(loaded) if test.id() not in seen)
    suite.run(Recorder(path, seconds))


if __name__ == "__main__":
    main()
