"""What the program says of small recordings with each of their records put otherwise:
a line for each, with the exit code, the first message, and checksums of the report, of
its timeline, and of what `info` finds.

    odd_records.py SIM gpu|ranks|nodes|chakra|words|clocks|pairs|streams|forms|edges
"""
import concurrent.futures
import copy
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

from made_chakra import COLL, COMP, RECV, SEND, node as chakra_node, write_chakra
from made_run import all_reduce, call, event, kernel, mark, node, op, write_et, write_kineto

A100 = [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85 * 10 ** 9,
         "computeMajor": 8, "computeMinor": 0, "numSms": 108}]
GONE = object()


# ---- recordings ---------------------------------------------------------------

def copied(name, cat, ts, us, correlation, size, stream=7):
    return event(cat, name, ts, us, 0, stream, device=0, stream=stream,
                 correlation=correlation, bytes=size)


def waits(name, ts, us, correlation, stream=-1, **more):
    made = event("cuda_sync", name, ts, us, 0, stream, device=0, stream=stream,
                 correlation=correlation)
    made["args"] |= {"cuda_sync_kind": name, **more}
    return made


def total(ts, allocated, reserved, device=0):
    return {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 100, "tid": 100,
            "ts": ts, "args": {"Device Type": 1, "Device Id": device, "Bytes": 512,
                               "Total Allocated": allocated, "Total Reserved": reserved}}


def flow(ph, number, pid, tid, ts):
    return {"ph": ph, "id": number, "cat": "ac2g", "name": "ac2g", "pid": pid, "tid": tid, "ts": ts}


def gpu_step(n):
    """Of two threads and two streams: copies, products, waits of every kind."""
    at, c, rf, back = 1000 * n, 20 * n, 40 * n, {"tid": 200}
    relu = op("aten::relu", at + 130, 30, [[64, 64]], rf + 4)
    relu["args"] |= {"Input Strides": [[64, 1]], "Sequence number": 7 + n, "Fwd thread id": 0}
    backward = op("autograd::engine::evaluate_function: MmBackward0", at + 420, 80, [[64, 64]],
                  rf + 7, **back)
    backward["args"] |= {"Sequence number": 8 + n, "Fwd thread id": 1}
    product = op("aten::mm", at + 60, 60, [[64, 32], [32, 64]], rf + 3)
    product["args"] |= {"Concrete Inputs": ["", ""], "Sequence number": 8 + n}
    sized = kernel("ampere_sgemm_64x32_sliced1x4_nn", at + 80, 90, c + 2)
    sized["args"] |= {"registers per thread": 88, "shared memory": 9000}
    return [
        mark(n, at, 990, rf + 1),
        op("aten::copy_", at + 10, 40, [[64, 64], [64, 64]], rf + 2),
        call("cudaMemcpyAsync", at + 15, 10, c + 1),
        copied("Memcpy HtoD (Pinned -> Device)", "gpu_memcpy", at + 30, 20, c + 1, 16384),
        total(at + 40, 4096 * n + 4096, 65536),
        product, call("cudaLaunchKernel", at + 70, 10, c + 2), sized,
        flow("s", c + 2, 100, 100, at + 70), flow("f", c + 2, 0, 7, at + 80),
        relu, call("cudaLaunchKernel", at + 140, 10, c + 3),
        kernel("vectorized_elementwise_kernel", at + 171, 12.5, c + 3),
        call("cudaEventRecord", at + 170, 3, c + 4),
        call("cudaStreamWaitEvent", at + 180, 3, c + 5),
        waits("Stream Wait Event", at + 182, 1, c + 5, 20, wait_on_stream=7,
              wait_on_cuda_event_record_corr_id=c + 4),
        op("aten::zero_", at + 200, 30, [[128]], rf + 5),
        call("cudaMemsetAsync", at + 205, 10, c + 6),
        copied("Memset (Device)", "gpu_memset", at + 230, 5, c + 6, 512, 20),
        op("aten::sum", at + 240, 40, [[128, 3]], rf + 6),
        call("cudaLaunchKernel", at + 245, 10, c + 7),
        kernel("reduce_kernel", at + 260, 100, c + 7, stream=20),
        call("cudaEventRecord", at + 262, 3, c + 8),
        call("cudaEventSynchronize", at + 290, 80, c + 9),
        waits("Event Sync", at + 291, 70, c + 9, wait_on_stream=20,
              wait_on_cuda_event_record_corr_id=c + 8),
        total(at + 380, 8192, 65536),
        backward, op("aten::mm", at + 430, 50, [[64, 64], [64, 32]], rf + 8, "c10::Half", **back),
        call("cudaLaunchKernel", at + 440, 10, c + 10, **back),
        kernel("ampere_sgemm_128x64_nt", at + 470, 110, c + 10),
        call("cudaStreamSynchronize", at + 520, 70, c + 11),
        op("aten::item", at + 620, 60, [[1]], rf + 9),
        call("cudaMemcpyAsync", at + 630, 10, c + 12),
        copied("Memcpy DtoH (Device -> Pageable)", "gpu_memcpy", at + 645, 5, c + 12, 4),
        call("cudaStreamSynchronize", at + 645, 20, c + 13),
        op("aten::add_", at + 700, 30, [[64, 64], [64, 64]], rf + 10),
        call("cudaLaunchKernel", at + 705, 5, c + 14),
        kernel("multi_tensor_apply_kernel", at + 730, 40, c + 14),
        call("cudaDeviceSynchronize", at + 800, 30, c + 15)]


def gpu():
    events = [{"ph": "M", "name": "thread_name", "pid": 100, "tid": 200,
               "args": {"name": "pt_autograd_0"}}]
    for n in (1, 2):
        events += gpu_step(n)
    return {"one.json": {"schemaVersion": 1, "deviceProperties": A100, "traceEvents": events}}


def rank(number):
    events = []
    for n in (1, 2):
        at, c, late = 1000 * n, 20 * n, 30 * number
        about = {"Collective name": "allreduce", "dtype": "Float", "In msg nelems": 100000,
                 "Out msg nelems": 100000, "Group size": 2, "Process Group Name": "0",
                 "Process Group Ranks": "[0, 1]", "Seq": n}
        reduce = kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", at + 150 + late,
                        260 - late, c + 2, stream=24)
        reduce["args"] |= about
        sent = kernel("ncclDevKernel_SendRecv(ncclDevComm*)", at + 500, 50, c + 3, stream=24)
        sent["args"] |= about | {"Collective name": "recv" if number else "send", "Seq": n + 50,
                                 "Src Rank": 0, "Dst Rank": 1}
        params = event("cpu_op", "record_param_comms", at + 90, 20)
        params["args"] |= about
        events += [mark(n, at, 900, 40 * n + 1), op("aten::mm", at + 10, 40, [[64, 64]] * 2),
                   call("cudaLaunchKernel", at + 15, 10, c + 1),
                   kernel("gemm", at + 30, 100 + late, c + 1), params,
                   call("cudaLaunchKernelExC", at + 100, 8, c + 2), reduce,
                   op("c10d::send", at + 300, 40), call("cudaLaunchKernel", at + 310, 8, c + 3), sent,
                   call("cudaDeviceSynchronize", at + 450, 120, c + 4)]
    return {"schemaVersion": 1, "deviceProperties": A100, "traceEvents": events,
            "distributedInfo": {"backend": "nccl", "rank": number, "world_size": 2,
                                "pg_config": [{"pg_name": "0", "pg_desc": "default_pg",
                                               "backend_config": "cuda:nccl", "pg_size": 2,
                                               "ranks": [0, 1]}]}}


def ranks():
    return {"rank1.json": rank(1), "rank0.json": rank(0)}


def nodes():
    """An execution trace, and the GPU's times of it."""
    rows, at = [], 10
    for n in (1, 2):
        rows.append(node(at, f"ProfilerStep#{n}", 2, rf=40 * n + 1))
        rows.append(node(at + 1, "aten::copy_", at, [[64, 64]] * 2, 40 * n + 2))
        rows.append(node(at + 4, "aten::mm", at, [[64, 32], [32, 64]], 40 * n + 3))
        rows.append(node(at + 7, "aten::relu", at, [[64, 64]], 40 * n + 4))
        rows += all_reduce(at + 10, at, 4096)
        at += 20
    with tempfile.TemporaryDirectory() as folder:
        write_et(f"{folder}/et", rows)
        with open(f"{folder}/et", encoding="utf-8") as f:
            whole = json.load(f)
    return {"et.json": whole, "kineto.json": gpu()["one.json"]}


def chakra():
    about = {"is_cpu_op": False, "comm_type": 0, "comm_size": 4096, "pg_name": "0"}
    return {"trace.0.et": [
        {"number": 1, "name": "embed", "kind": COMP, "needs": [], "us": 10, "is_cpu_op": True},
        {"number": 2, "name": "gemm", "kind": COMP, "needs": [1], "us": 120, "is_cpu_op": False,
         "num_ops": 1000000, "tensor_size": 65536},
        {"number": 3, "name": "reduce", "kind": COLL, "needs": [2], "us": 0, **about},
        {"number": 4, "name": "send", "kind": SEND, "needs": [2, 3], "us": 0, "comm_src": 0,
         "comm_dst": 1, "comm_tag": 5, "comm_size": 512},
        {"number": 5, "name": "update", "kind": COMP, "needs": [3], "us": 50, "is_cpu_op": False,
         "num_ops": 0}],
            "trace.1.et": [
        {"number": 1, "name": "gemm", "kind": COMP, "needs": [], "us": 200, "is_cpu_op": False},
        {"number": 2, "name": "reduce", "kind": COLL, "needs": [1], "us": 0, **about},
        {"number": 3, "name": "receive", "kind": RECV, "needs": [2], "us": 0, "comm_src": 0,
         "comm_dst": 1, "comm_tag": 5, "comm_size": 512}]}


# ---- how records are put otherwise ----------------------------------------------

def instead_of(key, value, again):
    """`again`: other records of the category have the member, too."""
    if isinstance(value, bool):
        return [GONE, not value, 1]
    if isinstance(value, (int, float)):
        near = [value - 7.25, value + 45] if key in ("ts", "dur") else [value + 1]
        if key in ("pid", "tid", "id"):
            return [] if again else [GONE, *near, "word"]
        return near if again else [GONE, 0, -1, *near, 2 ** 40, "word"]
    if isinstance(value, str):
        return [] if again else [GONE, "odd"] if key in ("ph", "cat") else [GONE, "", "odd", 3]
    return [] if again else [GONE, [], 4]


def members(value, path=()):
    """All values within a record; of a list the first."""
    for key, item in (value.items() if isinstance(value, dict) else enumerate(value[:1])):
        yield (*path, key), item
        if isinstance(item, (dict, list)):
            yield from members(item, (*path, key))


def put(whole, path, value):
    """In a copy of it."""
    whole = at = copy.deepcopy(whole)
    for key in path[:-1]:
        at = at[key]
    if value is GONE:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return whole


def listed(whole):
    if isinstance(whole, list):
        return whole
    return whole["traceEvents"] if "traceEvents" in whole else whole["nodes"]


def with_list(whole, rows):
    if isinstance(whole, list):
        return rows
    return {**whole, "traceEvents" if "traceEvents" in whole else "nodes": rows}


def kind_of(record):
    return record.get("cat"), record["name"].rstrip("0123456789"), record.get("ph")


def cases(files):
    """What is put otherwise, and the files then: members of the second record of a kind
    and what is beside the records; each record gone, twice, first or last."""
    name = next(iter(files))
    whole, records = files[name], listed(files[name])
    seen, put_before = {}, set()
    for at, record in enumerate(records):
        seen.setdefault(kind_of(record), []).append(at)

    def with_rows(rows):
        return {**files, name: with_list(whole, rows)}

    def shown(value):
        return "gone" if value is GONE else value

    for of_kind in seen.values():
        at = of_kind[min(1, len(of_kind) - 1)]
        old = records[at]
        for path, value in members(old):
            again = (old.get("cat"), path) in put_before
            put_before.add((old.get("cat"), path))
            for instead in instead_of(path[-1], value, again):
                yield f"{at} {old['name']} {path} {shown(instead)}", \
                    with_rows([*records[:at], put(old, path, instead), *records[at + 1:]])
    if isinstance(whole, dict):
        beside = {k: v for k, v in whole.items() if v is not records}
        for path, value in members(beside):
            for instead in instead_of(path[-1], value, False):
                yield f"{path} {shown(instead)}", \
                    {**files, name: with_list(put(beside, path, instead), records)}
    for at in sorted(of_kind[-1] for of_kind in seen.values()):
        row, rest = records[at], records[:at] + records[at + 1:]
        for what, rows in {"gone": rest, "twice": [*records, row], "first": [row, *rest],
                           "last": [*rest, row]}.items():
            yield f"{at} {row['name']} {what}", with_rows(rows)


# Words that programs of other makers and other years use for the same.
WORDS = {
    ("cuda_runtime", "cudaEventSynchronize"): "cudaEventQuery cudaEventElapsedTime hipEventSynchronize "
    "cuEventSynchronize aclrtSynchronizeEvent cudaMalloc cudaFree cudaHostAlloc cudaFuncGetAttributes",
    ("cuda_runtime", "cudaStreamSynchronize"): "hipStreamSynchronize cuStreamSynchronize "
    "cudaCtxSynchronize urQueueFinish aclrtSynchronizeStream cudaMemcpy cudaStreamBeginCapture",
    ("cuda_runtime", "cudaLaunchKernel"): "cuLaunchKernel hipLaunchKernel hipExtModuleLaunchKernel "
    "cudaGraphLaunch cudaLaunchHostFunc hipGraphLaunch urEnqueueKernelLaunch cudaMemsetAsync odd",
    ("kernel", "ampere_sgemm_64x32_sliced1x4_nn"): "ncclKernel_AllReduce_RING "
    "ncclDevKernel_AllGather_RING_LL ncclKernel_SendRecv rcclKernel mscclKernel_Sum "
    "vllm::cross_device_reduce_1stage warpAllReduce deep_ep::intranode::dispatch "
    "deep_ep::internode::combine userbuffers_fp16_allgather multimem_all_reduce_kernel "
    "allgather_gemm oneccl_allreduce small_reduce nvshmem_barrier hcom_broadcast_",
    ("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)"): "Memcpy_DtoD CopyHostToDevice "
    "CopyDeviceToHost CopyDeviceToDevice Memcpy_PtoP Memcpy_HtoD_(Pageable_->_Device) Copy",
    ("cuda_sync", "Event Sync"): "Event_Synchronize Stream_Sync Context_Sync Device_Synchronize Odd"}


def words():
    """Each word in the place of one of the first recording: all of its kind, or one step's."""
    files = gpu()
    for (cat, name), instead in WORDS.items():
        for word in instead.split():
            made = copy.deepcopy(files)
            for record in listed(made["one.json"]):
                if record.get("cat") == cat and record["name"] == name:
                    record["name"] = word.replace("_", " ") if name.startswith(("Mem", "Ev")) else word
                    if cat == "cuda_sync":
                        record["args"]["cuda_sync_kind"] = record["name"]
            yield f"{name}: {word}", made
    for member, instead in {
            "dtype": "double Half c10::BFloat16 BFloat16 long Int short Char Byte Bool Float8_e4m3fn "
                     "ComplexFloat ComplexDouble UInt16 UInt64 Float4_e2m1fn_x2 odd",
            "Collective name": "all_gather _allgather_base reduce_scatter _reduce_scatter_base "
            "all_to_all alltoall_base broadcast barrier reduce gather scatter wait send recv "
            "nccl:all_reduce allreduce_coalesced odd"}.items():
        for word in instead.split():
            made = ranks()
            for record in listed(made["rank1.json"]) + listed(made["rank0.json"]):
                if record["args"].get("Collective name") == "allreduce":
                    record["args"][member] = word
            yield f"{member}: {word}", made
    for word in ("double c10::Half Half long_int bool unsigned_char signed_char short_int int "
                 "long_long unsigned_int c10::BFloat16 c10::Float8_e5m2 c10::complex<float> odd").split():
        made = gpu()
        for record in listed(made["one.json"]):
            if record["name"] == "aten::mm":
                record["args"]["Input type"] = [word.replace("_", " ")] * 2
        yield f"type: {word}", made
    for word in "Operator operator Runtime Kernel Memcpy Memset hpu_op xpu_runtime privateuse1_driver odd".split():
        made = gpu()
        for record in listed(made["one.json"]):
            if record.get("cat") in ("cpu_op", "cuda_runtime", "kernel", "gpu_memcpy", "gpu_memset") and \
                    word.lower()[:3] in record["cat"]:
                record["cat"] = word
        yield f"category: {word}", made


# ---- ranks of several clocks, and two recordings of one run -----------------------

def reduces(number, n=4, off=0, lags=(), lost=(), seq=0, group="0", of=(0, 1), world=2, **top):
    """A rank that takes part in `n` collectives, each 1000 behind the one before; its clock
    is `off`, and it is `lags` late."""
    events = []
    for k in set(range(n)) - set(lost):
        at = 1000 * k + off + (lags[k] if k < len(lags) else 0)
        reduce = kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", at + 40, 100, k + 1,
                        stream=24)
        reduce["args"] |= {"Collective name": "allreduce", "dtype": "Float", "In msg nelems": 1000,
                           "Group size": len(of), "Process Group Name": group,
                           "Process Group Ranks": str(list(of))}
        if seq is not None:
            reduce["args"]["Seq"] = k + seq
        events += [op("aten::mm", at, 20, [[64, 64]] * 2),
                   call("cudaLaunchKernel", at + 10, 8, k + 1), reduce]
    return {"schemaVersion": 1, "deviceProperties": A100, **top, "traceEvents": events,
            "distributedInfo": {"backend": "nccl", "rank": number, "world_size": world}}


def clocks():
    hosts = [({}, {}), ({"host_name": "a"}, {"host_name": "a"}),
             ({"host_name": "a"}, {"host_name": "b"})]
    for one, other in hosts:
        for off in (0, 0.4, 0.5, 0.6, 400, 999, 1000, 1001, 10000, 10001, 3e6, -3e6, 3.6e9, -3.6e9, 3.6e9 + 1):
            yield f"{one} {other} {off}", {"0.json": reduces(0, **one), "1.json": reduces(1, off=off, **other)}
    apart = {"host_name": "b", "off": 3e6}
    for n in (0, 1, 2, 3, 5, 6):
        yield f"of {n}", {"0.json": reduces(0, n), "1.json": reduces(1, n, **apart)}
    for lags in ((5, 1, 9, 3), (9, 9, 1, 1), (-5, 40, 2, 700)):
        yield f"late {lags}", {"0.json": reduces(0), "1.json": reduces(1, lags=lags, **apart)}
        yield f"late {lags} here", {"0.json": reduces(0), "1.json": reduces(1, lags=lags)}
    for base in (0, 1700000000000000000, 1700000000000500000):
        yield f"since {base}", {"0.json": reduces(0, baseTimeNanoseconds=1700000000000000000),
                                "1.json": reduces(1, baseTimeNanoseconds=base)}
    for lost in ([0], [2], [5], [0, 1], [2, 3], [0, 5], list(range(5))):
        for seq in ((0, 0), (None, None), (0, None), (0, 1), (3, 0)):
            for more in ({}, apart):
                yield f"lost {lost} {seq} {more}", {"0.json": reduces(0, 6, seq=seq[0]),
                                                    "1.json": reduces(1, 6, lost=lost, seq=seq[1], **more)}
    for k, of in enumerate(((0, 1, 2), (1, 2))):
        yield f"three {k}", {f"{n}.json": reduces(n, off=2e6 * n, of=of if n else (0, 1), world=3,
                                                  host_name=str(n), group=str(min(n, 1) * k))
                             for n in range(3)}


def streams():
    """Kernels and copies side by side, whose blocks fill the GPU or leave room."""
    def step(rows, waits_for=()):
        events, c = [mark(1, 0, 3000)], itertools.count(1)
        for at, stream, start, us, blocks, threads, registers in rows:
            n = next(c)
            if blocks:
                work = kernel(f"k{stream}", start, us, n, stream=stream)
                work["args"] |= {"grid": [blocks, 1, 1], "block": [threads, 1, 1],
                                 "registers per thread": registers, "shared memory": 0}
                name = "cudaLaunchKernel"
            else:
                work = copied(f"Memcpy {threads}", "gpu_memcpy", start, us, n, registers, stream)
                name = "cudaMemcpyAsync"
            events += [op("aten::mm", at, 8, [[64, 64]]), call(name, at + 2, 5, n), work]
        for n, (at, us, name) in enumerate(waits_for):
            events.append(call(name, at, us, 900 + n))
        return {"one.json": {"schemaVersion": 1, "deviceProperties": A100, "traceEvents": events}}

    up, down = "HtoD (Pinned -> Device)", "DtoH (Device -> Pinned)"
    for blocks in (1, 107, 108, 109, 216, 217, 864, 5000):
        for threads in (32, 128, 1024):
            for other in (0, 1, 200):
                rows = [(10 + 10 * k, 7, 30 + 100 * k, 100, blocks, threads, 32) for k in range(4)]
                rows += [(60 + 10 * k, 20, 80 + 110 * k, 90 + 10 * k, max(other, 1), 256, 64) for k in range(3)] \
                    if other else []
                yield f"{blocks} of {threads}, {other}", step(sorted(rows), [(900, 20, "cudaDeviceSynchronize")])
    for first, second in ((up, up), (up, down), (down, up), ("DtoD (Device -> Device)", up)):
        for gap in (0, 5, 40, 100):
            rows = [(10, 7, 30, 100, 0, first, 1 << 20), (20, 20, 30 + gap, 100, 0, second, 1 << 20),
                    (30, 21, 35, 300, 108, 256, 32), (40, 7, 150 + gap, 50, 0, second, 1 << 19)]
            yield f"{first} beside {second}, {gap} later", step(rows, [(160, 200, "cudaStreamSynchronize")])
    for late in (0, 1, 1.5, 3, 12, 30, 80):
        rows = [(10, 7, 20, 50, 10, 64, 16), (20, 7, 70 + late, 50, 10, 64, 16), (30, 20, 120 + late, 9, 10, 64, 16),
                (250, 7, 262 + late, 10, 10, 64, 16)]
        for name in ("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy"):
            yield f"{name} {late}", step(rows, [(60, 70 + late, name), (280, 5, name)])


def edges():
    """A record that begins or ends where another one does, a picosecond before, and behind."""
    whole = gpu()["one.json"]
    events = whole["traceEvents"]
    timed = [k for k, e in enumerate(events) if e.get("cat", "cpu_op") != "cpu_op" and "dur" in e][-24:]
    for at, other in zip(timed, timed[1:] + timed[:1]):
        e, f = events[at], events[other]
        for what, ts, us in (("begins with", f["ts"], e["dur"]), ("begins behind", f["ts"] + f["dur"], e["dur"]),
                             ("ends with", e["ts"], f["ts"] + f["dur"] - e["ts"]),
                             ("ends before", e["ts"], f["ts"] - e["ts"])):
            for by in (-1e-6, 0, 1e-6):
                made = {**e, "ts": round(ts + (by if "begins" in what else 0), 6),
                        "dur": round(us + (by if "ends" in what else 0), 6)}
                if made["dur"] >= 0:
                    yield f"{at} {e['name']} {what} {f['name']} {by}", {"one.json": {
                        **whole, "traceEvents": [*events[:at], made, *events[at + 1:]]}}
    for by in (-1e-6, 0, 1e-6):
        made = copy.deepcopy(events)
        next(e for e in reversed(made) if e.get("cat") == "kernel")["dur"] = 5000
        last = max(k for k, e in enumerate(made) if e["name"] == "cudaLaunchKernel")
        waits_at = next(e for e in reversed(made) if e["name"] == "cudaDeviceSynchronize")
        waits_at["ts"] = round(made[last]["ts"] + made[last]["dur"] + by, 6)
        yield f"a kernel outlasts its synchronisation {by}", {"one.json": {**whole, "traceEvents": made}}


def halves(events, chosen):
    """Those that are chosen as a begin and an end, the ends as in a stack of each thread."""
    rows = []
    for at, e in enumerate(events):
        if e.get("ph") != "X" or not chosen(at, e):
            rows.append((e.get("ts", 0), 1, at, e))
            continue
        begin = {**{k: v for k, v in e.items() if k != "dur"}, "ph": "B"}
        end = {k: e[k] for k in ("name", "pid", "tid")} | {"ph": "E", "ts": e["ts"] + e["dur"]}
        rows += [(begin["ts"], 1, at, begin), (end["ts"], 0, -at, end)]
    return [row[3] for row in sorted(rows, key=lambda row: row[:3])]


def forms():
    """The same written otherwise: begins and ends, tasks of a queue, groups in a file of
    their own, steps that two threads mark."""
    whole = gpu()["one.json"]
    events = whole["traceEvents"]
    cats = ["cpu_op", "user_annotation", "cuda_runtime", "cuda_sync", "kernel", "gpu_memcpy", "gpu_memset"]

    def with_events(rows):
        return {"one.json": {**whole, "traceEvents": rows}}

    for cat in cats:
        made = halves(events, lambda at, e, cat=cat: e.get("cat") == cat)
        yield f"begin and end: {cat}", with_events(made)
        for lost in ("B", "E"):
            of = [k for k, e in enumerate(made) if e.get("ph") == lost]
            for at in {of[0], of[-1]}:
                yield f"no {lost} of {cat}, {at}", with_events(made[:at] + made[at + 1:])
        swapped = [dict(e) for e in made]
        for e in swapped:
            if e.get("ph") == "E":
                del e["name"]
        yield f"ends without names: {cat}", with_events(swapped)
    yield "begin and end: all", with_events(halves(events, lambda at, e: True))
    yield "begin and end: some", with_events(halves(events, lambda at, e: at % 3 == 0))
    for word in ("AI_CORE", "MIX_AIC", "KERNEL_AICPU", "HCCL", "SDMA_SQE", "MEMCPY_ASYNC", "EVENT_WAIT",
                 "NOTIFY_WAIT", "PLACE_HOLDER", "odd", ""):
        made = copy.deepcopy(events)
        for e in made:
            if e.get("cat") == "kernel":
                del e["cat"]
                e["args"]["Task Type"] = word
        yield f"task {word}", with_events(made)
    for ranks_of in ([0, 1], [0, 1, 2], [1], [], [0.5], ["0"], [-1, 0], [2 ** 31], 7):
        made = {f"{n}.json": reduces(n) for n in (0, 1)}
        for trace in made.values():
            for e in trace["traceEvents"]:
                e.get("args", {}).pop("Process Group Ranks", 0)
        made["groups.json"] = {"0": ranks_of}
        yield f"groups {ranks_of}", made
        yield f"groups {ranks_of} twice", {**made, "more.json": {"0": [0, 1]}}
    for n, launches, ops, late in itertools.product((1, 2, 3), (0, 5), (0, 3, 9), (0, 500)):
        made = [e for e in events if e.get("tid") != 200]
        for k in range(n):
            at = 1000 * (k + 1) + late
            made.append(mark(50 + k, at, 700, tid=300))
            made += [op("aten::add", at + 40 * j + 5, 20, [[8]], tid=300) for j in range(ops)]
            for j in range(launches):
                made += [call("cudaLaunchKernel", at + 40 * j + 8, 5, 700 + 10 * k + j, tid=300),
                         kernel("side", at + 40 * j + 15, 5, 700 + 10 * k + j, stream=33)]
        yield f"{n} marks of another thread, {launches} launches, {ops} operators, {late} later", with_events(made)


def pairs():
    """Nodes and events of one run: by their ids, by names, by some of both."""
    names = ["aten::mm", "aten::relu", "aten::add", "aten::sum"]
    for known in range(5):
        for renamed in range(5):
            for twice in (0, 1, 2):
                events, rows = [mark(1, 0, 900, 1)], []
                for k, name in enumerate(names):
                    rows.append(node(10 + 3 * k, name, 2, [[64, 64]] * (k + 1), k + 2))
                    events.append(op("odd::op" if k < renamed else name, 100 * k + 10, 50,
                                     [[64, 64]] * (k + 1), k + 2 if k < known else 0))
                if twice:
                    events.append(op(names[-twice], 700, 20, [[64, 64]], 99))
                with tempfile.TemporaryDirectory() as folder:
                    write_et(f"{folder}/et", rows)
                    whole = json.loads(pathlib.Path(f"{folder}/et").read_text(encoding="utf-8"))
                yield f"{known} ids, {renamed} other names, {twice}", {
                    "et.json": whole, "kineto.json": {"schemaVersion": 1, "traceEvents": events}}


# ---- what is said of them ---------------------------------------------------------

def save(path, whole):
    if isinstance(whole, list):
        rows = []
        for row in map(dict, whole):
            fixed = [row.pop(k, v) for k, v in (("number", 9), ("name", ""), ("kind", COMP),
                                                ("needs", []), ("us", 0))]
            rows.append(chakra_node(*fixed, **row))
        return write_chakra(path, rows)
    return pathlib.Path(path).write_text(json.dumps(whole), encoding="utf-8")


def said(sim, files, folder, number, scaled):
    here, drawn = f"{folder}/{number}", f"{folder}/{number}.timeline"
    os.mkdir(here)
    try:
        for name, whole in files.items():
            save(f"{here}/{name}", whole)
    except (TypeError, AttributeError, ValueError):
        return "cannot be written"
    sums, first = [], ""
    asked = [["--json", "--timeline", drawn, here], ["info", "--json", here]]
    if scaled:
        asked[1:1] = [["--json", "--scale", what, here] for what in ("kernels=0.4", "host=0.3", "copies=3")]
    for arguments in asked:
        run = subprocess.run([sim, *arguments], check=False, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        out, err = (text.replace(here.encode(), b"HERE") for text in (run.stdout, run.stderr))
        lines = [line[len("mystique-sim: "):] for line in err.decode(errors="replace").splitlines()]
        first = first or next((line for line in lines if not line.startswith("note:")), "")
        sums += [run.returncode, zlib.crc32(out + err)]
    if os.path.exists(drawn):
        sums.append(zlib.crc32(pathlib.Path(drawn).read_bytes().replace(here.encode(), b"HERE")))
    return f"{sums} {first[:160]}"


def main():
    sim, kind = os.path.abspath(sys.argv[1]), sys.argv[2]
    made = globals()[kind]()
    made = list(cases(made) if isinstance(made, dict) else made)
    with tempfile.TemporaryDirectory() as folder:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            lines = pool.map(lambda n: said(sim, made[n][1], folder, n, kind == "streams"), range(len(made)))
            for (what, _), line in zip(made, lines):
                print(re.sub(r"\s+", " ", f"{what}: {line}").rstrip())


if __name__ == "__main__":
    main()
