"""The wheels: installed, used, removed."""

from packaging.tags import cpython_tags
from packaging.utils import parse_wheel_filename


def test_the_first_program_runs_from_the_wheels(installation, wheels, native, first_program):
    installation.install(*wheels, f"{native}[cuda13]")
    result = installation.run(first_program)
    assert result.stdout == ""
    installation.pip("check")


def test_a_wheel_has_its_licences(installation, wheels, native):
    installation.install(*wheels)
    program = f"from importlib import metadata; print(*metadata.files({native!r}), sep='\\n')"
    files = installation.run(program).stdout
    for name in ("LICENSE", "THIRD_PARTY_NOTICES"):
        assert f".dist-info/licenses/{name}\n" in files


def test_uninstalling_leaves_nothing_behind(installation, wheels, native, first_program):
    installation.install("numpy", "--no-compile")
    before = installation.files()
    installation.install(*wheels, f"{native}[cuda13]")
    installation.run(first_program)
    names = installation.run("from importlib import metadata; print(*(d.name for d in metadata.distributions()))")
    added = [name for name in names.stdout.split() if name not in ("numpy", "pip", "setuptools")]
    installation.pip("uninstall", "--yes", *added)
    left = {path for path in installation.files() - before if "numpy" not in path.parts}
    assert not {path for path in left if path.suffix != ".pyc"}


def test_the_wheel_is_for_every_cpython_but_the_free_threaded_ones(native, wheels):
    tags = parse_wheel_filename(wheels[native].name)[3]
    platforms = [tag.platform for tag in tags]

    def takes(version, abi):
        return not tags.isdisjoint(cpython_tags(version, [abi], platforms))

    assert all(takes((3, minor), f"cp3{minor}") for minor in range(10, 16))
    assert not any(takes((3, minor), f"cp3{minor}t") for minor in range(13, 16))
