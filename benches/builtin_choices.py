"""What stored choices gain over the rules, for the usual calls of arrays: both in one process, alternating.

``python benches/builtin_choices.py [FAMILY ...] [--matching TEXT] [--rounds N]``. Prints, for each call that meets a
decision whose stored choice is another than the rule's, the ratio of the rule's time to the stored choice's, with the 95 %
interval over rounds.
"""

import argparse
import statistics

import rtcg.autoinit  # noqa: F401
from rtcg import _native, driver
from rtcg.tune._builtin_workloads import FAMILIES, workloads


def call_seconds(function, calls):
    start, end = driver.Event(), driver.Event()
    start.record()
    for _ in range(calls):
        function()
    end.record()
    end.synchronize()
    return start.time_till(end) * 1e-3 / calls


def compare(function, rounds):
    """`(seconds with rules, ratio, half of the interval)`."""
    ratios, seconds = [], []
    launches = 1
    for is_followed in (True, False):
        _native.follow_stored_choices(is_followed)
        function()
        launches = max(1, min(1000, int(2e-3 / max(call_seconds(function, 3), 1e-7))))
    for _ in range(rounds):
        times = []
        for is_followed in (False, True):
            _native.follow_stored_choices(is_followed)
            function()
            times.append(call_seconds(function, launches))
        seconds.append(times[0])
        ratios.append(times[0] / times[1])
    return statistics.median(seconds), statistics.fmean(ratios), 1.96 * statistics.stdev(ratios) / rounds**0.5


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", default=FAMILIES)
    parser.add_argument("--matching", default="")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    device = driver.Context.get_device()
    print(device.name())
    for family in options.families:
        for name, function, _ in workloads(family, device.is_virtual):
            if options.matching not in name:
                continue
            _native.follow_stored_choices(True)
            _, decisions = _native.record_array_decisions(function)
            changed = [decision.name for decision in decisions if decision.current != decision.rule]
            if changed:
                seconds, ratio, half = compare(function, options.rounds)
                shown = ", ".join(dict.fromkeys(changed))
                print(f"{name:48} {seconds * 1e6:10.1f} us  {ratio:.3f} +- {half:.3f}  {shown}", flush=True)


if __name__ == "__main__":
    main()
