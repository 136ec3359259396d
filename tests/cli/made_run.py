"""Small recordings as PyTorch's profiler writes them, for tests that generate
their inputs: events of a Kineto trace, nodes of an execution trace (ET)."""
import gzip
import json
import os

SCHEMAS = {
    "aten::mm": "aten::mm(Tensor self, Tensor mat2) -> Tensor",
    "aten::relu": "aten::relu(Tensor self) -> Tensor",
    "aten::tanh": "aten::tanh(Tensor self) -> Tensor",
    "c10d::allreduce_":
        "c10d::allreduce_(Tensor[] tensors, __torch__.torch.classes.c10d."
        "ProcessGroup process_group) -> (Tensor[], __torch__.torch.classes.c10d.Work)",
}


# ---- a Kineto trace -----------------------------------------------------------

def event(cat, name, ts, dur, pid=100, tid=100, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts,
            "dur": dur, "args": {k.replace("_", " "): v for k, v in args.items()}}


def mark(number, ts, dur, rf=0, **where):
    return event("user_annotation", f"ProfilerStep#{number}", ts, dur, **where,
                 Record_function_id=rf)


def op(name, ts, dur, shapes=(), rf=0, dtype="float", **more):
    shapes = [list(s) for s in shapes]
    about = {"Input_Dims": shapes, "Input_type": [dtype] * len(shapes)} if shapes else {}
    return event("cpu_op", name, ts, dur, **more, Record_function_id=rf, **about)


def call(name, ts, dur, correlation=0, **where):
    return event("cuda_runtime", name, ts, dur, **where, correlation=correlation)


def kernel(name, ts, dur, correlation, device=0, stream=7, **args):
    return event("kernel", name, ts, dur, device, stream, device=device,
                 stream=stream, correlation=correlation, grid=[216, 1, 1],
                 block=[128, 1, 1], **args)


def write_kineto(path, events, **top):
    write(path, {"schemaVersion": 1, **top, "traceEvents": events})


# ---- an execution trace -------------------------------------------------------

def tensors(shapes, first):
    return {"values": [[first + i, first + i, 0, 64, 4, "cpu"]
                       for i in range(len(shapes))],
            "shapes": [list(s) for s in shapes],
            "types": ["Tensor(float)"] * len(shapes)}


def node(number, name, parent=2, shapes=(), rf=0, tid=1):
    """It reads tensors 3, 4, ... from outside. Nodes and tensors have one counter:
    what it returns has the number behind its own."""
    about = {"rf_id": rf, "fw_parent": 0, "seq_id": -1, "tid": tid, "fw_tid": 0,
             "scope": 7 if name.startswith("Prof") else 0,
             "op_schema": SCHEMAS.get(name, "")}
    return {"id": number, "name": name, "ctrl_deps": parent,
            "inputs": tensors(shapes, 3),
            "outputs": tensors(shapes[:1], number + 1),
            "attrs": [{"name": k, "type": "uint64", "value": v}
                      for k, v in about.items()]}


def all_reduce(number, parent, elements, group="0"):
    """The call and what is recorded of it: two nodes."""
    outer = node(number, "c10d::allreduce_", parent)
    inner = node(number + 1, "record_param_comms", number)
    listed = [[[3, 3, 0, elements, 4, "cuda:0"]]]
    outer["inputs"] = {"values": [*listed, "<Object>"], "shapes": [[[elements]], []],
                       "types": ["GenericList[Tensor(float)]", "Object"]}
    inner["attrs"] += [{"name": k, "type": "string", "value": v} for k, v in
                       {"collective_name": "allreduce", "dtype": "Float",
                        "pg_name": group}.items()]
    inner["attrs"] += [{"name": f"{side}_msg_nelems", "type": "uint64", "value": elements}
                       for side in ("in", "out")]
    return [outer, inner]


def write_et(path, nodes):
    root = "[pytorch|profiler|execution_trace|"
    write(path, {"schema": "1.1.1-chakra.0.0.4", "pid": 100, "time": "",
                 "start_ts": 0, "nodes": [*nodes, node(2, f"{root}thread]", 1),
                                          node(1, f"{root}process]", 1)],
                 "finish_ts": 1})


# ---- files --------------------------------------------------------------------

def write(path, content):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    with (gzip.open if path.endswith(".gz") else open)(path, "wt") as f:
        f.write(text)
