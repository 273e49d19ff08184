"""Fuzzes `rtcg.sparse.mmread`: mutated Matrix Market files are read, or refused by a `ValueError` with file and line.

``python fuzz/market.py [SECONDS] [SEED]``. What is read is written, read once more and compared. A find is printed and
ends the program with 1.
"""

import io
import random
import sys
import time

import numpy as np

import rtcg.autoinit  # noqa: F401
from rtcg import sparse

HEADER = "%%MatrixMarket matrix {} {} {}\n"
WORDS = ["0", "1", "2", "3", "-1", "9223372036854775807", "18446744073709551615", "9007199254740993", "1e5",
         "1D-3", "nan", "inf", "1_0", "%", "% x", "\n", "\r\n", "\t", "", ".", "+2", "0x1", "1e400", "5e-324",
         "\xb2", "\x00"]  # fmt: skip
FIELDS = ["real", "double", "integer", "unsigned-integer", "complex", "pattern"]
SYMMETRIES = ["general", "symmetric", "skew-symmetric", "hermitian"]


def seed_file(rng):
    """A file that is right, or nearly so."""
    field, symmetry = rng.choice(FIELDS), rng.choice(SYMMETRIES)
    numbers = {"pattern": 0, "complex": 2}.get(field, 1)
    n, count = rng.randint(1, 3), rng.randint(0, 4)
    text = HEADER.format(rng.choice(["coordinate", "coordinate", "array"]), field, symmetry)
    sizes = f"{n} {n} {count}" if "coordinate" in text else f"{n} {n}"
    rows = [f"{rng.randint(1, n)} {rng.randint(1, n)}" if "coordinate" in text else "" for _ in range(count)]
    lines = [" ".join([row, *(str(rng.randint(-9, 9)) for _ in range(numbers))]).strip() for row in rows]
    return "\n".join([text + sizes, *lines, ""])


def mutated(text, rng):
    for _ in range(rng.randint(0, 3)):
        at = rng.randint(0, len(text))
        kind = rng.randrange(4)
        if kind == 0:
            text = text[:at] + text[at + rng.randint(1, 4) :]
        elif kind == 1:
            text = text[:at] + rng.choice([*WORDS, chr(rng.randrange(256))]) + text[at:]
        elif kind == 2:
            lines = text.split("\n")
            lines.insert(rng.randint(0, len(lines)), rng.choice(lines))
            text = "\n".join(lines)
        else:
            words = text.split(" ")
            words[rng.randrange(len(words))] = rng.choice(WORDS)
            text = " ".join(words)
    return text


def dense(a):
    """The elements of an array that is small enough."""
    return a.toarray().get() if max(a.shape) < 100 else None


def find(content):
    """What is wrong about how a file is read, or None."""
    file = io.BytesIO(content)
    file.name = "fuzzed.mtx"
    try:
        a = sparse.mmread(file)
    except ValueError as error:
        return None if "fuzzed.mtx, line " in str(error) else f"ValueError without file and line: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if (elements := dense(a)) is None:
        return None
    written = io.BytesIO()
    sparse.mmwrite(written, a)
    if not np.array_equal(dense(sparse.mmread(io.BytesIO(written.getvalue()))), elements, equal_nan=True):
        return "what was written is read as something else"
    return None


def main(seconds=600.0, seed=1):
    rng, end, count = random.Random(seed), time.monotonic() + seconds, 0
    while time.monotonic() < end:
        content = mutated(seed_file(rng), rng).encode("latin-1", "replace")
        if (what := find(content)) is not None:
            print(f"find after {count} files, seed {seed}: {what}\n{content!r}")
            return 1
        count += 1
    print(f"{count} files in {seconds:g} s, no find")
    return 0


if __name__ == "__main__":
    sys.exit(main(*(kind(word) for kind, word in zip((float, int), sys.argv[1:], strict=False))))
