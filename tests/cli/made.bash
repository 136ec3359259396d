# Shared by tests of recordings that are made up, beside lib.bash: Python writes
# them (made_run.py, made_steps.py) into the test's folder.
#
#   make <<'PYTHON'        runs a program there
#   want FIGURE VALUE      predicted, of the JSON report that run has written
. "$(dirname "$0")/lib.bash"
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }

make() {
    (cd "$folder" && PYTHONPATH=$SOURCE_DIR/tests/cli:$folder python3)
}

want() {
    python3 - "$folder/out" "$@" <<'PYTHON' || complain "want $1 of $2"
import json, sys
d = json.load(open(sys.argv[1]))
got = d[sys.argv[2]]["predicted"]
assert abs(got - float(sys.argv[3])) < 0.01, got
PYTHON
}

