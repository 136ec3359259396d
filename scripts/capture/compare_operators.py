#!/usr/bin/env python3
"""The operators of two captures of one model: on the CPU, on the meta device.

    compare_operators.py [--binary mystique-sim] [--platform h100] CPU META
    compare_operators.py --gpu [--binary mystique-sim] GIVEN META
    compare_operators.py --model MODEL[,SETTING...] ... [--out CSV]

CPU and META are execution traces or folders that hold one. With --gpu the first
stands for a GPU, too: all of its kernels are compared. With --model both
are recorded first, by capture.py; it may be repeated, and `FILE.py:*` stands
for every function of a file whose name begins with `make_`.

An operator is what the dispatcher was asked for: its name, the sizes and types
of its tensors. Compared is how often each was asked for, down to those that are
kernels on a GPU; what a CPU calls below such a one is no part of the model.
Where CPU and GPU take different ways the rule that says so is named; what no
rule explains is an error (exit 1). With --binary the kernel times that are
predicted for both stand beside it, and how much of them has a law.
"""

import argparse
import collections
import csv
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

# Where a CPU and a GPU go different ways. Operators below `cut` are not
# compared; those that match `only` may stand in one trace alone.
CUT = {
    "aten::convolution": "convolution: oneDNN or PyTorch's own on a CPU, cuDNN "
                         "or PyTorch's own on a GPU",
    "aten::_batch_norm_impl_index": "batch norm: PyTorch's own on a CPU, cuDNN "
                                    "on a GPU",
    "aten::scaled_dot_product_attention": "attention: flash for the CPU; flash, "
                                          "efficient or plain on a GPU",
    "aten::lstm": "recurrent layers: oneDNN or unrolled on a CPU, cuDNN",
    "aten::gru": "recurrent layers: unrolled on a CPU, cuDNN on a GPU",
    "aten::rnn_tanh": "recurrent layers: unrolled on a CPU, cuDNN on a GPU",
    "aten::rnn_relu": "recurrent layers: unrolled on a CPU, cuDNN on a GPU",
    "aten::lstm_cell": "cells: several operators on a CPU, one on a GPU",
    "aten::gru_cell": "cells: several operators on a CPU, one on a GPU",
    "aten::dropout": "dropout: a mask and two products on a CPU, one kernel",
    "aten::rms_norm": "RMS norm: several operators on a CPU, one on a GPU",
    "aten::arange": "aten::arange of the meta device takes no memory first",
    "aten::linspace": "aten::arange of the meta device takes no memory first",
    "aten::max_pool1d": "pooling of rows: one operator on a CPU, as an image "
                        "with indices on a GPU",
    "aten::scalar_tensor": "a number as a tensor: a kernel fills it on a GPU",
    "aten::repeat": "aten::repeat works its strides out on the CPU, as a GPU's "
                    "does: from a CPU's trace this counts as the GPU's",
    "aten::_embedding_bag_backward": "embedding bags: sums keep which bag an "
                                     "index is in on a GPU",
}
BACKWARD = (
    (r"(Cudnn|Native|Miopen)BatchNormBackward0", "BatchNormBackward"),
    (r"ScaledDotProduct(FlashAttentionForCpu|FlashAttention|EfficientAttention)"
     r"Backward0", "AttentionBackward"),
)
RULES = (
    (r"^aten::(empty\w*|as_strided|resize_|new_empty\w*|view|reshape|t|"
     r"transpose|permute|expand|expand_as|select|slice|narrow|squeeze|"
     r"unsqueeze|detach|alias|unflatten|flatten|contiguous|result_type|"
     r"_unsafe_view|_reshape_alias|view_as|chunk|split|unbind|lift_fresh|"
     r"numpy_T|movedim|resolve_conj|resolve_neg|is_nonzero|is_\w+|item|"
     r"_local_scalar_dense)$|^detach$",
     "memory and views: no kernel"),
    (r"^aten::native_layer_norm_backward$", "layer norm in half precision: a GPU "
     "keeps means in full"),
    (r"^aten::to$", "inputs: a batch is moved to the device; on meta it is made "
     "there"),
    (r"^aten::(add|mul|sub|div)_?$|^aten::index_put_?$", "an operation in place, "
     "where a tensor is PyTorch's own: the same kernel"),
    (r"^aten::_embedding_bag", CUT["aten::_embedding_bag_backward"]),
    (r"^aten::(fill_|zero_)$", CUT["aten::scalar_tensor"]),
    (r"Attention|attention|^aten::(clone|copy_|zeros|zero_)$|"
     r"(Clone|UnsafeView|View|ReshapeAlias)Backward0$", CUT["aten::scaled_dot_product_attention"]),
    (r"BatchNorm|batch_norm", CUT["aten::_batch_norm_impl_index"]),
    (r"[dD]ropout|^aten::(bernoulli_|div_|mul)$|^(Div|Mul)Backward0$|"
     r"evaluate_function: (Div|Mul)Backward0$", CUT["aten::dropout"]),
    (r"Rnn|Lstm|LSTM|Gru|GRU|_rnn|lstm|gru|mkldnn_rnn|Unbind|Stack|Sigmoid|"
     r"Tanh|Addmm|Split|Chunk", CUT["aten::lstm"]),
    (r"RmsNorm|rms_norm", CUT["aten::rms_norm"]),
)


# Where a trace that others made for a GPU may differ from what PyTorch calls
# there. Of each: what is on record, with its sizes and types.
DEPTHWISE = r"\[\[\d+, \d+, \d+, \d+\], \[\d+, 1, \d+, \d+\]"
VIEWS = RULES[0][0] + r"|^aten::(as_strided_|unfold)$"
GPU_RULES = (
    (r"^aten::(_conv_depthwise2d|cudnn_convolution) " + DEPTHWISE,
     "depthwise filters: PyTorch's kernel or cuDNN's by use_cudnn_depthwise()"),
    (r"^aten::(cudnn|native)_batch_norm ", "batch norm: cuDNN only with a bias, "
     "and in half precision only with weights in full"),
    (r"^aten::(_scaled_dot_product_\w+|constant_pad_nd|pad|fill_|copy_|clone) ",
     "attention: heads are padded to 8 elements, rows of masks to 8, and a "
     "mask is expanded to all heads"),
    (r"^aten::(addmm|mm|bmm|add|clone|copy_) ", "channels last by strides: "
     "cuDNN keeps the layout, and no copy is wanted before a product"),
    (r"^aten::(eq|isneginf|all|where|zeros_like|scalar_tensor|mul) .*"
     r"\[\d+, \d+, \d+, \d+, \d+\]",
     "plain attention: versions of PyTorch scale and clear rows by other "
     "operators"),
    (r"^aten::(linalg_vector_norm|div|_to_copy) ", "norms under autocast: a GPU "
     "reads half precision and adds in full, a CPU converts first"),
    (r"^aten::index \[\[\d+, \d+\], \[\[\], ", "a table that the model keeps "
     "after its first step: only later steps are recorded"),
)


def load(path):
    path = pathlib.Path(path)
    if path.is_dir():
        found = sorted(path.rglob("*.json.gz"))
        path = next(p for p in found if "kineto" not in p.parts)
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as file:
        return path, json.load(file)["nodes"]


def kernels():
    import meta_gpu
    return meta_gpu.gpu_kernels() or set()


def schema(node):
    for a in node["attrs"]:
        if a["name"] == "op_schema":
            return a["value"].partition("(")[0]
    return ""


def record(node, plain):
    shapes = json.dumps(node["inputs"]["shapes"])
    types = [t if t.startswith(("Tensor", "GenericList[Tensor")) else "-"
             for t in node["inputs"]["types"]]
    name = node["name"]
    for pattern, there in BACKWARD:
        name = re.sub(pattern, there, name)
    if plain:
        return name
    # A number may be given as an integer or as a real.
    tensors = [s for s, t in zip(node["inputs"]["shapes"], types) if t != "-"]
    return name, json.dumps(tensors), ",".join(t for t in types if t != "-")


def operators(nodes, own, cut=(), kernels=False):
    """How often each operator is asked for, down to kernels of a GPU.

    With `kernels` those alone count, and not what calls them.
    """
    children = collections.defaultdict(list)
    for n in nodes:
        children[n["ctrl_deps"]].append(n)
    found = collections.Counter()
    stack = [n for n in children[1] if n["id"] != 1]
    while stack:
        n = stack.pop()
        name = n["name"]
        if name.startswith("["):
            stack += children[n["id"]]
            continue
        kernel = schema(n) in own or name.startswith("aten::_foreach")
        if not name.startswith(("ProfilerStep", "gloo:", "## ")) and (
                kernel or not kernels):
            found[record(n, False)] += 1
        if name in cut or kernel:
            continue
        stack += [c for c in children[n["id"]] if c["id"] != n["id"]]
    return found


PLAIN = "aten::_scaled_dot_product_attention_math"
RULES_PLAIN = ((
    r"(Bmm|Expand|Mul|Add|ToCopy|Softmax|Transpose|ReshapeAlias|Unsafe\w*|SafeSoftmax|"
    r"MaskedFill|Where)Backward\d$|^aten::(_to_copy|bmm|baddbmm|_softmax\w*|mul|tril|"
    r"where|masked_fill\w*|native_dropout_backward|sum)$",
    "attention with dropout: plain on a CPU, one kernel on a GPU"),)


def reason_on_gpu(key):
    if re.search(VIEWS, key[0]):
        return RULES[0][1]
    for pattern, text in GPU_RULES:
        if re.search(pattern, " ".join(key)):
            return text
    return None


def reason(name, cut, plain):
    for pattern, text in RULES + (RULES_PLAIN if plain else ()):
        if re.search(pattern, name):
            # Rules of layers count only where the model has such layers.
            if text in CUT.values() and text not in cut:
                continue
            return text
    return None


def compare(cpu, meta, own, gpu=False):
    at = () if gpu else CUT
    a, b = operators(cpu, own, at, gpu), operators(meta, own, at, gpu)
    cut = {CUT[k[0]] for k in (*a, *b) if k[0] in CUT}
    plain = any(n["name"] == PLAIN for n in cpu)
    explained, open_ = collections.Counter(), []
    for key in sorted(set(a) | set(b)):
        if a[key] == b[key]:
            continue
        why = reason_on_gpu(key) if gpu else reason(key[0], cut, plain)
        if why:
            explained[why] += abs(a[key] - b[key])
        else:
            open_.append((key, a[key], b[key]))
    for name in sorted({k[0] for k in a} & set(at)):
        explained[CUT[name]] += 0
    both = sum((a & b).values())
    return both, sum(a.values()), sum(b.values()), explained, open_


def predicted(binary, platform, path):
    done = subprocess.run([binary, "--platform", platform, "--json", str(path)],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    p = json.loads(done.stdout)
    return p["kernel_us"]["predicted"], p["breakdown_us"]["memory_copy"], \
        p["coverage"]["device_time"], p["coverage"]["ops"]


# capture.py's own models: what they are trained with, which takes lists of
# tensors on a CPU where it is named, as on a GPU.
TRAINED = {"resnet50": "sgd", "dlrm": "sgd", "vit": "adamw", "bert": "adamw",
           "gpt2": "adamw", "llama": "adamw"}


def capture(model, device, folder, inference):
    command = [sys.executable, str(HERE.parent / "capture.py"), "--model",
               *model.split(), "--device", device, "--out", folder, "--steps",
               "1"]
    words = model.split()
    if words[0] in TRAINED and not inference and "--optimizer" not in words:
        command += ["--optimizer", TRAINED[words[0]]]
    if device == "cpu":
        command += ["--timed", "1", "--warmup", "1",
                    "--no-ranges"]
    if inference:
        command.append("--inference")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])


def expand(models):
    for model in models:
        if not model.endswith(":*"):
            yield model
            continue
        with open(model[:-2], encoding="utf-8") as file:
            for name in re.findall(r"^def (make_\w+)\(\)", file.read(), re.M):
                yield f"{model[:-2]}:{name}"


def show(name, cpu, meta, own, args):
    (cpu_path, cpu_nodes), (meta_path, meta_nodes) = load(cpu), load(meta)
    both, n_cpu, n_meta, explained, open_ = compare(cpu_nodes, meta_nodes, own,
                                                 args.gpu)
    row = {"model": name, "cpu": n_cpu, "meta": n_meta, "equal": both,
           "unexplained": len(open_), "why": "; ".join(
               f"{text.partition(':')[0]} ({n})"
               for text, n in explained.items())}
    first = "as given" if args.gpu else "on the CPU"
    print(f"{name}: {n_cpu} operators {first}, {n_meta} on meta, {both} "
          f"equal, {len(open_)} differ without a rule")
    for text, n in explained.items():
        print(f"    {n:6}  {text}")
    for (op, shapes, types), n_a, n_b in open_[:args.most]:
        print(f"    !! {op} {shapes} {types}: {n_a} {first}, {n_b} on meta")
    if args.binary:
        x, copied, *_ = predicted(args.binary, args.platform, cpu_path)
        y, copies, time, ops = predicted(args.binary, args.platform, meta_path)
        row.update(cpu_us=f"{x:.3f}", meta_us=f"{y:.3f}",
                   percent=f"{100 * (y / x - 1):.2f}" if x else "",
                   cpu_copies_us=f"{copied:.3f}",
                   meta_copies_us=f"{copies:.3f}", laws_time=f"{time:.4f}",
                   laws_ops=f"{ops:.4f}")
        print(f"    kernels on {args.platform}: {x:.1f} us {first}, "
              f"{y:.1f} us on meta ({row['percent']} %), copies "
              f"{copied:.1f} and {copies:.1f} us, "
              f"{100 * time:.1f} % by laws")
    return row


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("traces", nargs="*", metavar="TRACE|DIR")
    parser.add_argument("--model", action="append", default=[])
    parser.add_argument("--inference", action="store_true")
    parser.add_argument("--gpu", action="store_true",
                        help="the first trace stands for a GPU, too")
    parser.add_argument("--binary")
    parser.add_argument("--platform", default="h100")
    parser.add_argument("--most", type=int, default=8,
                        help="differences shown of a model [default: 8]")
    parser.add_argument("--out", metavar="CSV")
    args = parser.parse_args()
    if bool(args.model) == bool(args.traces) or len(args.traces) not in (0, 2):
        parser.error("want two traces, or --model")
    own, rows, failed = kernels(), [], 0
    if args.traces:
        rows.append(show(args.traces[1], *args.traces, own, args))
    for model in expand(args.model):
        with tempfile.TemporaryDirectory() as folder:
            try:
                for device in ("cpu", "meta"):
                    capture(model, device, os.path.join(folder, device),
                            args.inference)
                rows.append(show(model, os.path.join(folder, "cpu"),
                                 os.path.join(folder, "meta"), own, args))
            except RuntimeError as error:
                print(f"{model}: {error}", file=sys.stderr)
                failed += 1
        sys.stdout.flush()
    if args.out:
        fields = list(dict.fromkeys(k for r in rows for k in r))
        with open(args.out, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fields, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return 1 if failed or any(r["unexplained"] for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
