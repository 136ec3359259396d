#!/usr/bin/env python3
"""No time is below what a data sheet allows, on every shipped platform.

    sheet_bound.py PROGRAM PLATFORMS ROWS [SEED]

PLATFORMS is the folder of platform files. Of every platform and table of `op`
ROWS random rows are asked, and each time is held against the bytes that its
operands must take from device memory, and the operations that they must take, at
the rates of that file's data sheet. Bytes and operations are counted here, by
the operators' definitions, and not by the program. Tables of operators are timed
again and again, so that the L2 cache may hold what it has room for, but nothing of
what is four times as large. Winograd's algorithm computes filters of 3 x 3 with a
quarter of the multiplications.

Exit 1 with the worst row of each table and platform that breaks it.
"""
import csv
import io
import json
import pathlib
import random
import subprocess
import sys

BYTES = {"fp64": 8, "fp32": 4, "tf32": 4, "bfloat16": 2, "fp16": 2, "fp8": 1,
         "int8": 1}
DTYPES = list(BYTES)
LARGER = 4.5 # than the cache: the program says 4, of bytes that it counts
SLACK = 1 - 1e-5 # six digits are printed


def size(rng, most):
    """Small, large, round and odd sizes alike."""
    v = int(2 ** rng.uniform(0, most))
    return max(1, v // 64 * 64 if rng.random() < 0.5 and v > 64 else v)


def rate(sheet, dtype, conv=False):
    """FLOP/s; 0: not known. What has no units for a type computes in a wider
    one, and never faster than half precision or fp32."""
    get = lambda name: (sheet.get(name) or {}).get("value", 0)
    fp32 = max(get("fp32_flops"), get("tf32_flops") if conv else 0)
    half = max(get("fp16_flops"), get("bf16_flops"))
    return {"fp64": max(get("fp64_flops"), get("fp64_tensor_flops")),
            "fp32": fp32, "tf32": max(get("tf32_flops"), fp32),
            "fp16": max(half, fp32), "bfloat16": max(half, fp32),
            "fp8": max(get("fp8_flops"), half, fp32),
            "int8": max(get("int8_ops"), half, fp32)}[dtype]


def gemm(rng):
    m, n, k = size(rng, 15), size(rng, 15), size(rng, 15)
    batch = size(rng, 6) if rng.random() < 0.3 else 1
    dtype = rng.choice(DTYPES)
    moved = BYTES[dtype] * batch * (m * k + k * n + m * n)
    return ({"m": m, "n": n, "k": k, "batch": batch, "dtype": dtype},
            moved, 2 * batch * m * n * k, dtype)


def attention(rng):
    phase = rng.choice(("prefill", "decode"))
    kv_heads = size(rng, 5)
    heads = kv_heads * rng.choice((1, 2, 4, 8))
    dim, batch = rng.choice((64, 80, 96, 128, 256)), size(rng, 7)
    kv_len = size(rng, 14)
    q_len = 1 if phase == "decode" else rng.randint(1, kv_len)
    dtype = rng.choice(("fp16", "bfloat16"))
    pairs = q_len * kv_len - q_len * (q_len - 1) / 2 # each sees what is before
    moved = 2 * batch * dim * (2 * heads * q_len + 2 * kv_heads * kv_len)
    return ({"phase": phase, "batch": batch, "heads": heads,
             "kv_heads": kv_heads, "q_len": q_len, "kv_len": kv_len,
             "head_dim": dim, "dtype": dtype},
            moved, 4 * batch * heads * dim * pairs, dtype)


def vector(rng):
    op = rng.choice(("add", "mul", "div", "pow", "gelu", "relu", "tanh", "ln",
                     "softmax", "rope", "silu_mul"))
    rows, cols = size(rng, 16), size(rng, 14)
    dtype = rng.choice(("fp32", "fp16", "bfloat16"))
    moved = 2 * BYTES[dtype] * rows * cols
    return {"op": op, "dtype": dtype, "shape": f"{rows}x{cols}"}, moved, 0, dtype


def conv(rng):
    r = rng.choice((1, 3, 5, 7))
    n, h = size(rng, 8), max(size(rng, 8), r)
    groups = rng.choice((1, 1, 1, 4, 32))
    c, k = groups * size(rng, 7), groups * size(rng, 7)
    stride, dtype = rng.choice((1, 1, 2)), rng.choice(("fp32", "fp16"))
    op = rng.choice(("conv2d", "conv2d_bwd_data", "conv2d_bwd_weight"))
    out = (h - r) // stride + 1
    moved = BYTES[dtype] * (n * k * out * out + c // groups * k * r * r +
                            (n * c * out * out if r == 1 else n * c * h * h
                             if r >= stride else 0))
    work = 2 * n * k * out * out * (c // groups) * r * r
    return ({"n": n, "c": c, "h": h, "w": h, "k": k, "r": r, "s": r,
             "stride": stride, "pad": 0, "groups": groups, "op": op,
             "dtype": dtype}, moved, work / (4 if r == 3 else 1), dtype)


def experts(rng):
    topk, dtype = rng.choice((1, 2, 4, 8)), rng.choice(("bfloat16", "fp8"))
    experts_, tokens = topk * size(rng, 5), size(rng, 14)
    hidden, inter = 64 * size(rng, 7), 64 * size(rng, 6)
    moved = BYTES[dtype] * 3 * topk * hidden * inter + 4 * tokens * hidden
    return ({"tokens": tokens, "hidden": hidden, "inter": inter, "topk": topk,
             "experts": experts_, "tp": 1, "ep": 1, "distribution": "balanced",
             "dtype": dtype}, moved, 6 * tokens * topk * hidden * inter, dtype)


TABLES = (gemm, attention, vector, conv, experts)


def asked(program, platform, table, rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0][0])
    writer.writeheader()
    writer.writerows(r[0] for r in rows)
    done = subprocess.run([program, "op", "--platform", platform, "-"],
                          input=text.getvalue(), capture_output=True, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(f"{table} on {platform}: exit {done.returncode}, "
                 f"{done.stderr.strip()}")
    return list(csv.DictReader(io.StringIO(done.stdout)))


def worst(program, platform, sheet, table, rows):
    """(time over its bound, row, answer) of the worst; how many had an answer"""
    found, answered = (9, None, None), 0
    for (row, moved, work, dtype), answer in zip(
            rows, asked(program, platform, table.__name__, rows), strict=True):
        if not answer["predicted_us"]:
            continue
        answered += 1
        flops = rate(sheet, dtype, table is conv)
        cache = sheet["l2_bytes"]["value"]
        if moved < LARGER * cache:
            moved = max(moved - cache, 0)
        bound = 1e6 * max(moved / sheet["memory_bandwidth"]["value"],
                          work / flops if flops else 0)
        share = float(answer["predicted_us"]) / bound if bound else 9
        if share < found[0]:
            found = share, row, answer
    return found, answered


def main():
    program, folder, count = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    asks = broken = answers = platforms = 0
    for path in sorted(folder.glob("*.json")):
        sheet = json.loads(path.read_text()).get("data_sheet")
        if not sheet:
            continue
        platforms += 1
        for table in TABLES:
            rng = random.Random(f"{seed} {path.stem} {table.__name__}")
            rows = [table(rng) for _ in range(count)]
            (share, row, answer), answered = worst(program, path.stem, sheet,
                                                   table, rows)
            asks += count
            answers += answered
            if share < SLACK:
                broken += 1
                print(f"{path.stem}: {share:.4f} of its bound: {row}: "
                      f"{answer['predicted_us']} us ({answer['model']})")
    print(f"{platforms} platforms, {asks} rows, {answers} times, "
          f"{broken} tables with one below its data sheet")
    sys.exit(broken > 0 or answers == 0)


if __name__ == "__main__":
    main()
