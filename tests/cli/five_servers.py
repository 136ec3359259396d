#!/usr/bin/env python3
"""Five small servers on loopback, and who loads them: what `size` and `watch`
are told by real sockets, real queues and a real clock.

    five_servers.py app                       APP.json
    five_servers.py explore STAGE RATE S      each visit of that server alone
    five_servers.py run PLAN RATE S AT FACTOR counters, every half second; from second
                                              AT on `store` is FACTOR as slow

A server takes a line, waits for one of its workers, sleeps as long as its
service takes, lets the worker go, calls others step by step, and answers.
"""
import asyncio
import json
import random
import sys
import time

# name: mean of the service, ms (gamma, cv 0.5), workers of a replica, calls
# Long ones: on a machine with other work a sleep takes up to 50 ms more.
STAGES = {"front": (40, 4, [["search", "profile"], ["rank"]]),
          "search": (200, 2, []), "profile": (120, 2, []),
          "rank": (100, 2, [["store"]]), "store": (150, 2, [])}
RATE = 8
LIMIT_MS = 1400
WINDOW_S = 0.5


def app():
    edges = [{"from": name, "to": to, "step": step + 1}
             for name, (_, _, steps) in STAGES.items()
             for step, calls in enumerate(steps) for to in calls]
    return {"schema": "mystique-sim/app/1", "name": "five servers",
            "slo": [{"class": "all", "metric": "e2e", "percentile": 95,
                     "limit_ms": LIMIT_MS}],
            "classes": [{"name": "all", "share": 1}],
            "arrivals": {"process": "poisson", "rate": RATE},
            "stages": {name: {"kind": "measured", "workers": workers,
                              "call": "queue"}
                       for name, (_, workers, _) in STAGES.items()},
            "flow": {"start": "front", "edges": edges}}


class Server:
    def __init__(self, name, replicas, calls):
        self.name, self.calls = name, calls
        self.mean, self.workers = STAGES[name][0], STAGES[name][1] * replicas
        self.replicas, self.factor = replicas, 1
        self.free = asyncio.Semaphore(self.workers)
        self.random = random.Random(name)
        self.queue = self.held = self.arrivals = 0
        self.ended, self.busy = [], 0.0

    async def start(self):
        server = await asyncio.start_server(self.answer, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def answer(self, reader, writer):
        begin = time.monotonic()
        await reader.readline()
        self.arrivals += 1
        self.queue += 1
        async with self.free:
            self.queue -= 1
            self.held += 1
            started = time.monotonic()
            await asyncio.sleep(self.factor * self.mean / 4e3 *
                                self.random.gammavariate(4, 1))
            served = time.monotonic()
            self.held -= 1
            self.busy += served - started
        for step in self.calls:
            await asyncio.gather(*(call(other) for other in step))
        self.ended.append((1e3 * (time.monotonic() - begin),
                           1e3 * (served - started), 1e3 * (started - begin)))
        writer.write(b"%f\n" % (1e3 * (started - begin)))
        await writer.drain()
        writer.close()


async def call(server):
    """The wait that the server tells, ms."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(b"go\n")
    line = await reader.readline()
    writer.close()
    return float(line)


async def load(server, rate, seconds, seen):
    """Poisson arrivals; (arrival, latency ms, wait ms) into `seen`."""
    origin, at, tasks = time.monotonic(), 0.0, []
    clock = random.Random(7)

    async def one(at):
        begin = time.monotonic()
        wait = await call(server)
        seen.append((at, 1e3 * (time.monotonic() - begin), wait))

    while True:
        at += clock.expovariate(rate)
        if at >= seconds:
            break
        await asyncio.sleep(origin + at - time.monotonic())
        tasks.append(asyncio.create_task(one(at)))
    await asyncio.gather(*tasks)


async def explore(name, rate, seconds):
    server = Server(name, 1, [])
    await server.start()
    seen = []
    await load(server, rate, seconds, seen)
    print("t_s,latency_ms,wait_ms,batch,size")
    for row in sorted(seen):
        print("%.6f,%.4f,%.4f,1,1" % (row[0], row[1], min(row[2], row[1])))


def row(t, name, arrivals, queue, busy, replicas, ended):
    """A line of counters."""
    if not ended:
        return f"{t:.1f},{name},{arrivals},{queue},{busy},{replicas},,,,"
    times = sorted(e[0] for e in ended)
    mean = [sum(e[i] for e in ended) / len(ended) for i in range(3)]
    rest = f"{mean[1]:.3f},{mean[2]:.3f}" if name != "e2e" else ","
    return (f"{t:.1f},{name},{arrivals},{queue},{busy},{replicas},"
            f"{mean[0]:.3f},{times[int(0.99 * (len(times) - 1))]:.3f},{rest}")


async def count(servers, seen, seconds):
    print("t,stage,arrivals,queue,busy,replicas,mean_ms,p99_ms,self_ms,wait_ms")
    origin, told = time.monotonic(), 0
    for i in range(1, int(seconds / WINDOW_S) + 1):
        t = i * WINDOW_S
        await asyncio.sleep(origin + t - time.monotonic())
        first = servers["front"].arrivals
        for s in servers.values():
            print(row(t, s.name, s.arrivals, s.queue,
                      f"{min(1, s.busy / s.workers / WINDOW_S):.3f}", s.replicas,
                      s.ended))
            s.arrivals, s.busy, s.ended = 0, 0.0, []
        print(row(t, "e2e", first, len(asyncio.all_tasks()), "", "",
                  [(latency, 0, 0) for _, latency, _ in seen[told:]]),
              flush=True)
        told = len(seen)


async def run(plan, rate, seconds, at, factor):
    replicas = {n: s["replicas"] for n, s in plan["stages"].items()}
    servers = {n: Server(n, replicas[n], []) for n in STAGES}
    for name, server in servers.items():
        server.calls = [[servers[n] for n in step]
                        for step in STAGES[name][2]]
        await server.start()
    seen = []
    counting = asyncio.create_task(count(servers, seen, seconds))

    async def fail():
        await asyncio.sleep(at)
        servers["store"].factor = factor

    failing = asyncio.create_task(fail())
    await load(servers["front"], rate, seconds, seen)
    await counting
    failing.cancel()
    before = [s[1] for s in seen if 1 < s[0] < at - 1]
    late = sum(ms > LIMIT_MS for ms in before) / len(before)
    print(json.dumps({"late": late, "requests": len(before)}), file=sys.stderr)


def main():
    what, rest = sys.argv[1], sys.argv[2:]
    if what == "app":
        print(json.dumps(app()))
    elif what == "explore":
        asyncio.run(explore(rest[0], float(rest[1]), float(rest[2])))
    else:
        with open(rest[0], encoding="utf-8") as file:
            plan = json.load(file)
        asyncio.run(run(plan, *map(float, rest[1:])))


if __name__ == "__main__":
    main()
