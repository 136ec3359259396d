"""Ask a backend for NVIDIA GPUs for an experiment of every kind that it offers.

    ask_all.py PROGRAM

Every one is answered, or refused in the words that it has for that; CUPTI and
events agree. Prints each question with its answer; exit code 1 where one is
wrong.
"""

import json
import subprocess
import sys


def experiment(greeting, table, kind):
    first, _, second = kind.partition(":")
    if table == "gemm":
        return {"dtype": kind, "m": 512, "n": 512, "k": 512}
    if table == "conv":
        return {"op": first, "dtype": second, "n": 4, "c": 32, "h": 28,
                "w": 28, "k": 64, "r": 3, "s": 3, "pad": 1}
    if table == "vector":
        return {"op": first, "dtype": second, "shape": "4096x1000"}
    if table == "collective":
        return {"collective": first, "ranks": greeting["ranks"],
                "bytes": 1 << 20}
    if table == "copy":
        return {"op": first, "bytes": 1 << 22, "memory": second or "pinned"}
    return {"op": first}


def questions(greeting):
    counted = {"table": "copy", "op": "read", "bytes": 1 << 28,
               "counters": True}
    asked = [{"table": "copy", "op": "p2p", "bytes": 0}]
    asked += [{"table": table, **experiment(greeting, table, kind)}
              for table, kinds in greeting["tables"].items() for kind in kinds]
    asked += [{"table": "gemm", "dtype": "fp32", "m": 1024, "n": 1024,
               "k": 1024,
               "beside": {"table": "copy", "op": "d2d", "bytes": 1 << 26}},
              counted, {**counted, "op": "write"}, {**counted, "op": "d2d"},
              {"table": "latency", "op": "launch", "counters": True},
              {"table": "collective", "bytes": 1024,
               "collective": "all_reduce", "ranks": greeting["ranks"] + 1}]
    return [{"id": i, **question} for i, question in enumerate(asked)]


# Kernels that only read or write are known to the byte; the caches hold little
# of 256 MiB. Where counters cannot be read the answer says so, as the greeting.
def counts(greeting, a, answer):
    if a["table"] == "latency" or greeting["counters"] is not True:
        return "counters" not in answer and answer["counters_error"]
    if "counters_error" in answer:
        return False
    c = answer["counters"]
    near = [0.95 < c[k] / a["bytes"] < 1.1
            for k in ("dram_read_bytes", "dram_write_bytes")]
    return {"read": near[0], "write": near[1], "d2d": all(near)}[a["op"]]


def is_right(greeting, a, answer, last):
    state = answer.get("state", {})
    cupti, event = state.get("cupti_us", 0), state.get("event_us", 0)
    if a["id"] == 0:
        return "'bytes'" in answer.get("error", "")
    if a is last:
        return answer.get("unsupported") and (
            "not run" in answer["error"] or "built without" in answer["error"])
    if not answer.get("time_us", 0) > 0:
        return False
    # Events are around all that CUPTI saw, and of nothing else; 10 us are gaps
    # between kernels.
    if cupti > 0 and not 0.9 * cupti - 1 < event < 1.5 * cupti + 10:
        return False
    return "counters" not in a or counts(greeting, a, answer)


def main():
    hello = subprocess.run([sys.argv[1]], input="", capture_output=True,
                           text=True, check=True)
    greeting = json.loads(hello.stdout)
    print(json.dumps(greeting, indent=1))
    asked = questions(greeting)
    lines = "".join(json.dumps(a) + "\n" for a in asked)
    run = subprocess.run([sys.argv[1]], input=lines, capture_output=True,
                         text=True, check=False)
    answers = {a["id"]: a for a in map(json.loads, run.stdout.splitlines()[1:])}
    wrong = 0
    for a in asked:
        answer = answers.get(a["id"], {"error": "no answer"})
        ok = is_right(greeting, a, answer, asked[-1])
        wrong += not ok
        print("ok  " if ok else "BAD ", json.dumps(a), json.dumps(answer))
    print(f"{len(asked)} experiments, {wrong} wrong")
    if run.returncode or run.stderr:
        print(run.stderr, file=sys.stderr)
    return 1 if wrong or run.returncode or run.stderr else 0


if __name__ == "__main__":
    sys.exit(main())
