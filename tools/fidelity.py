"""Makes the fidelity report from the questions in `tests/fidelity` and the record in `tests/recorded`.

``tools/fidelity.py VIRTUAL`` writes `python/rtcg/fidelity.json.xz`, which `python -m rtcg.fidelity` prints, and the
tables of `docs/fidelity.md`. VIRTUAL has the virtual GPU's answers: ``python tests/fidelity/run.py VIRTUAL``.
"""

from __future__ import annotations

import collections
import json
import lzma
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS, RECORDED = ROOT / "tests" / "fidelity", ROOT / "tests" / "recorded"
DATA, PAGE = ROOT / "python" / "rtcg" / "fidelity.json.xz", ROOT / "docs" / "fidelity.md"
BEGIN, END = "<!-- written by tools/fidelity.py -->", "<!-- end of the tables -->"
sys.path.insert(0, str(QUESTIONS))

import compare  # noqa: E402
from differences import BY_DESIGN  # noqa: E402

KINDS = ("equal", "by design", "not comparable", "differ")


def questions(virtual: compare.Answers, real: compare.Answers) -> list[list[object]]:
    """Question, subject and the number of answers of each kind."""
    counts, _ = compare.differences(virtual, real)
    subjects = dict(line.split(" ", 1) for line in (QUESTIONS / "subjects.txt").read_text().splitlines())
    return [[name, subjects[name], *(counts[name][kind] for kind in KINDS)] for name in sorted(subjects)]


def by_design(virtual: compare.Answers, real: compare.Answers) -> list[list[object]]:
    """Patterns of question and key, the reason, and how many answers differ for it."""
    counts: collections.Counter[tuple[str, str, str]] = collections.Counter()
    for place in virtual.keys() | real.keys():
        if virtual.get(place) != real.get(place):
            for entry in BY_DESIGN:
                if compare.listed([entry], *place[:2]):
                    counts[entry] += 1
                    break
    return [[*entry, counts[entry]] for entry in BY_DESIGN]


def instructions() -> list[list[object]]:
    """Form, verdict and the number of operand tuples that were compared."""
    raw = lzma.decompress((RECORDED / "table.xz").read_bytes())
    header = raw[4 : 4 + int.from_bytes(raw[:4], "little")].decode().splitlines()
    rows = {line.split(" | ")[1]: int(line.split()[1]) for line in header if line.startswith("pool ")}
    other = {
        line: verdict
        for name, verdict in (("unsupported.txt", "not supported"), ("differs.txt", "differs"))
        for line in (RECORDED / name).read_text().splitlines()
        if line and not line.startswith("#")
    }
    forms = [line.split(" | ", 2) for line in header if line.startswith("form ")]
    return [[text, other.get(text, "equal"), rows[pool]] for _, pool, text in forms]


def facts() -> list[list[str]]:
    """Name, value, sentence and source of each constant of the model."""
    found = []
    for path in sorted((ROOT / "crates" / "vgpu-abi" / "src" / "model").glob("*.rs")):
        block = path.read_text().partition("\nmeasured! {\n")[2].partition("\n}\n")[0]
        for doc, name, value, source in re.findall(
            r"((?:^    ///.*\n)+)    (\w+): [^=]+? = ((?:.|\n)+?), from \"([^\"]+)\";", block, re.M
        ):
            sentence = " ".join(line.strip().removeprefix("///").strip() for line in doc.splitlines())
            found.append([name, " ".join(value.split()), sentence, source])
    return found


def tables(data: dict[str, list[list[object]]]) -> str:
    """What the page shows."""
    lines = ["| question | subject | equal | by design | not comparable | differ |", "|---|---|--:|--:|--:|--:|"]
    lines += [f"| {' | '.join(str(cell or '') for cell in row)} |" for row in data["questions"]]
    totals = [sum(row[i] for row in data["questions"]) for i in range(2, 6)]  # type: ignore[misc]
    lines.append(f"| all | | {' | '.join(map(str, totals))} |")
    lines += ["", "| questions | answers | what differs, and why |", "|---|--:|---|"]
    for pattern, _, reason, count in data["by_design"]:
        lines.append(f"| {str(pattern).replace('|', ', ')} | {count} | {reason} |")
    verdicts = collections.Counter(str(row[1]) for row in data["instructions"])
    inputs = sum(row[2] for row in data["instructions"])  # type: ignore[misc]
    lines += ["", f"| {len(data['instructions'])} instruction forms, {inputs:,} inputs | forms |", "|---|--:|"]
    lines += [f"| {verdict} | {n} |" for verdict, n in verdicts.most_common()]
    lines += ["", "| what the device does | value | question |", "|---|---|---|"]
    lines += [f"| {sentence} | `{value}` | {source} |" for _, value, sentence, source in data["facts"]]
    return "\n".join(lines)


def main() -> None:
    """Writes both."""
    virtual = compare.read(Path(sys.argv[1]).read_text(errors="replace").splitlines())
    real = compare.read((QUESTIONS / "answers" / "h200.txt").read_text(errors="replace").splitlines())
    data = {
        "questions": questions(virtual, real),
        "by_design": by_design(virtual, real),
        "instructions": instructions(),
        "facts": facts(),
    }
    DATA.write_bytes(lzma.compress(json.dumps(data).encode()))
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables(data)}\n\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
