#!/usr/bin/env bash
# generate: benchmarks of several ranks. With PyTorch both ranks run under
# torchrun, and each has to be what its own trace recorded.
. "$(dirname "$0")/lib.bash"

python=${PYTHON:-python3}
job=$SOURCE_DIR/data/traces/dlrm-ddp-2ranks
torch=false
# Python's own memory is not what the sanitizers are to look at.
[ "${MSIM_SANITIZE:-0}" = 1 ] || ! "$python" -c 'import torch' 2>/dev/null ||
    torch=true

lines() { # of bench.py that match: their numbers
    grep -nE "$1" "$folder/ranks/bench.py" | cut -d: -f1 | tr '\n' ' '
}

# Ranks that do the same share a program; sizes and ranges are data of each.
run generate "$job" -o "$folder/ranks"
want_rc 0
want_err "2 ranks, all with one program: torchrun --nproc-per-node 2"
want_err "spends no time in its 3 collectives"
[ -f "$folder/ranks/data-rank-1.json" ] || complain "no data of rank 1"
[ ! -e "$folder/ranks/bench-rank-1.py" ] || complain "two programs where one does"
grep -q 'torchrun --nproc-per-node 2' "$folder/ranks/README.md" ||
    complain "README.md does not say how all ranks run"

# The second all-reduce begins before the first one is waited for.
read -r first second <<<"$(lines "= collective\('allreduce_'")"
read -r _ wait _ <<<"$(lines '^    x[0-9]+\.wait\(\)')"
[ "$first" -lt "$second" ] && [ "$second" -lt "$wait" ] ||
    complain "nothing runs beside the all-reduces: lines $first, $second, $wait"

# Another program for a rank that does something else.
run generate "$job/et/rank-0.json.gz" "$SOURCE_DIR/data/traces/gpt2/et/rank-0.json.gz" \
    -o "$folder/none"
[ "$rc" -ne 0 ] || complain "two traces of rank 0 made one benchmark"

# Two of three: whoever is missing would be waited for without end.
mkdir "$folder/gap"
cp "$job/et/rank-0.json.gz" "$folder/gap/rank-0.json.gz"
cp "$job/et/rank-1.json.gz" "$folder/gap/rank-2.json.gz"
run generate "$folder/gap" -o "$folder/none"
want_rc 3
want_err "rank 1 is missing: 2 execution traces of 3 ranks"
[ ! -e "$folder/none" ] || complain "a job with a gap left files"

# Alone: as long as the collectives take on another device.
run generate --platform h100 "$job/et/rank-0.json.gz" -o "$folder/alone"
want_rc 0
"$python" - "$folder/alone/data.json" <<'PYTHON' || complain "wrong delays"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["delays_from"] == "predicted for h100", d["delays_from"]
assert len(d["delays_us"]) == 3 and all(0 < us < 1e4 for us in d["delays_us"])
assert d["coverage"]["emitted"] == d["coverage"]["selected"] == 199
PYTHON
run generate --platform nothing "$job/et/rank-0.json.gz" -o "$folder/none"
want_rc 2
want_err "nothing"

if $torch; then
    said=$("$python" "$folder/alone/bench.py" --threads 1 --iters 1 --warmup 0 \
        --certify "$job" 2>"$folder/err") || complain "alone: $said $(cat "$folder/err")"
    [[ $said == *"not measured here but predicted for h100"* ]] ||
        complain "predicted times are not named as such: $said"
    said=$(GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1 "$python" -m torch.distributed.run \
        --standalone --local-addr localhost --nproc-per-node 2 "$folder/ranks/bench.py" \
        --threads 1 --iters 1 --warmup 0 --certify "$job" 2>"$folder/err") ||
        complain "under torchrun: $said $(cat "$folder/err")"
    [[ $said == *"2 of 2 ranks"*"certified: all 341 leaf operators"* ]] ||
        complain "two ranks are not what they recorded: $said"
fi
finish
