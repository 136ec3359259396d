#!/usr/bin/env bash
# The change "parallel" beside PyTorch's own pipelines and shares, recorded over
# gloo on 4 ranks: the messages of every rank, in their order, and how often
# its operators run. Skipped without PyTorch.
# shellcheck source=tests/torch.bash
source "$SOURCE_DIR/tests/torch.bash" core/pipeline core/rewrite \
    scripts/accuracy/parallel_captures.py
export TORCH_CPP_LOG_LEVEL=ERROR OMP_NUM_THREADS=1

# PyTorch posts what interleaved stages receive ahead of the pass that reads it.
cat >want <<'END'
1f1b-4 rank 0: 8 messages, recorded 8: in order; operators alike
1f1b-4 rank 1: 16 messages, recorded 16: in order; operators alike
1f1b-4 rank 2: 16 messages, recorded 16: in order; operators alike
1f1b-4 rank 3: 8 messages, recorded 8: in order; operators alike
tp-2-pp-2 rank 0: 60 messages, recorded 60: in order; operators alike
tp-2-pp-2 rank 1: 60 messages, recorded 60: in order; operators alike
tp-2-pp-2 rank 2: 72 messages, recorded 72: in order; operators alike
tp-2-pp-2 rank 3: 72 messages, recorded 72: in order; operators alike
interleaved-4 rank 0: 48 messages, recorded 48: in order as read; operators alike
interleaved-4 rank 1: 64 messages, recorded 64: in order as read; operators alike
interleaved-4 rank 2: 64 messages, recorded 64: in order as read; operators alike
interleaved-4 rank 3: 48 messages, recorded 48: in order as read; operators alike
END
"$python" "$SOURCE_DIR/scripts/accuracy/parallel_captures.py" "$MYSTIQUE_SIM" \
    traces 1f1b-4 tp-2-pp-2 interleaved-4 >found 2>said ||
    { cat said >&2; exit 1; }
grep rank found | diff want - >&2 || {
    echo "parallel_captures: <: as named in this test, >: found" >&2
    exit 1
}
echo "parallel_captures: ok"
