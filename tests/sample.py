"""A sample of all variants of the tests, chosen by a text such as a commit's hash: `python tests/sample.py TEXT`.

Prints what it chose, and with each failure the one command that repeats it.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Crates whose integration tests have more variants than `make test` runs (tests/support/depth.rs).
CRATES = ("rtcg", "rtcg-vgpu")
SHARE = 12


def cargo_test(crate, *arguments, **options):
    command = ["cargo", "test", "--quiet", "--release", "-p", crate, "--test", "integration", "--", *arguments]
    return subprocess.run(command, cwd=ROOT, text=True, check=False, **options)


def chosen_tests(crate, text):
    """The names of the crate's tests whose hash together with `text` falls into the share."""
    listed = cargo_test(crate, "--list", stdout=subprocess.PIPE)
    names = [line.removesuffix(": test") for line in listed.stdout.splitlines() if line.endswith(": test")]
    assert names, f"no tests of {crate} are listed"
    digest = lambda name: hashlib.sha256(f"{text} {name}".encode()).digest()[0]  # noqa: E731
    return [name for name in names if digest(name) % SHARE == 0]


def main(text):
    os.environ["RTCG_TEST_ALL"] = "1"
    failed = False
    for crate in CRATES:
        for name in chosen_tests(crate, text):
            print(f"sample: {crate} {name}", flush=True)
            if cargo_test(crate, "--exact", name, stdout=subprocess.DEVNULL).returncode:
                failed = True
                command = f"RTCG_TEST_ALL=1 cargo test --release -p {crate} --test integration -- --exact {name}"
                print(f"failed; repeat it: {command}", flush=True)
    processes = os.environ.get("TEST_PROCESSES", str(min(os.cpu_count() or 1, 8)))
    command = [sys.executable, "-m", "pytest", "tests/python", "--sample", text, "-n", processes, "--dist", "worksteal"]
    failed |= subprocess.run(command, cwd=ROOT, check=False).returncode != 0
    return int(failed)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
