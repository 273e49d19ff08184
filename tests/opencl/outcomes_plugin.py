"""A plugin of pytest that writes the outcome of each test as soon as it is known, and leaves tests out.

`run_pytest` of ``environments.py`` loads it. ``RTCG_JUDGE_OUTCOMES`` names the file, whose lines are JSON: how many
tests there are, a test that begins, its outcome. Tests that have begun there already do not run again, so that a run
whose process was ended by a test goes on behind it. Of the others, those run whose name has a checksum (CRC-32)
divisible by ``RTCG_JUDGE_EVERY``: the same ones on each platform and in each run. A test that takes more than
``RTCG_JUDGE_TEST_CPU_S`` seconds of the processors, so that a busy machine changes nothing, or ten times as long, ends
the process.
"""

import json
import os
import re
import threading
import time
import zlib
from pathlib import Path

OUTCOMES = Path(os.environ["RTCG_JUDGE_OUTCOMES"])
#: The exit status of a process that a long test has ended.
LONG_TEST = 75
EVERY = int(os.environ.get("RTCG_JUDGE_EVERY", "1"))
TEST_CPU_S = float(os.environ.get("RTCG_JUDGE_TEST_CPU_S", "inf"))
_begun_cpu_s = _begun_s = 0.0
_outcome = {}


def write(**fields):
    with OUTCOMES.open("a") as file:
        file.write(json.dumps(fields) + "\n")


def cpu_s():
    """CPU seconds of this process and of those that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def end_long_tests():
    """Runs beside the tests."""
    while True:
        time.sleep(1)
        if cpu_s() - _begun_cpu_s > TEST_CPU_S or time.monotonic() - _begun_s > 10 * TEST_CPU_S:
            os._exit(LONG_TEST)


def pytest_collection_finish():
    global _begun_cpu_s, _begun_s
    _begun_cpu_s, _begun_s = cpu_s(), time.monotonic()
    threading.Thread(target=end_long_tests, daemon=True).start()


def test_name(nodeid):
    """``file::test``, without folders and without the names of devices, so that platforms can be compared."""
    file, _, test = re.sub(r"<context factory for <[^>]*>>", "ctx", nodeid).partition("::")
    return f"{Path(file).stem}::{test}"


def pytest_collection_modifyitems(config, items):
    lines = map(json.loads, OUTCOMES.read_text().splitlines()) if OUTCOMES.exists() else []
    begun = {line.get("test") for line in lines}
    chosen = [item for item in items if zlib.crc32(test_name(item.nodeid).encode()) % EVERY == 0]
    left = [item for item in chosen if test_name(item.nodeid) not in begun]
    write(total=len(chosen), of=len(items))
    kept = set(left)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = left


def pytest_runtest_logstart(nodeid):
    global _begun_cpu_s, _begun_s
    _begun_cpu_s, _begun_s = cpu_s(), time.monotonic()
    _outcome.clear()
    write(test=test_name(nodeid))


def pytest_runtest_logreport(report):
    # A test that fails after it has passed has failed.
    if report.outcome != "passed" or (report.when == "call" and not _outcome):
        said = getattr(report, "wasxfail", "") or report.longrepr
        said = said[2] if isinstance(said, tuple) else getattr(getattr(said, "reprcrash", said), "message", said)
        _outcome.update(outcome=report.outcome, reason=" ".join(str(said or "").split())[:400])


def pytest_runtest_logfinish(nodeid):
    write(test=test_name(nodeid), **_outcome, cpu_s=round(cpu_s() - _begun_cpu_s, 2))
