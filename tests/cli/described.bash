# shellcheck shell=bash disable=SC2154
# Steps of a described model, $folder/m.json, beside those that changes make of one:
# . tests/cli/described.bash, behind lib.bash.

write() { # DIR MEMBERS: the traces of such a strategy, in $precision, without their description
    echo "{$2, \"micro_batch\": 1, \"sequence\": 2048, \"precision\": \"${precision:-bf16}\"}" >"$folder/s.json"
    run synth "$folder/m.json" --strategy "$folder/s.json" -o "$folder/$1"
    want_rc 0
    rm -f "$folder/$1/synth.json"
}
figure() { # DIR FIGURE: what predict --json says of it
    "$MYSTIQUE_SIM" --platform h100 --json "$folder/$1" 2>/dev/null |
        grep -oE "\"$2\": (\{\"predicted\": |\{\"peak\": )?[0-9.e+]+" |
        head -1 | grep -oE '[0-9.e+]+$'
}
change() { # DIR NAME CHANGES: into DIR.NAME
    echo "{\"scenarios\": [{\"name\": \"x\", \"changes\": $3}]}" >"$folder/w.json"
    run whatif --platform h100 "$folder/w.json" "$folder/$1" --write "$folder/all"
    want_rc 0
    mv "$folder/all/x" "$folder/$1.$2" || complain "nothing is written of $3: $out"
    rm -r "$folder/all"
}
close_to() { # DIR DIR SHARE OF_MEMORY
    for what in period_us:$3 memory_bytes:$4; do
        awk -v a="$(figure "$1" "${what%:*}")" -v b="$(figure "$2" "${what%:*}")" -v s="${what#*:}" \
            'BEGIN { exit !(a > b * (1 - s) && a < b * (1 + s)) }' ||
            complain "${what%:*} of $1: $(figure "$1" "${what%:*}"), of $2 $(figure "$2" "${what%:*}")"
    done
}
no_answer() { # DIR CHANGES WANT: a scenario without one says why
    echo "{\"scenarios\": [{\"name\": \"x\", \"changes\": $2}]}" >"$folder/w.json"
    run whatif --platform h100 "$folder/w.json" "$folder/$1"
    want_rc 1
    grep -q "no prediction: $3" "$folder/out" || complain "no reason '$3': $out"
}
