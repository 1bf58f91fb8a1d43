# SPDX-License-Identifier: Apache-2.0
"""Runs installed test modules of Python and prints each test with its outcome: python3 python_tests.py MODULE..."""
import sys
import unittest
from test import support


class Outcomes(unittest.TestResult):
    """Every test's name and how it ended, in order, without times."""

    def tell(self, test, outcome):
        print(test.id(), outcome)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.tell(test, "ok")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.tell(test, "skipped")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.tell(test, "FAILED\n" + self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.tell(test, "ERROR\n" + self.errors[-1][1])


if __name__ == "__main__":
    support.verbose = False  # else threads tell how long they have slept
    outcomes = Outcomes()
    unittest.defaultTestLoader.loadTestsFromNames("test." + name for name in sys.argv[1:]).run(outcomes)
    print(outcomes.testsRun, "tests")
    sys.exit(not outcomes.wasSuccessful())
