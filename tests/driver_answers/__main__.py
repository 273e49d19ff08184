"""Prints what a driver answers: ``python -m tests.driver_answers [--library libcuda.so.1] [WORD ...]``.

Without a library the installed package's real driver is asked, with ``--virtual`` its virtual GPU. A word chooses the
cases that contain it, ``--unseen`` those that no real driver has answered yet. ``--record "H100, driver 580.159.04"``
makes the answers the expectations of ``answers.txt``, as seen there. Answers that are not as expected are asked for
again; cases that are answered in two ways keep what was expected of them. ``--seconds`` ends the first asking early.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

from .cases import all_cases
from .expected import EXPECTED, SEEN, record
from .library import Driver
from .run import answers


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", help="a library in the place of libcuda.so.1")
    parser.add_argument("--virtual", action="store_true", help="the virtual GPU of the installed package")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--record", metavar="WHERE", help="device and driver that the answers are seen on")
    parser.add_argument("--unseen", action="store_true")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("words", nargs="*")
    return parser.parse_args()


def main() -> int:
    options = _parse()
    end = time.monotonic() + options.seconds
    cases = [c for c in all_cases() if all(word in c for word in options.words)]
    if options.unseen:
        cases = [c for c in cases if not EXPECTED.get(c, ("", ""))[1].startswith(SEEN)]
    driver = Driver(options.library, options.virtual)
    found = answers(driver, cases, options.processes, end)
    for case, text in found.items():
        print(f"{case} -> {text}")
    if options.record:
        other = [case for case, text in found.items() if EXPECTED.get(case, ("", ""))[0] != text]
        again = found | dict.fromkeys(other) | answers(driver, other, options.processes)
        stable = {c: text for c, text in found.items() if again[c] == text and not text.startswith("not asked")}
        record(stable, SEEN + options.record)
        print(f"{len(stable)} of {len(cases)} answers are recorded, {len(other)} are not as was expected")
    return 0


if __name__ == "__main__":
    sys.exit(main())
