#!/usr/bin/env bash
# --network and --nodes: what joins the nodes of a job, and how many there are.
. "$(dirname "$0")/lib.bash"

samples=${SOURCE_DIR:?the source folder}/data/traces
job=$samples/dlrm-ddp-2ranks/kineto

# transfer ARGUMENT...: microseconds that transfers take, in $transfer
transfer() {
    run --platform h100 --costs model --json "$@" "$job"
    want_rc 0
    transfer=$(sed -n 's/^ *"communication_us": {"transfer": \([0-9.]*\).*/\1/p' \
        "$folder/out")
    [ -n "$transfer" ] || complain "no time of transfers"
}

less() {
    awk "BEGIN { exit !($1 < $2) }" || complain "want $1 < $2"
}

# Two ranks share a node unless more are asked for; then they leave it.
transfer
near=$transfer
want_out '"network": null'
transfer --nodes 1
[ "$transfer" = "$near" ] || complain "one node is not what it was without"
transfer --nodes 2
less "$near" "$transfer"
want_out '"nodes": 2'

# A slower network takes longer; none counts inside a node.
transfer --nodes 2 --network infiniband-ndr400
fast=$transfer
want_out '"network": "infiniband-ndr400"'
transfer --nodes 2 --network=Ethernet-100
less "$fast" "$transfer"
transfer --network ethernet-100
[ "$transfer" = "$near" ] || complain "a network counts inside a node"

# A larger job fills nodes as the network has them.
transfer --ranks 16 --network slingshot-200
want_err "costed for 16 ranks, 4 on a node"
transfer --ranks 16
want_err "costed for 16 ranks, 8 on a node"

# A network of one's own.
sed 's/"value": 50000000000/"value": 500000/' \
    "$SOURCE_DIR/data/networks/infiniband-ndr400.json" >"$folder/mine.json"
transfer --nodes 2 --network "$folder/mine.json"
less "$fast" "$transfer"
sed 's/"value": 8/"value": 0/' \
    "$SOURCE_DIR/data/networks/infiniband-ndr400.json" >"$folder/bad.json"
run --platform h100 --network "$folder/bad.json" "$job"
want_rc 3
want_err "'cards_per_node' is missing or wrong, want a number above 0"

usage_error "unknown network 'string', known are: aws-efa-3200," \
    --platform h100 --network string "$job"
usage_error "option '--nodes' is 3, want at most the job's 2 ranks" \
    --platform h100 --costs model --nodes 3 "$job"
usage_error "option '--nodes' is '0', want a whole number from 1" \
    --nodes 0 "$job"
usage_error "option '--network' wants NAME|FILE, got nothing" --network
usage_error "got --network with measured costs, want it with '--costs model'" \
    --costs measured --network roce-100 "$job"
usage_error "got --nodes with measured costs" --costs measured --nodes 2 "$job"

# Which way a transfer goes, and over what.
run --platform h100 --costs model --nodes 2 --explain c10d::broadcast_ "$job"
want_rc 0

finish
