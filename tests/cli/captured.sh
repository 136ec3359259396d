#!/usr/bin/env bash
# predict --model, where a script stands in for Python: what it is asked, what is made of
# what it says, and that nothing stays behind.
. "$(dirname "$0")/hold.bash"
hold_runs

mkdir "$folder/tmp"
export TMPDIR=$folder/tmp
cat >"$folder/python" <<EOF
#!/usr/bin/env bash
# Behind the script's name, without the folder's random part.
shift
echo "\$*" | sed 's/mystique-sim\.[A-Za-z0-9]*/mystique-sim.X/' >"$folder/asked"
out=\${*: -1}
trace=$folder/trace.json.gz
EOF
cp "$data/traces/gpt2/et/rank-0.json.gz" "$folder/trace.json.gz"
chmod +x "$folder/python"
PYTHON=$folder/python
export PYTHON

captured() { # LINES OF THE SCRIPT, MODEL
    cp "$folder/python" "$folder/stem"
    cat >>"$folder/python" <<<"$1"
    run --platform a100 --csv --model "$2"
    cat "$folder/stem" >"$folder/python"
    [ -z "$(ls "$folder/tmp")" ] || complain "left behind: $(ls "$folder/tmp")"
}
says() { # EXIT CODE TEXT...
    local code=$1
    shift
    captured "printf '%s\n' $(printf '%q ' "$@")>&2; exit $code" timm:resnet
}

captured "cp \$trace \$out" timm:resnet,batch=4
echo 'def f(): pass' >"$folder/mine.py"
captured "cp \$trace \$out" "$folder/mine.py:f"
captured "cp \$trace \$out; echo 'capture.py: warning: one' >&2; echo else >&2; echo 'capture.py: warning: two' >&2" m:f
captured "cp \$trace \$out; echo 'said'; read -r line && echo 'capture.py: warning: input' >&2" m:f
captured "exit 0" m:f # and wrote nothing
says 1 'Traceback (most recent call last):' '  File "x"' 'RuntimeError: no such thing' ''
says 1 'one line'
says 1
says 2 'usage: capture.py [OPTION]' 'capture.py: error: --batch wants a number'
says 1 'capture.py: no module m' 'something later'
says 3 'capture.py: first' 'capture.py: second' 'third'
captured "kill -9 \$\$" m:f
# Of what is said the last 8191 bytes are looked at.
captured "echo 'capture.py: early' >&2; printf 'x%.0s' {1..8180} >&2; exit 1" m:f
captured "printf 'x%.0s' {1..300} >&2; echo >&2; printf 'y%.0s' {1..9000} >&2; printf '\nlast\n\n' >&2; exit 1" m:f

# A file that is read is not written, nor is what the function is in.
echo "cp \$trace \$out" >>"$folder/python"
run --platform a100 --timeline "$folder/mine.py" --model "$folder/mine.py:f"
mkdir "$folder/bin"
ln -s ../python "$folder/bin/python3"
PYTHON='' PATH=$folder/bin:$PATH run --platform a100 --csv --model m:f
PYTHON=$folder/no_such run --platform a100 --model m:f
TMPDIR=$folder/none run --platform a100 --model m:f
run --platform a100 --model m:f "$folder/trace.json.gz"
finish
