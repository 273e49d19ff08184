"""How far the virtual GPU answers as a real card does: what was compared with an NVIDIA H200, and with what result."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Difference", "Fact", "Instruction", "Question", "differences", "facts", "instructions", "main", "questions"]

@dataclass(frozen=True)
class Question:
    name: str
    subject: str
    equal: int
    by_design: int
    not_comparable: int
    differ: int

@dataclass(frozen=True)
class Difference:
    questions: str
    keys: str
    reason: str
    answers: int

@dataclass(frozen=True)
class Instruction:
    text: str
    verdict: str
    inputs: int

@dataclass(frozen=True)
class Fact:
    name: str
    value: str
    what: str
    source: str

def questions() -> tuple[Question, ...]: ...
def differences() -> tuple[Difference, ...]: ...
def instructions(text: str = "") -> tuple[Instruction, ...]: ...
def facts() -> tuple[Fact, ...]: ...
def main(arguments: Sequence[str] | None = None) -> int: ...
