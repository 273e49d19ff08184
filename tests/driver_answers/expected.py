"""What is expected of a driver, and where the expectation comes from."""

from __future__ import annotations

from pathlib import Path

PLACE = Path(__file__).with_name("answers.txt")
# How the source of an answer begins that a real driver has given.
SEEN = "seen on "
# What a real driver says of a handle that is gone comes from memory that it has freed.
_FREED = "the virtual GPU knows every handle that is gone, and says which kind it was"
# Cases that the virtual GPU answers in another way than a real driver was seen to, and why.
DIFFERENT = {
    "cuStreamDestroy(gone_stream)": _FREED,
    "cuStreamQuery(gone_stream)": _FREED,
    "cuStreamSynchronize(gone_stream)": _FREED,
    "cuEventDestroy(gone_event)": _FREED,
    "cuEventQuery(gone_event)": _FREED,
    "cuArrayDestroy(gone_array)": _FREED,
    "cuCtxDestroy(gone_ctx)": _FREED,
    "cuCtxSetCurrent(gone_ctx)": _FREED,
    "cuCtxPushCurrent(gone_ctx)": _FREED,
    "cuCtxGetApiVersion(gone_ctx, out)": _FREED,
    "cuTexRefSetFormat(texref, 99, 1)": "an unknown format is refused at once, not when the reference is used",
}


def _read() -> dict[str, tuple[str, str]]:
    """Answer and source by case. The source stands in a line of its own, before the cases that it is true of."""
    found, source = {}, ""
    for line in PLACE.read_text().splitlines() if PLACE.exists() else []:
        if line.startswith("# source: "):
            source = line.removeprefix("# source: ")
        elif line and not line.startswith("#"):
            case, answer = line.split(" -> ", 1)
            found[case] = answer, source
    return found


EXPECTED = _read()


def record(answers: dict[str, str], source: str) -> None:
    """Makes answers the expectation; those of other cases stay."""
    known = EXPECTED | {case: (answer, source) for case, answer in answers.items()}
    lines = []
    for source in sorted({source for _, source in known.values()}, reverse=True):
        lines += [f"# source: {source}"]
        lines += [f"{case} -> {answer}" for case, (answer, of) in known.items() if of == source]
    PLACE.write_text("\n".join(lines) + "\n")


def disagreements(found: dict[str, str], virtual: bool) -> list[str]:
    """A line for each answer that is not the expected one."""
    lines = []
    for case, (answer, source) in EXPECTED.items():
        # What crashes a real driver is undefined; any answer will do.
        agrees = found.get(case, answer) == answer or answer.startswith("crash")
        if virtual and case in DIFFERENT:
            lines += [f"{case}: as a real driver ({answer}), though listed as different"] if agrees else []
        elif not agrees:
            lines.append(f"{case}: {found[case]}; expected {answer} ({source})")
    return lines
