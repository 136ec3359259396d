#!/usr/bin/env bash
# The files of data/ that laws and platforms are: each value left out, below 0, or of
# another type, is refused by its name, or moves the answer as it did.
. "$(dirname "$0")/answers.bash"
in_turn
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)
export MSIM_DATA=$data

facts() { # NAME FILE EXPRESSION ARGUMENT...: of what `it` is after the expression
    local name=$1 file=$2
    python3 -c "import json, sys
it = json.load(open(sys.argv[1], encoding='utf-8'))
exec(sys.argv[2])
json.dump(it, open(sys.argv[3], 'w', encoding='utf-8'))" "$data/$file" "$3" "$folder/base.json"
    shift 3
    python3 "$here/edges.py" "$sim" "$folder/base.json" --in "$file" "$@" |
        sed 's/: 0 warning: .* \[/: 0 [/' | to_eight_digits >"$folder/said"
    hold "facts_$name"
}
few() { # MEMBER COUNT: keeps so many of a member
    echo "it$1 = dict(list(it$1.items())[:$2]);"
}

python3 "$here/small_step.py" "$folder/step.json"
predict=(predict --platform a10 "$folder/step.json" --csv)
facts kernels laws/kernels.json "" "${predict[@]}"
facts jobs laws/jobs.json "" "${predict[@]}"
facts programs laws/programs.json "$(few "['platforms']" 2)" "${predict[@]}"
facts platform platforms/a10.json "" "${predict[@]}"
facts host hosts/generic.json "$(few "['operators']" 3)$(few "['calls']" 3)$(few "['classes']" 3)
del it['provenance']" "${predict[@]}"

cat >"$folder/loops.csv" <<'CSV'
id,backend,model,platform,isl,osl,batch_size,tp_size,gemm_quant
a,vllm,llama3.2-3b,h100,256,64,4,2,fp8
b,sglang,llama3.2-3b,a100,256,64,1,1,
CSV
facts serving laws/serving.json "" serve --rows "$folder/loops.csv" --csv
finish
