# lib.sh - what every test script of this folder starts with:
#
#   . "$ROOT/tests/cli/lib.sh"
#
# A script runs with bash in an empty scratch folder that is its own. Given: ROOT the checkout, BUILD the build folder,
# ASSAY the program, SANITIZED yes or no. Status 0: passed; 77: skipped, the last line of stdout says why; else failed.
# A head line "# plain-only: why" keeps a script out of the sanitizer run.
set -eu
: "${ROOT:?run through tests/run}" "${BUILD:?}" "${ASSAY:?}"

fail() { # fail TEXT
    echo "${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: $*" >&2
    exit 1
}

skip() { # skip REASON
    echo "$*"
    exit 77
}

# expect_exit CODE COMMAND…: runs it; stdout goes to the file `out`, stderr to `err`.
expect_exit() {
    local expected=$1 status=0
    shift
    "$@" >out 2>err || status=$?
    if [ "$status" -ne "$expected" ]; then
        echo "${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: status $status, expected $expected: $*" >&2
        sed 's/^/  stdout: /' out | tail -n 20 >&2
        sed 's/^/  stderr: /' err | tail -n 20 >&2
        exit 1
    fi
}

expect_has() { # expect_has FILE TEXT: the file holds the text
    grep -qF -- "$2" "$1" && return
    echo "${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: $1 does not contain '$2':" >&2
    head -n 40 "$1" >&2
    exit 1
}

expect_not() { # expect_not FILE TEXT: the file does not hold the text
    grep -qF -- "$2" "$1" || return 0
    echo "${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: $1 contains '$2'" >&2
    head -n 40 "$1" >&2
    exit 1
}

# expect_error CODE TEXT COMMAND…: it ends with the status and says why in one line that holds the text, and nothing else.
expect_error() {
    local text=$2
    expect_exit "$1" "${@:3}"
    expect_lines out 0
    expect_lines err 1
    expect_has err "$text"
}

expect_lines() { # expect_lines FILE COUNT
    local count
    count=$(wc -l <"$1")
    [ "$count" -eq "$2" ] && return
    echo "${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: $1 has $count lines, expected $2:" >&2
    head -n 40 "$1" >&2
    exit 1
}

expect_equal() { # expect_equal ACTUAL EXPECTED
    [ "$1" = "$2" ] && return
    echo "${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: '$1', expected '$2'" >&2
    exit 1
}

# expect_golden NAME FILE: the file equals tests/golden/NAME, which tests/run --bless rewrites.
expect_golden() {
    [ "${ASSAY_BLESS:-}" != 1 ] || cp "$2" "$ROOT/tests/golden/$1"
    diff -u "$ROOT/tests/golden/$1" "$2" >&2 && return
    echo "${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: not the golden output $1 (tests/run --bless)" >&2
    exit 1
}

# in_background COMMAND…: starts it, stdout to the file `out`, stderr to `err`; sets pid. A shell's background jobs ignore
# SIGINT: python undoes that.
in_background() {
    python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
        "$@" >out 2>err &
    pid=$!
}

# wait_for LEAST PROFILE SQL: until the first number that SQL gives of the profile in_background writes is LEAST or more.
wait_for() {
    local number
    for _ in $(seq 400); do
        number=$("$ASSAY" query "$2" "$3" --csv 2>/dev/null | tail -n 1) || number=0
        [ "${number:-0}" -ge "$1" ] 2>/dev/null && return
        sleep 0.05
    done
    kill -9 "$pid" 2>/dev/null || true
    echo "${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: '$3' did not reach $1 in 20 s: $(cat err)" >&2
    exit 1
}

# expect_stop SIGNAL STATUS: what in_background started gets the signal and ends with the status.
expect_stop() {
    local status=0
    kill "-$1" "$pid"
    wait "$pid" 2>/dev/null || status=$?
    [ "$status" -eq "$2" ] && return
    echo "${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: status $status after SIG$1, expected $2: $(cat err)" >&2
    exit 1
}

# kill_worker PID: the next worker of that program is killed, as if from outside.
kill_worker() {
    local worker=
    while [ -z "$worker" ] && kill -0 "$1" 2>/dev/null; do
        worker=$(cat "/proc/$1/task/$1/children" 2>/dev/null || pgrep -P "$1" || true)
        worker=${worker%% *}
    done
    if [ -z "$worker" ]; then
        echo "${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}: no worker was seen" >&2
        exit 1
    fi
    kill -9 "$worker"
}

# json_get FILE PATH: the value at a path such as .trials[0].metrics["latency.p50"].value; strings bare, the rest as JSON.
# A path that does not exist fails. length is understood at the end: .trials.length
json_get() {
    python3 -I -S - "$1" "$2" <<'PYTHON' # without site packages it starts in two thirds of the time
import json, re, sys
with open(sys.argv[1], encoding="utf-8") as file:
    value = json.load(file)
path, at = sys.argv[2], 0
token = re.compile(r'\.([A-Za-z_][A-Za-z0-9_-]*)|\[(\d+)\]|\["([^"]*)"\]')
while at < len(path):
    found = token.match(path, at)
    if not found:
        sys.exit(f"json_get: cannot read the path {path!r} at {at}")
    name, index, quoted = found.groups()
    try:
        if name == "length" and isinstance(value, list):
            value = len(value)
        elif index is not None:
            value = value[int(index)]
        else:
            value = value[name if name is not None else quoted]
    except (KeyError, IndexError, TypeError):
        sys.exit(f"json_get: {path} does not exist in {sys.argv[1]} (at {found.group(0)})")
    at = found.end()
print(value if isinstance(value, str) else json.dumps(value))
PYTHON
}
