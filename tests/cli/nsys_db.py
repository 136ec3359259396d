#!/usr/bin/env python3
"""A Kineto trace as a database of Nsight Systems.

nsys_db.py TRACE OUT.sqlite [new|old]

The tables and columns are those of real exports: `new` of 2024.5.1 (schema
3.13.2), `old` of one with EXPORT_META_DATA. Operators become ranges as
torch.autograd.profiler.emit_nvtx(record_shapes=True) writes them, steps ranges
that a user would push ("step 3"). What such a file cannot have, types above
all, is lost.
"""
import gzip
import json
import os
import re
import sqlite3
import sys

KINDS = {"HtoD": 1, "DtoH": 2, "DtoD": 8, "PtoP": 10}


def load(path):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        trace = json.load(file)
    return trace if isinstance(trace, dict) else {"traceEvents": trace}


class Database:
    def __init__(self, path, new):
        if os.path.exists(path):
            os.remove(path)
        self.db = sqlite3.connect(path)
        self.new = new
        self.ids = {}
        run = self.db.execute
        run("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
        meta = "META_DATA_EXPORT" if new else "EXPORT_META_DATA"
        run(f"CREATE TABLE {meta} (name TEXT, value TEXT)")
        if new:
            run(f"INSERT INTO {meta} VALUES ('EXPORT_SCHEMA_VERSION', '3.13.2')")
        green = "greenContextId INTEGER, " if new else ""
        where = f"deviceId INTEGER, contextId INTEGER, {green}streamId INTEGER, correlationId INTEGER, globalPid INTEGER"
        node = ", graphNodeId INTEGER" if new else ""
        times = "start INTEGER NOT NULL, end INTEGER NOT NULL"
        run(f"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL ({times}, {where}, demangledName INTEGER, "
            "shortName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, "
            "blockY INTEGER, blockZ INTEGER, registersPerThread INTEGER, staticSharedMemory INTEGER, "
            f"dynamicSharedMemory INTEGER, gridId INTEGER{node})")
        run(f"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY ({times}, {where}, bytes INTEGER, copyKind INTEGER)")
        run(f"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET ({times}, {where}, value INTEGER, bytes INTEGER)")
        run(f"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME ({times}, eventClass INTEGER, globalTid INTEGER, "
            "correlationId INTEGER, nameId INTEGER, returnValue INTEGER)")
        run("CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER, "
            "rangeId INTEGER, color INTEGER, text TEXT, globalTid INTEGER, textId INTEGER)")
        run("CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, totalMemory INTEGER, "
            "memoryBandwidth INTEGER, clockRate INTEGER, smCount INTEGER)")

    def text(self, text):
        if text not in self.ids:
            self.ids[text] = len(self.ids) + 1
            self.db.execute("INSERT INTO StringIds VALUES (?, ?)", (self.ids[text], text))
        return self.ids[text]

    def row(self, table, values):
        names = list(values)
        self.db.execute(f"INSERT INTO {table} ({','.join(names)}) VALUES ({','.join('?' * len(names))})",
                        [values[n] for n in names])


def main():
    trace, new = load(sys.argv[1]), sys.argv[3:] != ["old"]
    out = Database(sys.argv[2], new)
    events = [e for e in trace["traceEvents"] if e.get("ph") == "X" and "dur" in e]
    origin = min(float(e["ts"]) for e in events)
    threads = {}

    def times(e):
        start = round((float(e["ts"]) - origin) * 1000)
        return {"start": start, "end": start + round(float(e["dur"]) * 1000)}

    def thread(e):
        key = (e["pid"], e["tid"])
        return (77 << 24) | threads.setdefault(key, 1000 + len(threads))

    for e in events:
        cat, args = e.get("cat", "").lower(), e.get("args", {})
        on_gpu = {"deviceId": args.get("device", 0), "contextId": 1, "streamId": args.get("stream", 0),
                  "correlationId": args.get("correlation", args.get("External id", 0)), "globalPid": 77 << 24}
        if cat == "kernel":
            grid, block = args.get("grid", [1, 1, 1]), args.get("block", [1, 1, 1])
            name = out.text(e["name"])
            out.row("CUPTI_ACTIVITY_KIND_KERNEL", {
                **times(e), **on_gpu, "demangledName": name, "shortName": name, "gridX": grid[0],
                "gridY": grid[1], "gridZ": grid[2], "blockX": block[0], "blockY": block[1],
                "blockZ": block[2], "registersPerThread": args.get("registers per thread", 0),
                "staticSharedMemory": 0, "dynamicSharedMemory": args.get("shared memory", 0)})
        elif cat == "gpu_memcpy":
            kind = next((v for k, v in KINDS.items() if k in e["name"]), 0)
            out.row("CUPTI_ACTIVITY_KIND_MEMCPY", {**times(e), **on_gpu, "bytes": args.get("bytes", 0),
                                                   "copyKind": kind})
        elif cat == "gpu_memset":
            out.row("CUPTI_ACTIVITY_KIND_MEMSET", {**times(e), **on_gpu, "value": 0,
                                                   "bytes": args.get("bytes", 0)})
        elif cat in ("cuda_runtime", "cuda_driver", "runtime"):
            out.row("CUPTI_ACTIVITY_KIND_RUNTIME", {
                **times(e), "eventClass": 1, "globalTid": thread(e), "returnValue": 0,
                "correlationId": args.get("correlation", 0), "nameId": out.text(e["name"] + "_v3020")})
        elif cat in ("cpu_op", "user_annotation", "operator"):
            name = e["name"]
            step = re.fullmatch(r"ProfilerStep#?\*?(\d+)", name)
            if step:
                name = f"step {step[1]}"
            elif cat != "user_annotation":
                sizes = args.get("Input Dims", args.get("Input dims"))
                name += f", seq = {args.get('Sequence number', 0)}, op_id = {args.get('External id', 0)}"
                if isinstance(sizes, list):
                    flat = [s if isinstance(s, list) and all(isinstance(x, int) for x in s) else [] for s in sizes]
                    name += f", sizes = {flat}"
            # Real exports have a text, or the number of one.
            text = {"text": name} if len(name) % 2 else {"textId": out.text(name)}
            out.row("NVTX_EVENTS", {**times(e), "eventType": 59, "globalTid": thread(e), **text})
    for gpu in trace.get("deviceProperties", []):
        out.row("TARGET_INFO_GPU", {"id": gpu.get("id", 0), "name": gpu.get("name"),
                                    "totalMemory": gpu.get("totalGlobalMem", 0),
                                    "smCount": gpu.get("numSms", 0)})
    out.db.commit()


main()
