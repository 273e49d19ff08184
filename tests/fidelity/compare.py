"""What two devices answered, question by question: `python compare.py VIRTUAL REAL`.

Ends with a failure where an answer differs that `differences.py` does not list.
"""

from __future__ import annotations

import collections
import re
import sys
from collections.abc import Iterable

from differences import BY_DESIGN, DEPENDS_ON_LOAD, NOT_COMPARABLE

Answers = dict[tuple[str, str, int], str]


def read(lines: Iterable[str]) -> Answers:
    """Answers by question, key and number of the repetition."""
    answers: Answers = {}
    for line in lines:
        question, key, value = (line.rstrip("\n").split("|", 2) + ["", ""])[:3]
        repetition = 0
        while (question, key, repetition) in answers:
            repetition += 1
        answers[question, key, repetition] = value
    return answers


def listed(entries: Iterable[tuple[str, str, str]], question: str, key: str) -> str | None:
    """The reason of the entry that covers this answer."""
    for questions, pattern, reason in entries:
        if re.fullmatch(questions, question) and re.search(pattern, key):
            return reason
    return None


def differences(virtual: Answers, real: Answers) -> tuple[dict[str, collections.Counter[str]], list[str]]:
    """Counts of `equal`, `differ`, `by design` and `not comparable` by question, and the lines of those that differ."""
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    lines = []
    for place in sorted(virtual.keys() | real.keys()):
        question, key, _ = place
        if listed(NOT_COMPARABLE, question, key):
            kind = "not comparable"
        elif virtual.get(place) == real.get(place):
            kind = "equal"
        elif listed(BY_DESIGN, question, key):
            kind = "by design"
        elif listed(DEPENDS_ON_LOAD, question, key):
            kind = "not comparable"
        else:
            kind = "differ"
            lines += [
                f"{question}: {key}",
                f"    virtual {virtual.get(place, '-')}",
                f"    real    {real.get(place, '-')}",
            ]
        counts[question][kind] += 1
    return counts, lines


def main() -> int:
    with open(sys.argv[1], errors="replace") as virtual, open(sys.argv[2], errors="replace") as real:
        counts, lines = differences(read(virtual), read(real))
    for question, kinds in counts.items():
        print(f"== {question}: " + ", ".join(f"{n} {kind}" for kind, n in kinds.items()))
    print("\n".join(lines))
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
