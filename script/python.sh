# Sourced by server and test: sets PYTHON to an interpreter that is new enough, or says what to do.
PYTHON=
for name in python3.11 python3.12 python3.13 python3; do
    if command -v "$name" >/dev/null 2>&1 &&
        "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        PYTHON=$name
        break
    fi
done
if [ -z "$PYTHON" ]; then
    if command -v python3 >/dev/null 2>&1; then
        echo "Python 3.11 or newer is needed, and this is $(python3 --version 2>&1). Install python3.11 and run this again." >&2
    else
        echo "Python 3.11 or newer is needed, and none was found. Install python3.11 and run this again." >&2
    fi
    exit 1
fi
