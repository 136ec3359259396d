#!/usr/bin/env bash
# What gnuplot is asked to draw, by all verbs that have charts: every mark and word.
. "$(dirname "$0")/answers.bash"

# In gnuplot's place: keeps the script, and answers with a picture of its own.
mkdir "$folder/bin" "$folder/scripts"
cat >"$folder/bin/gnuplot" <<EOF
#!/usr/bin/env bash
cat >"$folder/scripts/\$(ls "$folder/scripts" | wc -l).gp"
case \$(cat "$folder/scripts"/*) in
*'set terminal png'*) cat "$folder/picture.png" ;;
*) cat "$folder/picture.svg" ;;
esac
EOF
base64 -d >"$folder/picture.png" <<'PNG'
iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==
PNG
# Colours as gnuplot's SVG has them: of a group, of a tag itself, of none.
cat >"$folder/picture.svg" <<'SVG'
<?xml version="1.0"?><svg viewBox="0 0 9 9"><defs><circle id='p' stroke='currentColor' r='2' fill='currentColor'/></defs>
<g fill="none" color="black" stroke="currentColor" stroke-width="1"><path color='#336699' stroke='currentColor' d='M1,2 L3,4'/></g>
<use xlink:href='#p' color='rgb(1,2,3)'/><text fill="currentColor">5 &lt; 6</text></svg>
SVG
chmod +x "$folder/bin/gnuplot"
PATH=$folder/bin:$PATH

drawn() { # NAME ARGUMENT...
    local name=$1
    shift
    rm -f "$folder/scripts"/*
    run "$@"
    [ "$rc" -le 1 ] || complain "exit code $rc: $err"
    sort -V <(ls "$folder/scripts") | while read -r script; do
        cat "$folder/scripts/$script"
    done | to_eight_digits >"$folder/said"
    [ -s "$folder/said" ] || complain "nothing was drawn"
    hold "chart_$name"
}

chart=$folder/chart.svg
drawn predict --platform a100 --chart "$chart" "$data/traces/resnet"
drawn predict_usage --platform a100 --usage --chart "$chart" "$data/traces/gpt2"
drawn predict_ranks --platform h100 --chart "$chart" "$data/traces/dlrm-ddp-2ranks"
drawn validate validate --platform a100 --chart "$chart" "$data/traces/gpt2" "$data/traces/gpt2"
# Replayed in other times than those of the trace.
if command -v python3 >/dev/null; then
    run replay --backend "python3 $(cd "$(dirname "$0")" && pwd)/steady_backend.py" --iterations 2 \
        -o "$folder/run.json" "$data/traces/resnet"
    drawn validate_replayed validate --platform a100 --chart "$chart" "$data/traces/resnet" "$folder/run.json"
fi
drawn select select -k 2 --chart "$chart" "$data/traces"/[bgrv]*
cat >"$folder/jobs.csv" <<'CSV'
source,model,platform,gpus,tp,zero,micro_batch,global_batch,step_ms
one,llama3-8b,h100,8,1,1,1,64,9000
one,llama3-8b,h100,16,2,1,1,64,7000
two,llama3-70b,h100,64,8,3,1,128,
two,mpt-7b,a100,8,1,3,4,64,4000
CSV
drawn rows validate --rows "$folder/jobs.csv" --chart "$chart"
printf 'platform,gpus,micro_batch,step_ms\na100,1,16,20\nh100,1,32,15\n' >"$folder/traced.csv"
drawn traced_rows validate --rows "$folder/traced.csv" --trace "$data/traces/resnet" --chart "$chart"
echo '{"model": "llama3-8b", "global_batch": 64, "tokens": 1e9, "limits": {"cost": 20000}, "gpus": [8, 16], "tp": [1, 2],
    "platforms": [{"name": "h100", "price_per_gpu_hour": 2, "power_w": 1000}, {"name": "a100", "price_per_gpu_hour": 1}]}' >"$folder/spec.json"
drawn plan plan "$folder/spec.json" -o "$folder/plan"
sed '/^<style>/,/^<\/style>/d' "$folder/plan/report.html" | to_eight_digits >"$folder/said"
hold chart_plan_page
echo "{\"trace\": \"$data/traces/vit\", \"platforms\": [\"h100\", \"l40s\"], \"gpus\": [1, 4], \"micro_batch\": [8, 32]}" >"$folder/spec.json"
drawn plan_traced plan "$folder/spec.json" -o "$folder/traced"

# ---- serving ------------------------------------------------------------------------

cat >"$folder/app.json" <<'JSON'
{"schema": "mystique-sim/app/1", "name": "two",
 "slo": [{"class": "read", "metric": "e2e", "percentile": 95, "limit_ms": 40},
         {"class": "write", "metric": "e2e", "percentile": 99.9, "limit_ms": 90}],
 "classes": [{"name": "read", "share": 0.8}, {"name": "write", "share": 0.2}],
 "arrivals": {"process": "poisson", "rate": 60},
 "stages": {"front": {"kind": "measured", "service": 2, "workers": 2, "price_per_hour": 1},
            "store": {"kind": "measured", "call": "queue", "service": {"gamma": {"mean": 9, "cv": 0.7}}, "price_per_hour": 2}},
 "flow": {"start": "front", "edges": [{"from": "front", "to": "store"}]}}
JSON
drawn serve serve "$folder/app.json" --num-requests 400 --chart "$chart"
drawn serve_over serve "$folder/app.json" --rate 500 --num-requests 400 --chart "$folder/chart.png"
mkdir "$folder/suite"
cp "$folder/app.json" "$folder/suite/two.json"
sed 's/"two"/"other"/; s/"service": 2/"service": 5/' "$folder/app.json" >"$folder/suite/other.json"
echo '{"rate": [20, 50, 90], "replicas": [1, 2]}' >"$folder/sweep.json"
drawn apps apps "$folder/suite" --sweep "$folder/sweep.json" --num-requests 100 --chart "$chart"
drawn apps_png apps "$folder/suite" --num-requests 100 --chart "$folder/chart.png"
drawn predict_png --platform a100 --chart "$folder/chart.png" "$data/traces/resnet"
drawn validate_png validate --platform a100 --chart "$folder/chart.png" "$data/traces/gpt2" "$data/traces/gpt2"
drawn select_png select -k 2 --chart "$folder/chart.png" "$data/traces"/[bg]*
drawn rows_png validate --rows "$folder/jobs.csv" --chart "$folder/chart.png"
echo '{"workload": "serving", "model": "llama3-8b", "rate": 30, "requests": 200, "input_tokens": 500,
 "output_tokens": {"lognormal": {"mean": 60, "cv": 0.5}},
 "slo": [{"metric": "ttft", "percentile": 90, "limit_ms": 300}, {"metric": "tpot", "percentile": 90, "limit_ms": 30}],
 "platforms": [{"name": "h100", "price_per_gpu_hour": 2.5, "power_w": 1000}, {"name": "l40s", "price_per_gpu_hour": 0.9}],
 "tp": [1, 2], "max_num_seqs": [16, 64]}' >"$folder/spec.json"
drawn plan_serving plan "$folder/spec.json" -o "$folder/served"
sed '/^<style>/,/^<\/style>/d' "$folder/served/report.html" | to_eight_digits >"$folder/said"
hold chart_plan_serving_page
finish
