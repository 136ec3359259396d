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

# The first example of README.md works as it stands there, in its folder.
doc=$folder/prefix/share/doc/mystique-sim
example=$(sed -n 's/^    \$ mystique-sim \(--platform .*\)$/\1/p' \
    "$doc/README.md" | head -1)
(
    cd "$doc" && eval "'$sim' $example" >/dev/null
) || complain "README's first example fails: $example"
[ -x "$doc/scripts/capture.py" ] || complain "no capture.py installed"

# The man page has every verb and every option that --help has.
man=$folder/prefix/share/man/man1/mystique-sim.1
sed 's/\\-/-/g' "$man" >"$folder/man" || complain "no man page installed"
for verb in predict info compare op platforms select convert generate replay validate calibrate; do
    run "$verb" --help
    while IFS= read -r option; do
        grep -q -- "^  $option" "$folder/man" ||
            complain "man page: no $option of $verb"
    done < <(awk '/^  --?[a-z]/ { print $1 }' <<<"$out")
done
if command -v man >/dev/null; then
    complaints=$(man --warnings -l "$man" 2>&1 >/dev/null)
    [ -z "$complaints" ] || complain "man: $complaints"
fi

# Completions: verbs, options and names of platforms.
completed() { # WORDS...: what bash offers for the last one
    PATH=$folder/prefix/bin:$PATH bash -c '
        . "$1"; shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
        _mystique_sim
        printf "%s\n" "${COMPREPLY[@]}"' bash \
        "$folder/prefix/share/bash-completion/completions/mystique-sim" "$@"
}
offers() { # WORD WORDS...
    local word=$1
    shift
    grep -qx -- "$word" <<<"$(completed "$@")" ||
        complain "completion of '$*' does not offer '$word'"
}
offers compare mystique-sim comp
offers --timeline mystique-sim --tim
offers --salvage mystique-sim compare --s
offers h100 mystique-sim --platform h
offers ethernet-100 mystique-sim --network eth
offers generic mystique-sim --host g
offers prediction mystique-sim schema pre
offers --help mystique-sim whatif --he
for shell in zsh fish; do
    command -v $shell >/dev/null || continue
    file=$folder/prefix/share/zsh/site-functions/_mystique-sim
    [ $shell = zsh ] ||
        file=$folder/prefix/share/fish/vendor_completions.d/mystique-sim.fish
    $shell -n "$file" || complain "$shell does not parse $file"
done

finish
