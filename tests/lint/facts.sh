#!/usr/bin/env bash
# Facts stand in data: sources of measurements are named there, not in code, and
# the numbers that are set by hand in a room only get fewer. A number of a kernel,
# library or GPU is a row of data/laws/kernels.csv.
. "$(dirname "$0")/lib.bash"

# room : lines that define a name as a number, but for sizes of arrays (names in
# brackets). Lower it with the number; what is left are limits of input, and
# steps and tolerances of solvers.
constants='
models 20
predict 39
core/work 32
'
mentions_most=0
sources='KernelBench|TimeSformer|Liger|timm|NeuSight'

number='^[[:space:]]*(#[[:space:]]*define[[:space:]]+[A-Z_0-9]+|(static[[:space:]]+)?const[[:space:]]+(double|float|int|int64_t|uint32_t)[[:space:]]+[A-Za-z_0-9]+[[:space:]]*=)[[:space:]]+[(]?-?[0-9.]'

# Names of numbers that some array has as its size: MAX in "of[MAX]".
sizes=$(project_files '*.c' '*.h' | of_files grep -hoE '\[[^]]*[A-Z_0-9]{2,}[^]]*\]' |
    grep -oE '[A-Z][A-Z_0-9]+' | sort -u)
numbers_of() { # ROOM: names, but for sizes
    project_files "$1/*.c" "$1/*.h" | of_files grep -hE "$number" |
        sed -E 's/^[^=]*[[:space:]#](define|double|float|int|int64_t|uint32_t)[[:space:]]+([A-Za-z_0-9]+).*/\2/' |
        grep -vxFf <(echo "$sizes")
}

while read -r room most; do
    [ -n "$room" ] || continue
    found=$(numbers_of "$room" | wc -l)
    [ "$found" -le "$most" ] ||
        complain "$room: $found numbers are set by hand, want $most at most: " \
            "a fact is a row of data/laws/kernels.csv"
    [ "$found" -ge "$most" ] ||
        complain "$room: $found numbers are set by hand: say so in tests/lint/facts.sh"
done <<<"$constants"

found=$(project_files 'models/*.[ch]' 'core/*.[ch]' 'predict/*.[ch]' 'calibrate/*.[ch]' |
    of_files grep -hwE "$sources" | wc -l || true)
[ "$found" -le "$mentions_most" ] ||
    complain "sources of measurements are named in $found lines of C, want" \
        "$mentions_most at most: they stand in data and documents"

finish facts
