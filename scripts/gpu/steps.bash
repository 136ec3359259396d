#!/usr/bin/env bash
# Steps within a budget of seconds, and what they make, kept as soon as it is
# there. Sourced by on_gpu.sh, which sets out, work and budget (milliseconds).
#
# A step is a command that runs beside this shell, in a process group of its own.
# What it makes lies under $products/BUNDLE as soon as it is whole (a name that
# ends in .part is not there yet), or grows line by line in $growing. It goes into
# $out/BUNDLE.tar, BUNDLE-2.tar, ... in the order in which it came. These are
# renamed, too: what ends all this at any moment costs the steps that run then.
# shellcheck disable=SC2034,SC2154 # what on_gpu.sh sets, and what it reads

MOST_BYTES=10485760 # of a file
declare -A FILES=([captures]=2 [kernels]=2 [journals]=1 [results]=1)
NAP=0.1 # seconds between looks at what runs

products=$work/products growing=$work/growing report=$out/report.txt
declare -A expected=() # seconds, of the steps to come
declare -A pid=() began=() deadline=() patience=() # of those that run
declare -A code=() # exit codes of those that ended
declare -A kept=() told=()
failed=0 seen='' copied=0 latest=0
seconds=0 # that the step which begins is to fill

now() { # VARIABLE: it is so many milliseconds
    printf -v "$1" %d "$((${EPOCHREALTIME//[!0-9]/} / 1000))"
}

begin() {
    mkdir -p "$growing"
    for bundle in "${!FILES[@]}"; do
        mkdir -p "$products/$bundle"
    done
    now zero
    grace=$((budget / 100))
    touch "$work/start"
    : >"$report"
}

say() { # LINE
    local at
    now at
    at=$(((at - zero) / 100))
    printf '== %s at %d.%d s\n' "$1" "$((at / 10))" "$((at % 10))" >>"$report"
}

# ---- what was made -----------------------------------------------------------

# BYTES TIME NAME of what came into a bundle since the beginning.
entries() { # BUNDLE
    (cd "$products/$1" && find . -mindepth 1 -maxdepth 1 ! -name '*.part' \
        -newer "$work/start" -print0 |
        du --files0-from=- -sb --time --time-style=+%s.%N | sort -s -k2,2n)
}

put() { # BUNDLE FILE ENTRY...
    local bundle=$1 file=$2 entry
    shift 2
    tar -C "$products/$bundle" -cf "$out/$file.part" -- "$@" &&
        mv "$out/$file.part" "$out/$file" || return
    for entry in "$@"; do
        [ -z "${told[$bundle/$entry]:-}" ] || continue
        say "kept: $bundle/${entry#./}"
        told[$bundle/$entry]=yes
        now latest
    done
}

pack_bundle() { # BUNDLE
    local n=1 room=$MOST_BYTES size at entry file some lists=() states=()
    while read -r size at entry; do
        size=$((size + 4096)) # with tar's headers
        if ((size > room && size <= MOST_BYTES && n < FILES[$1])); then
            n=$((n + 1)) room=$MOST_BYTES
        fi
        if ((size > room)); then
            [ -n "${told[$1/$entry]:-}" ] ||
                say "left out, as the bundles are full: $1/${entry#./}"
            told[$1/$entry]=yes
            continue
        fi
        room=$((room - size))
        lists[n]+=$entry$'\n' states[n]+="$size $at $entry "
    done < <(entries "$1")
    for n in "${!lists[@]}"; do
        file=$1.tar
        [ "$n" -eq 1 ] || file=$1-$n.tar
        [ "${kept[$file]:-}" != "${states[n]}" ] || continue
        mapfile -t some < <(printf %s "${lists[n]}")
        put "$1" "$file" "${some[@]}" && kept[$file]=${states[n]}
    done
}

# A copy of each file that grows.
copy_growing() {
    local file to
    for file in "$growing"/*; do
        to=$products/journals/${file##*/}.gz
        [ "$file" -nt "$to" ] || continue
        gzip -1 <"$file" >"$to.part" && mv "$to.part" "$to"
    done
}

keep() { # [all]: what is new; all: of files that grow, too
    local at names bundle
    now at
    if [ $# -gt 0 ] || ((at - copied > 5 * grace)); then
        copied=$at
        copy_growing
    fi
    printf -v names '%s\n' "$products"/*/* "$copied"
    [ "$names" != "$seen" ] || return
    seen=$names
    for bundle in "${!FILES[@]}"; do
        pack_bundle "$bundle"
    done
}

# ---- steps -------------------------------------------------------------------

# Milliseconds that are left for steps: the end of the last one wants some, too.
rest() { # VARIABLE
    now "$1"
    printf -v "$1" %d "$((zero + budget - 2 * grace - $1))"
}

# The steps to come, and the seconds that each is expected to take. A step's
# share of the rest is by those, so that what one leaves goes to all others.
plan() { # NAME:SECONDS...
    local one
    for one in "$@"; do
        expected[${one%:*}]=${one##*:}
    done
}

# Whether the time for steps is spent.
is_over() {
    local left
    rest left
    ((left < grace))
}

# start NAME PERCENT[:QUIET] COMMAND...: for so much of its share at most, and for
# QUIET percent of the budget at most without a new product, twice that before its
# first one. A step that is not in
# the plan has all of the rest as its share. $seconds is what it may fill: its
# share, but for its first and last moments.
start() {
    local name=$1 percent quiet all=0 left share one
    IFS=: read -r percent quiet <<<"$2"
    shift 2
    rest left
    for one in "${expected[@]}"; do
        all=$((all + one))
    done
    share=$left
    [ -z "${expected[$name]:-}" ] || share=$((left * expected[$name] / all))
    unset "expected[$name]"
    if ((left < grace)); then
        say "$name: not begun, the budget is spent"
        code[$name]=1 failed=1
        return
    fi
    seconds=$((share * 85 / 100))
    printf -v seconds %d.%03d "$((seconds / 1000))" "$((seconds % 1000))"
    share=$((share * percent / 100))
    now latest
    began[$name]=$latest
    patience[$name]=$((budget * ${quiet:-100} / 100))
    deadline[$name]=$((began[$name] + (share < left ? share : left)))
    set -m # a process group for it
    "$@" >"$work/$name.said" 2>&1 </dev/null &
    set +m
    pid[$name]=$!
}

over() { # NAME: what it made is kept before it is said to have ended
    local name=$1 rc=0 from
    end "$name" KILL # what its shell left behind
    wait "${pid[$name]}" || rc=$?
    code[$name]=$rc
    unset "pid[$name]" # a signal does not find it again
    keep all
    from=$(((began[$name] - zero) / 100))
    say "$name: exit $rc, from $((from / 10)).$((from % 10)) s, over"
    tail -c "$([ "$rc" -eq 0 ] && echo 4000 || echo 20000)" \
        "$work/$name.said" >>"$report"
    [ "$rc" -eq 0 ] || failed=1
}

# Signals reach the whole group.
end() { # NAME SIGNAL
    kill "-$2" -- "-${pid[$1]}" 2>/dev/null
}

watch() {
    local name at late quiet
    sleep "$NAP"
    keep
    now at
    for name in "${!pid[@]}"; do
        if ! kill -0 "${pid[$name]}" 2>/dev/null; then
            over "$name"
            continue
        fi
        late=$((at - deadline[$name]))
        quiet=$((at - latest - patience[$name] * (latest > began[$name] ? 1 : 2)))
        ((quiet < late)) || late=$quiet
        if ((late > grace)); then
            end "$name" KILL
        elif ((late > 0)); then
            end "$name" TERM
        fi
    done
}

await() { # NAME; of what was never started there is nothing to wait for
    while [ -n "${pid[$1]:-}" ]; do
        watch
    done
    return "${code[$1]:-0}"
}

step() { # NAME PERCENT COMMAND...
    start "$@"
    await "$1"
}

end_all() {
    local name
    for name in "${!pid[@]}"; do
        end "$name" KILL
        over "$name"
    done
}

stopped() {
    trap '' HUP INT TERM
    end_all
    keep all
    say "stopped by a signal"
    exit 1
}
