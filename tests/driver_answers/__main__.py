"""Prints what a driver answers: ``python -m tests.driver_answers [--library libcuda.so.1] [WORD ...]``.

With ``--record NAME`` the answers are written beside this file, as what a real driver was seen to answer; cases whose
answer is not the same twice are left out. A word chooses the cases that contain it.
"""

from __future__ import annotations

import argparse
import os
import sys

from .cases import all_cases
from .library import Driver
from .run import answers


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", help="a library in the place of libcuda.so.1; else the installed package's table")
    parser.add_argument("--virtual", action="store_true", help="the virtual GPU of the installed package")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("words", nargs="*")
    return parser.parse_args()


def main() -> int:
    options = _parse()
    cases = [c for c in all_cases() if all(word in c for word in options.words)]
    driver = Driver(options.library, options.virtual)
    for case, text in answers(driver, cases, options.processes).items():
        print(f"{case} -> {text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
