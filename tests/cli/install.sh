#!/usr/bin/env bash
# An installed program works from where it lies, with the data installed
# beside it.
. "$(dirname "$0")/lib.bash"

last="cmake --install"
cmake --install "${BUILD_DIR:?the build folder}" --prefix "$folder/prefix" \
    >"$folder/log" 2>&1 || complain "failed: $(cat "$folder/log")"

unset MSIM_DATA
sim=$folder/prefix/bin/mystique-sim
share=$folder/prefix/share/mystique-sim

# A title that only the installed file has.
sed -i 's/"title":[[:space:]]*"[^"]*"/"title": "an installed A100"/' \
    "$share/platforms/a100.json" || complain "no platform installed"
run platforms a100
want_rc 0
want_out "an installed A100"

run --platform a100 "${SOURCE_DIR:?the source folder}/data/traces/dlrm"
want_rc 0

[ ! -e "$share/platforms/src" ] || complain "sources of platforms installed"
[ -s "$folder/prefix/share/doc/mystique-sim/LICENSE" ] ||
    complain "no licence installed"
# What README.md links to in docs/ lies beside it.
for page in README.md docs/README.md docs/accuracy/fits.svg; do
    [ -s "$folder/prefix/share/doc/mystique-sim/$page" ] ||
        complain "no $page installed"
done
[ -s "$share/ops/example.csv" ] || complain "no example of --ops installed"

finish
