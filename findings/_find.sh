# What the scripts of finds share; README.md has the form.
set -euo pipefail
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
PY="$FOLDER/venv/bin/python"
CHANGED=0

packages() {
    { python3 -m venv "$FOLDER/venv" && "$PY" -m pip install --quiet --disable-pip-version-check "$@"; } || {
        echo "not run: these packages could not be installed: $*"
        exit 2
    }
}

expect() {
    if [ "$2" = "$3" ]; then
        echo "as found   $1: $2"
    else
        echo "CHANGED    $1: $2, where $3 was found"
        CHANGED=1
    fi
}

finish() {
    exit "$CHANGED"
}
