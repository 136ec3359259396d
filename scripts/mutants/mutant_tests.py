"""The tests of a build folder, run without ctest, until the first one that fails."""
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import threading

SKIPPED = 77
PATIENCE_S = 60  # by the clock; code that never ends is ended by its seconds of CPU


def kill(pid):
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Test:
    """A test of ctest: what it runs, and the seconds of CPU that it took so far."""

    def __init__(self, row, folder):
        how = {at["name"]: at["value"] for at in row["properties"]}
        self.name, self.command = row["name"], row["command"]
        self.at = how.get("WORKING_DIRECTORY", folder)
        self.env = dict(os.environ, MSIM_FIRST_FAILURE="1",
                        **dict(at.split("=", 1) for at in how.get("ENVIRONMENT", [])))
        self.cpu_s = 3 if self.name.startswith("unit.") else 30  # at a guess

    def run(self, running):
        """Whether it passes, or skips. Nothing that it started outlives it; the limit
        is one of each process."""
        limit_s = 5 + 10 * self.cpu_s
        held = ["sh", "-c", f'ulimit -t {int(limit_s)}; exec "$@"', "sh"]
        with subprocess.Popen(held + self.command, cwd=self.at, env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL,
                              start_new_session=True) as child:
            running.add(child.pid)
            late = threading.Timer(PATIENCE_S + 5 * limit_s, kill, (child.pid,))
            late.start()
            _, status, used = os.wait4(child.pid, 0)
            late.cancel()
            running.discard(child.pid)
            kill(child.pid)
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, SKIPPED):
            return False
        self.cpu_s = used.ru_utime + used.ru_stime
        return True


class Tests:
    def __init__(self, folder):
        found = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1"],
                               check=True, text=True, stdout=subprocess.PIPE).stdout
        self.all = {row["name"]: Test(row, folder)
                    for row in json.loads(found)["tests"] if "command" in row}

    def named(self, pattern):
        return [name for name in self.all if re.search(pattern, name)]

    def first_failure(self, names):
        """Of tests in this order, as many at once as there are CPUs; None: all pass."""
        running, failed = set(), []

        def one(name):
            if failed or self.all[name].run(running) or failed:
                return
            failed.append(name)
            for pid in list(running):
                kill(pid)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(one, names))
        return failed[0] if failed else None
