"""A sample of all variants of the tests, chosen by a text such as a commit's hash: `python tests/sample.py TEXT`.

Prints what it chose, and with each failure the one command that repeats it.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Folders of the crates whose integration tests have more variants than `make test` runs (tests/support/depth.rs).
CRATES = ("rtcg", "vgpu")
SHARE = 81


def test_programs():
    """The integration tests of `CRATES`, as `make test-rust` has built them, and the folders they run in."""
    command = ["cargo", "test", "--quiet", "--release", "--workspace", "--exclude", "rtcg-python", "--no-run"]
    built = subprocess.run([*command, "--message-format=json"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    for line in built.stdout.splitlines():
        message = json.loads(line)
        folder = Path(message.get("manifest_path", "")).parent
        is_chosen = message.get("target", {}).get("name") == "integration" and folder.name in CRATES
        if is_chosen and message.get("executable"):
            yield message["executable"], folder


def chosen_tests(program, folder, text):
    """The names of a program's tests whose hash together with `text` falls into the share."""
    listed = subprocess.run([program, "--list"], cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    names = [line.removesuffix(": test") for line in listed.stdout.splitlines() if line.endswith(": test")]
    assert names, f"no tests of {program} are listed"
    digest = lambda name: hashlib.sha256(f"{text} {name}".encode()).digest()[0]  # noqa: E731
    return [name for name in names if digest(name) % SHARE == 0]


def run_rust(text):
    """Whether a test of the sample of `CRATES` failed."""
    programs = list(test_programs())
    assert len(programs) == len(CRATES), f"of {CRATES} only {programs} have integration tests"
    failed = False
    for program, folder in programs:
        names = chosen_tests(program, folder, text)
        print(f"sample: {folder.name}, {len(names)} tests: {', '.join(names)}", flush=True)
        if not names:
            continue
        ran = subprocess.run([program, "--exact", *names], cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
        print(ran.stdout, flush=True)
        failed |= ran.returncode != 0
        for name in re.findall(r"^test (\S+) \.\.\. FAILED", ran.stdout, re.M):
            package = "rtcg" if folder.name == "rtcg" else f"rtcg-{folder.name}"
            command = f"RTCG_TEST_ALL=1 cargo test --release -p {package} --test integration -- --exact {name}"
            print(f"failed; repeat it: {command}", flush=True)
    return failed


def main(text):
    os.environ["RTCG_TEST_ALL"] = "1"
    failed = run_rust(text)
    processes = os.environ.get("TEST_PROCESSES", str(min(os.cpu_count() or 1, 8)))
    command = [sys.executable, "-m", "pytest", "tests/python", "--sample", text, "-n", processes, "--dist", "worksteal"]
    failed |= subprocess.run(command, cwd=ROOT, check=False).returncode != 0
    return int(failed)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
