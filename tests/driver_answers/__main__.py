"""Prints what a driver answers: ``python -m tests.driver_answers [--library libcuda.so.1] [WORD ...]``.

Without a library the installed package's real driver is asked, with ``--virtual`` its virtual GPU. A word chooses the
cases that contain it. ``--record "H100, driver 580.159.04"`` asks twice and makes the answers the expectations of
``answers.txt``, as seen there; cases that are answered in two ways keep what was expected of them.
"""

from __future__ import annotations

import argparse
import os
import sys

from .cases import all_cases
from .expected import record
from .library import Driver
from .run import answers


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", help="a library in the place of libcuda.so.1")
    parser.add_argument("--virtual", action="store_true", help="the virtual GPU of the installed package")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--record", metavar="WHERE", help="device and driver that the answers are seen on")
    parser.add_argument("words", nargs="*")
    return parser.parse_args()


def main() -> int:
    options = _parse()
    cases = [c for c in all_cases() if all(word in c for word in options.words)]
    driver = Driver(options.library, options.virtual)
    found = answers(driver, cases, options.processes)
    for case, text in found.items():
        print(f"{case} -> {text}")
    if options.record:
        again = answers(driver, cases, options.processes)
        stable = {
            case: text for case, text in found.items() if again[case] == text and not text.startswith("not asked")
        }
        record(stable, f"seen on {options.record}")
        print(f"{len(stable)} of {len(cases)} answers are recorded")
    return 0


if __name__ == "__main__":
    sys.exit(main())
