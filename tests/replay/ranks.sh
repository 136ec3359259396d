#!/usr/bin/env bash
# A benchmark of one rank of two, from the shipped trace of DistributedData-
# Parallel on gloo: it certifies itself alone, and as two ranks by torchrun.
# Skipped without PyTorch.
. "$(dirname "$0")/../torch.bash"
traces=$SOURCE_DIR/data/traces/dlrm-ddp-2ranks/et
export GLOO_SOCKET_IFNAME=lo OMP_NUM_THREADS=1

# What ended while gloo ran is whole: no operator both called and opened.
for rank in 0 1; do
    "$MYSTIQUE_SIM" generate "$traces/rank-$rank.json.gz" -o "rank-$rank"
    "$python" "rank-$rank/bench.py" --iters 1 --warmup 0 --threads 1 \
        --certify "$traces/rank-$rank.json.gz"
done
"$python" -m torch.distributed.run --standalone --local-addr localhost \
    --nproc-per-node 2 rank-0/bench.py --iters 1 --warmup 0 --threads 1 \
    --json --certify "$traces/rank-0.json.gz" >both.json
"$python" - <<'PYTHON'
import json
r = json.load(open("both.json"))
assert r["certified"] and r["ranks"] == 2 and r["leaf_operators"] == 341, r
PYTHON
echo "ranks: ok"
