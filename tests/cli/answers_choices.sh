#!/usr/bin/env bash
# Which times are taken, of which GPU, host and trace: choices that go together and that
# do not, all with all, of a trace that names its GPU and of one that does not. A line
# has the exit code, the messages and a checksum of the answer.
. "$(dirname "$0")/answers.bash"
in_turn predict models/host models/platform core/run
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
step=$folder/step.json named=$folder/named.json
python3 "$(dirname "$0")/small_step.py" "$step"
python3 - "$step" "$named" <<'PYTHON'
import json
import sys

trace = json.load(open(sys.argv[1], encoding="utf-8"))
trace["deviceProperties"] = [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85000000000}]
json.dump(trace, open(sys.argv[2], "w", encoding="utf-8"))
PYTHON

line() { # ARGUMENT...
    local sum said
    run "$@" --json
    read -r sum _ < <(to_eight_digits <"$folder/out" | cksum)
    said="$* = $rc [$sum] ${err//$'\n'/ }"
    said=${said//"$folder/"/}
    echo "${said%"${said##*[! ]}"}" # without spaces at its end
}
each() { # TRACE: costs, platforms, sources, clocks
    local costs platform source clock
    for costs in auto measured model scaled; do
        for platform in "" a100 h100 h100@pytorch-2.5 t4; do
            for source in "" a100 a100-pcie-40gb h100; do
                for clock in "" 0.8; do
                    line predict --costs "$costs" ${platform:+--platform "$platform"} \
                        ${source:+--source-platform "$source"} ${clock:+--clock "$clock"} "$1"
                done
            done
        done
    done
}
{ each "$named"; each "$step"; } >"$folder/said"
hold choices_times

beside() { # OPTION...: another trace of the machine, hosts, ranks, peers
    local more
    for more in "" "--host generic" "--ranks 4" "--ranks 16 --nodes 2" "--peers follow" "--index-skew 0.5" "--network ethernet-100" \
        "--iteration 1" "--kind compute" "--exclude aten::mm" "--scale kernels=0.5" "--power-cap 150"; do
        # shellcheck disable=SC2086
        line predict "$@" $more "$named"
    done
}
for costs in auto measured model scaled; do
    for platform in a100 h100; do
        beside --costs $costs --platform $platform --source-trace "$named"
        beside --costs $costs --platform $platform --source-trace "$step"
        beside --costs $costs --platform $platform
    done
done >"$folder/said"
hold choices_beside

# Changes between GPUs, hosts and clocks.
for change in '{"gpu": "h100"}' '{"gpu": "a100"}' '{"gpu": "h100@pytorch-2.5"}' '{"host": "generic"}' '{"clock": "0.8"}' '{"power_cap": "150"}' \
    '{"gpu": "h100"}, {"host": "generic"}' '{"gpu": "h100"}, {"clock": "0.8"}' '{"batch": 32}' '{"batch": 32}, {"gpu": "h100"}' \
    '{"world": 4}' '{"world": 4}, {"network": "ethernet-100"}' '{"dtype": "amp_bf16"}' '{"loader": {"milliseconds": 5}}'; do
    echo "{\"scenarios\": [{\"name\": \"a\", \"changes\": [$change]}]}" >"$folder/changes.json"
    echo "$change"
    for platform in "" a100 h100; do
        line whatif ${platform:+--platform $platform} "$folder/changes.json" "$named"
        line whatif ${platform:+--platform $platform} --host generic "$folder/changes.json" "$named"
        line whatif ${platform:+--platform $platform} "$folder/changes.json" "$step"
    done
done >"$folder/said"
hold choices_changes
finish
