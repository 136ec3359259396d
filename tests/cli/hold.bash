# Shared by tests that hold what is said by committed texts (tests/answers): beside those
# of answers.bash, tests that hold each of their runs.
#
#   hold_runs             from here on: command line, exit code, messages, output and
#                         written files of each run are those of
#                         tests/answers/runs_TEST.txt, which has a checksum of what is
#                         long; `bash tests/cli/TEST.sh update` makes it again
#   end_runs              before what runs on some machines only; finish does it, too

. "$(dirname "$0")/lib.bash"

committed=$(cd "$(dirname "$0")/../answers" && pwd)
update=${1:-}
data=${MSIM_DATA:?the data folder}
begun=$(date -u +%F)

# Of libraries of mathematics the last digits differ, and today's date from day to day.
to_eight_digits() {
    local today
    TZ=UTC printf -v today '%(%F)T'
    sed "s#$folder#FOLDER#g; s#$data#DATA#g; s#$begun#TODAY#g; s#$today#TODAY#g" | awk '{
        rest = $0
        line = ""
        while (match(rest, /[0-9]+\.[0-9]+(e[-+]?[0-9]+)?/)) {
            line = line substr(rest, 1, RSTART - 1) \
                sprintf("%.8g", substr(rest, RSTART, RLENGTH) + 0)
            rest = substr(rest, RSTART + RLENGTH)
        }
        sub(/ +$/, "", rest)
        print line rest
    }'
}

hold() { # NAME: what $folder/said has
    if [ "$update" = update ]; then
        cp "$folder/said" "$committed/$1.txt"
        return
    fi
    cmp -s "$folder/said" "$committed/$1.txt" && return
    complain "tests/answers/$1.txt says else (<: committed, >: now):"
    diff "$committed/$1.txt" "$folder/said" | grep '^[<>]' | cut -c1-300 | head -20 >&2
}

# Text of a run as it is anywhere and any day.
anywhere() {
    LC_ALL=C sed "s#$(dirname "$sim")/#BUILD/#g; s#${SOURCE_DIR:-$data}#SOURCE#g" |
        sed 's/"\(events_per_s\|wall_s\)": [^,}]*/"\1": 0/g; s/ events in .* s$/ events/
            s/mystique-sim\.[A-Za-z0-9]\{6\}/mystique-sim.X/g
            s/^\(mystique-sim\) [0-9]*\.[0-9]*\.[0-9]*.*/\1 VERSION/' |
        to_eight_digits
}

short_or_sum() { # FILE NAME
    anywhere <"$1" >"$folder/said"
    if [ "$(wc -c <"$folder/said")" -le 600 ]; then
        cat -v "$folder/said"
    else
        echo "$2: $(wc -l <"$folder/said") lines, sum $(cksum <"$folder/said" | cut -d' ' -f1)"
    fi
}

files_now() {
    find "$folder" -type f ! -name out ! -name err ! -name said ! -name '.runs*' \
        -printf '%i %T@ %P\n' | LC_ALL=C sort
}

before_run() {
    files_now >"$folder/.runs_before"
}

# Those that a run wrote; pictures are gnuplot's.
written_files() {
    files_now | LC_ALL=C comm -13 "$folder/.runs_before" - | cut -d' ' -f3- | LC_ALL=C sort |
        grep -v '\.\(svg\|png\|pdf\)$' | while read -r file; do
        case $file in
        *.gz) gzip -dc "$folder/$file" >"$folder/.runs_file" ;;
        *) cp "$folder/$file" "$folder/.runs_file" ;;
        esac
        echo "file $file"
        short_or_sum "$folder/.runs_file" text
    done
}

note_run() {
    {
        echo "\$ $last" | tr '\n' ' ' | anywhere | cat -v | cut -c1-400
        echo "exit code $rc"
        short_or_sum "$folder/err" messages
        short_or_sum "$folder/out" output
        written_files
    } >>"$runs_held"
}

hold_runs() {
    runs_held=$folder/.runs
    : >"$runs_held"
}

end_runs() {
    mv "$runs_held" "$folder/said"
    runs_held=''
    hold "runs_$(basename "$0" .sh)"
}
