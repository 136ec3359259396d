#!/usr/bin/env bash
# The wheel that runs on any Linux of this machine's kind: a static program, its
# data, the samples and Python's package, into dist/.
#
#   scripts/build_wheel.sh [DIST]     [default: dist]
#
# Wants the libraries of the predictor (scripts/setup.sh --predictor), Python with
# venv, PyPI for the tools of the build, and Debian's source of cJSON
# (scripts/static_source.sh). The wheel is looked at before it is called done: what
# it links, how large it is, and that it predicts in an environment of its own.
set -euo pipefail

dist=$(realpath -m -- "${1:-dist}")
cd "$(dirname "$0")/.."
work=$PWD/build-wheel
most=$((8 << 20)) # bytes; what users load for one command

fail() {
    echo "build_wheel.sh: error: $*" >&2
    exit 1
}

scripts/static_source.sh "$work/static"
[ -x "$work/venv/bin/python" ] || python3 -m venv "$work/venv"
python=$work/venv/bin/python
"$python" -m pip --quiet install wheel auditwheel || fail "no wheel, no auditwheel"

rm -rf "$work/made" && mkdir -p "$work/made" "$dist"
"$python" -m pip --quiet wheel --no-deps --wheel-dir "$work/made" . \
    --config-settings=cmake.define.MSIM_STATIC=ON \
    --config-settings=cmake.define.MSIM_CJSON_SOURCE="$work/static/cjson" \
    --config-settings=cmake.define.MSIM_LICENCES="$work/static/licences" ||
    fail "not built"

# manylinux says which libraries of a system a wheel may want, and from when on.
# A program that has no dynamic section wants none. glibc asks for Linux 3.2.
unpacked=$work/unpacked
rm -rf "$unpacked" && mkdir "$unpacked"
"$python" -m wheel unpack --dest "$unpacked" "$work"/made/*.whl >/dev/null
program=$(echo "$unpacked"/*/*.data/scripts/mystique-sim)
[ -x "$program" ] || fail "no program in the wheel"
! readelf -d "$program" | grep -q NEEDED ||
    fail "links shared libraries: $(readelf -d "$program" | grep NEEDED)"
"$python" -m auditwheel show "$work"/made/*.whl >"$work/audit" 2>&1 &&
    grep -q "requires no external shared libraries" "$work/audit" ||
    fail "auditwheel: $(cat "$work/audit")"
machine=$(uname -m)
"$python" -m wheel tags --remove --platform-tag "manylinux2014_$machine" \
    "$work"/made/*.whl >/dev/null
wheel=$(echo "$work"/made/*manylinux2014*.whl)
bytes=$(stat -c %s "$wheel")
[ "$bytes" -le "$most" ] || fail "$wheel has $bytes bytes, want at most $most"

# As a user has it: nothing but Python, no data folder, another working folder.
clean=$work/clean
rm -rf "$clean" && python3 -m venv "$clean"
"$clean/bin/python" -m pip --quiet install --no-index "$wheel"
(
    cd / && unset MSIM_DATA MYSTIQUE_SIM
    sample=$clean/share/doc/mystique-sim/data/traces/gpt2
    "$clean/bin/mystique-sim" --platform a100 "$sample" >/dev/null
    "$clean/bin/python" -c '
import mystique_sim as ms
print(ms.predict(ms.sample("gpt2"), platform="a100"))'
) || fail "the wheel does not predict"

mv "$wheel" "$dist"
echo "$dist/$(basename "$wheel"): $bytes bytes"
