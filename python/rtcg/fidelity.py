"""How far the virtual GPU answers as a real card does: what was compared with an NVIDIA H200, and with what result.

``python -m rtcg.fidelity`` prints the report. It was made when rtcg was built, from questions that both devices were
asked by the same programs (special registers, limits, errors, text, textures, tensor cores, graphs and so on) and from
a record of what the card computes for each form of a PTX instruction. Nothing is measured when it is printed.
"""

from __future__ import annotations

import argparse
import functools
import json
import lzma
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Difference", "Fact", "Instruction", "Question", "differences", "facts", "instructions", "main", "questions"]


@dataclass(frozen=True)
class Question:
    """A group of questions that both devices were asked, and how many of their answers were of which kind."""

    name: str
    subject: str
    #: Answers that were equal, to the bit.
    equal: int
    #: Answers that differ on purpose; `differences` has the reasons.
    by_design: int
    #: Answers that say nothing, such as the device's name.
    not_comparable: int
    #: Answers that differ and should not.
    differ: int


@dataclass(frozen=True)
class Difference:
    """Answers that differ on purpose."""

    #: A regular expression for the names of questions.
    questions: str
    #: A regular expression for what was asked.
    keys: str
    reason: str
    #: How many answers it covers.
    answers: int


@dataclass(frozen=True)
class Instruction:
    """A form of a PTX instruction whose results were compared with the card's."""

    text: str
    #: ``"equal"`` (all bits of all results), ``"differs"`` or ``"not supported"``.
    verdict: str
    #: How many tuples of operands were compared.
    inputs: int


@dataclass(frozen=True)
class Fact:
    """A measured property of the card that the virtual GPU follows."""

    name: str
    value: str
    what: str
    #: The question that measured it.
    source: str


def _data() -> dict[str, list[list[Any]]]:
    return json.loads(lzma.decompress(Path(__file__).with_name("fidelity.json.xz").read_bytes()))


if not TYPE_CHECKING:
    # Type checkers do not see through it.
    _data = functools.cache(_data)


def questions() -> tuple[Question, ...]:
    """All groups of questions, by name."""
    return tuple(Question(*row) for row in _data()["questions"])


def differences() -> tuple[Difference, ...]:
    """What differs on purpose."""
    return tuple(Difference(*row) for row in _data()["by_design"])


def instructions(text: str = "") -> tuple[Instruction, ...]:
    """The forms of instructions whose text contains `text`."""
    rows = (Instruction(*row) for row in _data()["instructions"])
    return tuple(row for row in rows if text in row.text)


def facts() -> tuple[Fact, ...]:
    """The model of the device."""
    return tuple(Fact(*row) for row in _data()["facts"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the report, or the parts that `arguments` name; returns 0."""
    parser = argparse.ArgumentParser(prog="python -m rtcg.fidelity", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--instructions", nargs="?", const="", metavar="TEXT", help="forms of instructions with TEXT")
    parser.add_argument("--facts", action="store_true", help="measured properties of the card")
    options = parser.parse_args(arguments)
    if options.instructions is not None:
        for form in instructions(options.instructions):
            print(f"{form.verdict:14} {form.inputs:6} inputs  {form.text}")
    elif options.facts:
        for fact in facts():
            print(f"{fact.name} = {fact.value} ({fact.source})\n    {fact.what}")
    else:
        _print_summary()
    return 0


def _print_summary() -> None:
    rows = questions()
    compared = [sum(getattr(row, kind) for row in rows) for kind in ("equal", "by_design", "differ")]
    print("The same programs on an NVIDIA H200 (driver 580, CUDA 13.0) and on the virtual GPU:")
    print(f"{compared[0]} answers are equal, {compared[1]} differ by design, {compared[2]} differ.\n")
    print(f"{'':4} {'equal':>6} {'design':>6} {'differ':>6}  subject")
    for row in rows:
        counts = "".join(f" {count or '':>6}" for count in (row.equal, row.by_design, row.differ))
        print(f"{row.name}{counts}  {row.subject}")
    print("\nBy design:")
    for difference in differences():
        print(f"  {difference.questions.replace('|', ', ')}: {difference.reason} ({difference.answers} answers)")
    forms = instructions()
    equal = [form for form in forms if form.verdict == "equal"]
    inputs = sum(form.inputs for form in equal)
    print(f"\n{len(equal)} of {len(forms)} instruction forms have equal bits, in {inputs:,} inputs.")
    print("--instructions lists them, --facts what was measured of the card.")


if __name__ == "__main__":
    raise SystemExit(main())
