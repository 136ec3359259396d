#!/usr/bin/env python3
"""How well a violation can be foreseen at all, on the runs of serving_watch.py.

    scripts/accuracy/serving_bound.py --source PLANT.c --topologies DIR
        [--folder RUNS] [--runs 12] [--names rag-1,random8-1] [--load ahead,now]

PLANT.c is the source of the simulated cluster, DIR the folder of its topologies,
RUNS the folder of serving_watch.py. Its runs with bursts and changing replicas are
run once more, by the same seeds. In each calm second (it does not violate, and no
replica comes or goes within the horizon) the cluster goes on 12 times (--runs) for
the horizon: from the very state that it is in, each request in its queue and each
service half done, under the load that will come. Only what is drawn after that
second is drawn anew. So the oracle knows all that a watcher can know, and more:
what is hidden in the cluster, and the load to come. A second oracle (`now`) knows
the load of now alone, and takes it to stay: the difference is what only someone who
knows the load to come can tell.

It guesses from the mean and the standard deviation of the largest p99 of each
second's children. No watcher that does not know more can be above the first one but
by luck; below it there is no telling how near a watcher can come, that sees counters
alone. The figures go into tests/accuracy/serving_bound.csv.
"""
import argparse
import csv
import os
import pathlib
import statistics
import subprocess

import serving_watch as watch

HORIZON = watch.HORIZON

AHEAD = r'''
/* serving_bound.py: the cluster, asked what would come. At each second of the file
 * AHEAD_AT it forks AHEAD_RUNS times; a child goes on for the horizon from the same
 * state, with random numbers of its own, and says its largest p99. A line a second
 * into AHEAD: t, the share of children that violate, and mean and standard deviation
 * of the logarithm of the largest p99 over the limit. AHEAD_LOAD: the load of now. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The plant asks for a line after each second. */
static char *next_line(char *line, int size, FILE *in);
#define fgets next_line
#include PLANT
#undef fgets

static int left = -1; /* seconds that a child goes on; -1: no child */
static int answer;    /* where it writes */
static char *said;    /* its counters */
static size_t n_said;

static double limit_ms(void)
{
    double most = 0;

    for (int k = 0; k < nk; k++)
        most = fmax(most, K[k].limit);
    return most;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof(*v), by_size);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* The largest p99 of the seconds in `said`, each the median of its windows. */
static double largest(double from)
{
    double v[64], most = 0, second = 0;
    int n = 0;

    for (char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n")) {
        double t, p99;

        if (sscanf(line, "%lf,e2e,%*d,%*d,,,%*f,%lf", &t, &p99) != 2)
            continue;
        if (ceil(t - from - 1e-6) > second) {
            most = n ? fmax(most, median(v, n)) : most;
            second = ceil(t - from - 1e-6);
            n = 0;
        }
        if (p99 > 0 && n < 64)
            v[n++] = p99;
    }
    return n ? fmax(most, median(v, n)) : most;
}

/* In the child: the rest of the run is another one. */
static void begin_child(int number, int to)
{
    uint64_t seed = (uint64_t)(now * 10 + .5) * 1000 + (uint64_t)number;
    Rng *const streams[] = {&Ra, &Rs, &Rf, &Rk, &Rn};

    for (uint64_t i = 0; i < 5; i++)
        rseed(streams[i], seed * 5 + i + 7000000);
    if (getenv("AHEAD_LOAD")) {
        prof[0][1] = profile(now);
        nprof = 1;
    }
    left = HORIZON;
    answer = to;
    fc = open_memstream(&said, &n_said);
    if (!freopen("/dev/null", "w", stdout) || !fc)
        _exit(1);
}

static void end_child(void)
{
    double most;

    fflush(fc);
    most = largest(now - HORIZON);
    _exit(write(answer, &most, sizeof(most)) != sizeof(most));
}

static void look_ahead(FILE *out, int runs)
{
    double sum = 0, squares = 0, share = 0, limit = limit_ms();

    for (int i = 0; i < runs; i++) {
        double most = 0;
        int ends[2];
        pid_t child;

        if (pipe(ends) || (child = fork()) < 0)
            die("no child");
        if (child == 0) {
            begin_child(i, ends[1]);
            return;
        }
        close(ends[1]);
        if (read(ends[0], &most, sizeof(most)) != sizeof(most))
            die("a child says nothing");
        close(ends[0]);
        waitpid(child, NULL, 0);
        most = log(most / limit);
        share += most > 0;
        sum += most / runs;
        squares += most * most / runs;
    }
    fprintf(out, "%.0f,%.5f,%.5f,%.5f\n", now, share / runs, sum,
            sqrt(fmax(0, squares - sum * sum)));
    fflush(out);
}

static int is_asked(double t)
{
    static char asked[1 << 16];
    static int is_read;

    if (!is_read++) {
        FILE *in = fopen(getenv("AHEAD_AT"), "r");
        double s;

        while (in && fscanf(in, "%lf", &s) == 1)
            if (s >= 0 && s < sizeof(asked))
                asked[(int)s] = 1;
        if (in)
            fclose(in);
    }
    return asked[(int)(t + .5)];
}

static char *next_line(char *line, int size, FILE *in)
{
    static FILE *out;

    if (in != stdin)
        return fgets(line, size, in);
    if (!out && getenv("AHEAD"))
        out = fopen(getenv("AHEAD"), "w");
    if (left < 0 && out && is_asked(now))
        look_ahead(out, atoi(getenv("AHEAD_RUNS")));
    if (left < 0)
        return fgets(line, size, in);
    if (left-- == 0)
        end_child();
    return strcpy(line, "go\n");
}
'''


def build(source, folder):
    program = folder / "plant_ahead"
    code = program.with_suffix(".c")
    code.write_text(AHEAD)
    subprocess.run(["cc", "-O2", f'-DPLANT="{source.resolve()}"', f"-DHORIZON={HORIZON}",
                    "-o", program, code, "-lm"], check=True)
    return program


def calm(plant, name, path):
    """{calm second: did a violation come within the horizon}."""
    late, plans = watch.violating(path, plant.limit(name)), watch.replicas_by_second(path)
    seconds = {}
    for t in plans:
        ahead = range(t + 1, t + HORIZON + 1)
        if (ahead[-1] in plans and not late.get(t)
                and all(plans[u] == plans[t] for u in ahead)):
            seconds[t] = any(late.get(u) for u in ahead)
    return seconds


def look_ahead(oracle, name, seed, seconds, runs, load):
    """(t, share, mean, deviation) of each second, by the cluster itself."""
    os.environ.pop("AHEAD_LOAD", None)
    if load == "now":
        os.environ["AHEAD_LOAD"] = load
    folder = oracle.folder / "ahead" / name
    folder.mkdir(parents=True, exist_ok=True)
    out, at = folder / f"{seed}.ahead", folder / f"{seed}.at"
    at.write_text("".join(f"{t}\n" for t in seconds))
    os.environ.update(AHEAD=str(out), AHEAD_AT=str(at), AHEAD_RUNS=str(runs))
    watch.make_load(oracle, name, seed, folder / f"{seed}.csv")
    return [tuple(map(float, row)) for row in csv.reader(out.open())]


def judge(plant, name, runs, load):
    rows = []
    for seed in range(watch.LOADS):
        path = plant.folder / "load" / name / f"{seed}.csv"
        seconds = calm(plant, name, path)
        ahead = look_ahead(plant, name, seed, seconds, runs, load)
        same = plant.folder / "ahead" / name / f"{seed}.csv"
        if same.read_bytes() != path.read_bytes():
            raise SystemExit(f"{same} is another run than {path}")
        rows += [(mean, deviation, share, seconds[int(t)]) for t, share, mean, deviation in ahead]
    usual = statistics.median(r[1] for r in rows)
    score = [(mean / (deviation + usual), came) for mean, deviation, _, came in rows]
    return f"AUC of {name}, load {load}", len(rows), watch.auc(score)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--topologies", required=True, type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/watch_runs"))
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--names", default="rag-1,random8-1", help="topologies")
    parser.add_argument("--load", default="ahead,now", help="what the oracle knows of it")
    parser.add_argument("-o", type=pathlib.Path,
                        default=pathlib.Path("tests/accuracy/serving_bound.csv"))
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    program = build(args.source, args.folder)
    plant = watch.Plant(program, args.topologies, args.folder)
    rows = []
    for name in args.names.split(","):
        watch.make_runs(plant, name, "load", range(watch.LOADS), watch.make_load)
        for load in args.load.split(","):
            rows.append(judge(plant, name, args.runs, load))
            print("{:60}{:7}{:9.4f}".format(*rows[-1]), flush=True)
    with args.o.open("w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["figure", "of", "value"])
        out.writerows((figure, n, f"{value:.4f}") for figure, n, value in rows)


if __name__ == "__main__":
    main()
