#!/usr/bin/env bash
# How many replicas, by each method: of requests that have sizes, and of flows with
# copies, chances, retries, loops, priorities and workers that wait.
. "$(dirname "$0")/answers.bash"
in_turn

cat >"$folder/sizes.json" <<'JSON'
{"schema": "mystique-sim/app/1", "name": "sizes", "size": {"lognormal": {"mean": 1, "cv": 0.5}},
 "slo": [{"class": "all", "metric": "e2e", "percentile": 90, "limit_ms": 60}],
 "classes": [{"name": "all", "share": 1}], "arrivals": {"process": "poisson", "rate": 250},
 "stages": {
  "find": {"kind": "measured", "workers": 2, "call": "queue", "routing": "shared", "network_ms": 0.3, "service": {"gamma": {"mean": 5, "cv": 0.7}}, "size_power": 1},
  "rank": {"kind": "measured", "call": "queue", "routing": "round", "service": {"lognormal": {"mean": 4, "cv": 0.6}}, "size_power": 0.5, "batching": {"policy": "dynamic", "max_batch": 4, "max_wait_ms": 2, "law": [[1, 1], [4, 2.1]]}}},
 "flow": {"start": "find", "edges": [{"from": "find", "to": "rank"}]}}
JSON
for method in union convolution search; do
    answer "size_of_sizes_$method" size "$folder/sizes.json" --method "$method" --json
done
cat >"$folder/flow.json" <<'JSON'
{"schema": "mystique-sim/app/1", "name": "flow",
 "slo": [{"class": "a", "metric": "e2e", "percentile": 90, "limit_ms": 45}, {"class": "b", "metric": "e2e", "percentile": 90, "limit_ms": 70}],
 "classes": [{"name": "a", "share": 0.7, "priority": 0}, {"name": "b", "share": 0.3, "priority": 1}],
 "arrivals": {"process": "poisson", "rate": 60},
 "stages": {
  "front": {"kind": "measured", "workers": 4, "call": "rpc", "routing": "least", "service": {"exponential": 2}, "price_per_hour": 1},
  "find": {"kind": "measured", "workers": 2, "call": "queue", "routing": "random", "network_ms": {"exponential": 0.4}, "service": {"gamma": {"mean": 5, "cv": 0.7}}, "class_factor": {"b": 1.5}, "price_per_hour": 2},
  "store": {"kind": "measured", "call": "queue", "routing": "shared", "service": {"samples": [1, 2, 5, 12]}}},
 "flow": {"start": "front", "edges": [
  {"from": "front", "to": "find", "step": 1, "copies": 3, "wait": 2},
  {"from": "front", "to": "store", "step": 1, "copies": {"geometric": 1.5}, "prob": 0.7, "retry": {"timeout_ms": 8, "most": 2}},
  {"from": "front", "to": "store", "step": 2, "classes": ["b"], "loop": {"again": 0.4, "most": 3}}]}}
JSON
for method in union search; do
    answer "size_of_flow_$method" size "$folder/flow.json" --method "$method" --json
done
finish
