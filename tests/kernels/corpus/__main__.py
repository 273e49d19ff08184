"""Counts the kernels of the corpus: ``python -m tests.kernels.corpus``.

A kernel is counted once for each body that the compiler makes of it: two of the same PTX, whatever
their names, are one. Only kernels that a case launches count.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict

from tests.kernels.backend_raw import Nvrtc, translation_unit
from tests.kernels.case import KernelCase
from tests.kernels.catalogue import all_cases


def bodies(ptx: str) -> dict[str, str]:
    """The bodies of the kernels by name, without names and comments."""
    found = {}
    ptx = re.sub(r"//[^\n]*", "", ptx)
    for entry in re.finditer(r"\.entry (\w+)\((.*?)\)\s*([^{]*)\{(.*?)\n\}", ptx, re.DOTALL):
        name, params, directives, body = entry.groups()
        found[name] = (params + directives + body).replace(name, "k")
    return found


def kernels(nvrtc: Nvrtc, case: KernelCase) -> set[str]:
    """The digests of the kernels that a case launches."""
    options = [*case.options, "--gpu-architecture=compute_80"]
    known = bodies(nvrtc.compile(translation_unit(case), options, want="PTX").decode())
    return {hashlib.sha256(known[launch.kernel].encode()).hexdigest() for launch in case.launches}


def main() -> None:
    """Print a line per family and the sum."""
    nvrtc = Nvrtc()
    seen: set[str] = set()
    cases: dict[str, int] = defaultdict(int)
    new: dict[str, int] = defaultdict(int)
    for case in all_cases():
        if case.feature.startswith("corpus."):
            found = kernels(nvrtc, case) - seen
            seen |= found
            cases[case.feature] += 1
            new[case.feature] += len(found)
    for family, count in new.items():
        print(f"{family:28} {cases[family]:4} cases {count:4} kernels")
    print(f"{'all':28} {sum(cases.values()):4} cases {len(seen):4} kernels")


if __name__ == "__main__":
    main()
