"""Fetches upstream's example programs, which are not part of this project: ``tools/upstream_programs.py [FOLDER]``.

They come from the source distribution of ``pycuda`` on pip's package index, checked by its SHA-256, and go to
``dist/upstream/pycuda``. `tests/python/test_upstream_programs.py` runs those that generate code where it finds them.
"""

import hashlib
import io
import json
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request
from pathlib import Path

VERSION = "2025.1.2"
ROOT = Path(__file__).resolve().parents[1]


def index_url():
    """The package index that pip uses."""
    command = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return found or "https://pypi.org/simple"


def fetch_sdist(name, version):
    """The bytes of a source distribution."""
    page = f"{index_url().rstrip('/')}/{name}/"
    request = urllib.request.Request(page, headers={"Accept": "application/vnd.pypi.simple.v1+json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        files = json.load(answer)["files"]
    wanted = f"{name}-{version}.tar.gz"
    file = next((file for file in files if file["filename"] == wanted), None)
    if file is None:
        sys.exit(f"{page} has no {wanted}")
    with urllib.request.urlopen(urllib.parse.urljoin(page, file["url"]), timeout=120) as answer:
        data = answer.read()
    digest = hashlib.sha256(data).hexdigest()
    if digest != file["hashes"]["sha256"]:
        sys.exit(f"{wanted} has the SHA-256 {digest}; the index says {file['hashes']['sha256']}")
    return data


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist" / "upstream" / "pycuda"
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    with tarfile.open(fileobj=io.BytesIO(fetch_sdist("pycuda", VERSION))) as archive:
        for member in archive:
            path = Path(member.name)
            if member.isfile() and "examples" in path.parts and path.suffix in (".py", ".cu"):
                (folder / path.name).write_bytes(archive.extractfile(member).read())
                count += 1
    print(f"{count} programs in {folder}")


if __name__ == "__main__":
    main()
