"""What is expected of a driver, and where the expectation comes from."""

from __future__ import annotations

from pathlib import Path

PLACE = Path(__file__).with_name("answers.txt")
# How the source of an answer begins that a real driver has given.
SEEN = "seen on "
_AT_ONCE = "what a texture reference cannot be used with is refused at once, not when a kernel uses it"
# Cases that the virtual GPU answers in another way than a real driver was seen to, and why.
DIFFERENT = {
    "cuTexRefSetFormat(texref, 32, 0)": _AT_ONCE,
    "cuLibraryLoadData(out, bad_image, 0, 0, 0, 0, 0, 0)": "an image is understood when it is given, not later",
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


def _tells_gone(case: str, answer: str) -> bool:
    """Whether the virtual GPU says of a handle that is gone that it is: it knows them all.

    What a real driver says of one comes from memory that it has freed, which is nothing to do as well.
    """
    return "gone_" in case and answer != "SUCCESS"


def disagreements(found: dict[str, str], virtual: bool) -> list[str]:
    """A line for each answer that is not the expected one."""
    lines = []
    for case, (answer, source) in EXPECTED.items():
        given = found.get(case, answer)
        # What crashes a real driver is undefined; any answer will do.
        agrees = given == answer or answer.startswith("crash")
        if virtual and case in DIFFERENT:
            lines += [f"{case}: as a real driver ({answer}), though listed as different"] if agrees else []
        elif not agrees and not (virtual and _tells_gone(case, given)):
            lines.append(f"{case}: {given}; expected {answer} ({source})")
    return lines
