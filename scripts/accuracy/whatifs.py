#!/usr/bin/env python3
"""Random what-ifs over every real trace with times.

    scripts/accuracy/whatifs.py --traces FOLDER [--build build] [--number 10000]
                                [--seed 1]

FOLDER holds traces/ (see docs/accuracy/README.md). Every job there with times
is loaded once and asked its share of the what-ifs (tests/accuracy/whatifs.c),
once with absent ranks that keep their times and once with absent ranks that
follow. Prints what does not hold, and fails where anything does not.
"""
import argparse
import pathlib
import subprocess
import sys

# Folders whose files are the ranks of one job; any other file is a job.
RANKS = ("dlrm-8xv100/kineto", "torchrec-4xv100/kineto",
         "torchrec-4xv100-quantised-comms/kineto")
# No times: execution traces and Chakra files.
WITHOUT_TIMES = ("/et/", "/et-only/", "/et-linked-by-chakra/", "/chakra/")
JOB_OF_RANKS = 3  # a job of several ranks takes longer, and is asked fewer


def jobs(traces):
    found = [sorted((traces / r).glob("*.json.gz")) for r in RANKS]
    for path in sorted(traces.rglob("*.json.gz")):
        text = path.as_posix()
        if not any(w in text for w in WITHOUT_TIMES + RANKS):
            found.append([path])
    return [f for f in found if f]


def ask(args, job, number, peers):
    done = subprocess.run(
        [args.build / "tests/whatifs", "--peers", peers, "--seed",
         str(args.seed), str(number)] + job,
        capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    if done.returncode not in (0, 1) or not lines:
        sys.exit(f"whatifs.py: {job[0]}: exit {done.returncode}: "
                 f"{done.stderr.strip()}")
    for line in lines[:-1]:
        print(f"  {line}")
    words = lines[-1].split()
    return int(words[1]), int(words[3]), float(words[7])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--traces", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path,
                        default=pathlib.Path("build"))
    parser.add_argument("--number", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    folder = args.traces / "traces"
    found = jobs(folder)
    shares = sum(1 / JOB_OF_RANKS if len(j) > 1 else 1 for j in found)
    tried = breaches = longest = 0
    for job in found:
        number = args.number / shares / 2
        number = int(number / JOB_OF_RANKS if len(job) > 1 else number) + 1
        for peers in ("fixed", "follow"):
            n, bad, by = ask(args, job, number, peers)
            tried += n
            breaches += bad
            longest = max(longest, by)
            if bad:
                print(f"FAIL {job[0].relative_to(folder)}, peers {peers}: "
                      f"{bad} of {n}")
    print(f"{'FAIL' if breaches else 'ok  '} {tried} what-ifs over "
          f"{len(found)} jobs: {breaches} do not hold; with less to do, "
          f"{longest:.3f} % longer at most")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
