#!/usr/bin/env bash
# whatif: several changes at once are what one after the other is, and what is
# written of the job that is so. The model is as wide as a batch has tokens.
. "$(dirname "$0")/lib.bash"
in_turn core/sizes core/reshape core/rewrite

write() { # DIR LAYERS HIDDEN FFN MEMBERS: traces of that model and strategy, without their description
    echo "{\"name\": \"square\", \"type\": \"decoder\", \"tied_embeddings\": false, \"gated\": true,
        \"norm\": \"rmsnorm\", \"positions\": \"rope\", \"bias\": false, \"layers\": $2, \"hidden\": $3,
        \"heads\": 16, \"kv_heads\": 4, \"ffn\": $4, \"vocab\": 32000}" >"$folder/m.json"
    echo "{$5, \"sequence\": 1024, \"precision\": \"bf16\"}" >"$folder/s.json"
    run synth "$folder/m.json" --strategy "$folder/s.json" -o "$folder/$1"
    want_rc 0
    rm -f "$folder/$1/synth.json"
}
figure() { # DIR FIGURE: what predict --json says of it
    "$MYSTIQUE_SIM" --platform h100 --json "$folder/$1" 2>/dev/null |
        grep -oE "\"$2\": (\{\"predicted\": |\{\"peak\": )?[0-9.e+]+" |
        head -1 | grep -oE '[0-9.e+]+$'
}
change() { # DIR NAME CHANGES: into DIR.NAME
    echo "{\"scenarios\": [{\"name\": \"x\", \"changes\": $3}]}" >"$folder/w.json"
    run whatif --platform h100 "$folder/w.json" "$folder/$1" --write "$folder/$1.$2.all"
    want_rc 0
    mv "$folder/$1.$2.all/x" "$folder/$1.$2" || complain "nothing is written of $3: $out"
}
close_to() { # DIR DIR SHARE: time and memory
    for what in period_us memory_bytes; do
        awk -v a="$(figure "$1" $what)" -v b="$(figure "$2" $what)" -v s="$3" \
            'BEGIN { exit !(a > b * (1 - s) && a < b * (1 + s)) }' ||
            complain "$what of $1: $(figure "$1" $what), of $2 $(figure "$2" $what), want them within $3"
    done
}
same() { # DIR DIR
    close_to "$1" "$2" 0.000001
}

# Fewer layers, shared by two: a square tensor goes from the layer before those that are left out
# to the one behind them.
write square 8 1024 4096 '"gpus": 1, "global_batch": 4, "micro_batch": 1'
write fewer 6 1024 4096 '"gpus": 2, "tp": 2, "global_batch": 4, "micro_batch": 1'
change square both '[{"parallel": {"tp": 2}}, {"layers": 6}]'
change square layers '[{"layers": 6}]'
change square.layers ranks '[{"parallel": {"tp": 2}}]'
same square.both square.layers.ranks
close_to square.both fewer 0.01
change square three '[{"layers": 10}, {"hidden": 2048}, {"parallel": {"tp": 2}}]'
change square wide '[{"hidden": 2048}]'
change square.wide layers '[{"layers": 10}]'
change square.wide.layers ranks '[{"parallel": {"tp": 2}}]'
same square.three square.wide.layers.ranks

# What was gathered for a product that reads it turned has its rows first, also where there are
# as many as the MLP is wide.
write four 8 1024 4096 '"gpus": 1, "global_batch": 4, "micro_batch": 4'
change four both '[{"parallel": {"tp": 2}}, {"hidden": 2048}]'
change four ranks '[{"parallel": {"tp": 2}}]'
change four.ranks wide '[{"hidden": 2048}]'
same four.both four.ranks.wide

# A width of the MLP that is that of the model.
write even 4 1024 1024 '"gpus": 1, "global_batch": 1, "micro_batch": 1'
write odd 4 1024 3072 '"gpus": 1, "global_batch": 1, "micro_batch": 1'
change even mlp '[{"ffn": 3072}]'
same even.mlp odd

# Numbers that are what they were change nothing; stages become one rank, with as many layers as are asked for.
write stages 8 1024 4096 '"gpus": 2, "pp": 2, "global_batch": 4, "micro_batch": 1'
write copies 8 1024 4096 '"gpus": 2, "dp": 2, "global_batch": 8, "micro_batch": 1'
write six 6 1024 4096 '"gpus": 1, "global_batch": 4, "micro_batch": 1'
change stages six '[{"layers": 6}, {"parallel": {"pp": 1}}]'
close_to stages.six six 0.001
change stages eight '[{"layers": 8}, {"parallel": {"pp": 1}}]'
close_to stages.eight square 0.001
change square six '[{"layers": 6}, {"parallel": {"tp": 1, "pp": 1, "cp": 1, "dp": 1}}]'
same square.six six
unchanged() { # DIR CHANGES
    echo "{\"scenarios\": [{\"name\": \"x\", \"changes\": $2}]}" >"$folder/w.json"
    run whatif --platform h100 --csv "$folder/w.json" "$folder/$1"
    want_rc 0
    [ "$(grep ^base, "$folder/out" | cut -d, -f2-)" = "$(grep ^x, "$folder/out" | cut -d, -f2-)" ] ||
        complain "$2 changes $1: $out"
}
unchanged stages '[{"parallel": {"pp": 2}}]'
unchanged copies '[{"parallel": {"dp": 2}}]'
unchanged square '[{"layers": 8}, {"hidden": 1024}, {"parallel": {"pp": 1}}]'
finish
