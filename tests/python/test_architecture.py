"""ARCHITECTURE.md says of the crates what their manifests say."""

import re

try:
    import tomllib
except ImportError:  # Python 3.10, for which pytest brings it
    import tomli as tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text()
# Nothing that users run depends on them, so the drawing leaves them out.
FOR_DEVELOPERS = {"oracle", "documentation", "xtask"}


def dependencies_in_manifests():
    """The crates of the workspace, without their prefix, with those that each depends on."""
    manifests = {path.parent.name: tomllib.loads(path.read_text()) for path in ROOT.glob("crates/*/Cargo.toml")}
    return {
        crate: {name.removeprefix("rtcg-") for name in manifest.get("dependencies", {}) if name.startswith("rtcg")}
        for crate, manifest in manifests.items()
    }


DEPENDENCIES = dependencies_in_manifests()


def test_the_table_of_crates_has_their_dependencies():
    rows = re.findall(r"^\| `([a-z-]+)` \|.*\| ([a-z, -]+) \|$", PAGE, re.MULTILINE)
    table = {crate.removeprefix("rtcg-"): set(names.split(", ")) - {"-"} for crate, names in rows}
    assert {crate: table.get(crate) for crate in DEPENDENCIES} == DEPENDENCIES


def test_dependencies_in_the_drawing_point_down():
    drawing = PAGE.split("```")[1].splitlines()
    programs = next(row for row, line in enumerate(drawing) if "_native" in line)
    row_of = {}
    for row, line in enumerate(drawing[programs:]):
        line = re.sub(r"\(.*?\)", "", line)
        row_of.update((name, row) for name in re.findall(r"[a-z][a-z-]*[a-z]", line))
    assert set(row_of) == set(DEPENDENCIES) - FOR_DEVELOPERS
    upwards = [
        f"{crate} on {name}" for crate, row in row_of.items() for name in DEPENDENCIES[crate] if row_of[name] <= row
    ]
    assert not upwards, upwards


def test_files_and_folders_that_are_named_exist():
    """Sources are named below the root or `crates/`; in a row of the table of crates, below that crate."""
    missing = []
    for line in PAGE.splitlines():
        row = re.match(r"\| `(?:rtcg-)?([a-z-]+)` \|", line)
        in_crate = ROOT / "crates" / row[1] / "src" if row and row[1] in DEPENDENCIES else None
        for name in re.findall(r"`([\w-]+(?:/[\w-]+)*(?:/|\.rs))`", line):
            if in_crate:
                found = any(in_crate.parent.rglob(name)) or (ROOT / name).exists()
            else:
                found = "/src/" not in name or (ROOT / name).exists() or (ROOT / "crates" / name).exists()
            missing += [] if found else [name]
    assert not missing
