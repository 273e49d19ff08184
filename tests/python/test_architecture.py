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
FOR_DEVELOPERS = {"oracle", "conformance", "documentation", "xtask"}


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


def named_sources(text):
    """Files and folders of sources that a text names."""
    return re.findall(r"`([\w-]+(?:/[\w-]+)*(?:/|\.rs|\.txt))`", text)


def test_files_and_folders_that_are_named_exist():
    """Sources are named below the root or `crates/`."""
    missing = [
        name
        for name in named_sources(PAGE)
        if "/src/" in name and not (ROOT / name).exists() and not (ROOT / "crates" / name).exists()
    ]
    assert not missing


def test_files_and_folders_that_a_crate_names_exist():
    """What the first comment of a crate says of its parts: named below the crate, or below the root."""
    n_names, missing = 0, []
    for crate in DEPENDENCIES:
        folder = ROOT / "crates" / crate
        file = next(path for path in (folder / "src/lib.rs", folder / "src/main.rs") if path.exists())
        comment = "\n".join(line for line in file.read_text().splitlines() if line.startswith("//!"))
        for name in named_sources(comment):
            n_names += 1
            if not any(folder.rglob(name)) and not (ROOT / name).exists():
                missing.append(f"{crate}: {name}")
    assert not missing and n_names > 100


def test_the_table_of_crates_links_to_each():
    links = re.findall(
        r"^\| `([a-z-]+)` \| \[`(crates/[a-z-]+)`\]\((crates/[a-z-]+)/src/(?:lib|main)\.rs\)", PAGE, re.M
    )
    assert {crate.removeprefix("rtcg-") for crate, _, _ in links} == set(DEPENDENCIES)
    for crate, label, target in links:
        assert label == target == f"crates/{crate.removeprefix('rtcg-')}"
