"""Many captures in one process: `capture.py --jobs FILE --out DIR`.

Each line of FILE is a job,

    NAME OPTION...        # in words as a shell has them

and becomes DIR/NAME: DIR/NAME.part until it is whole. What a job held is given
back before the next one begins, whether or not it went well.
"""

import contextlib
import gc
import io
import os
import re
import shlex
import shutil
import sys

import torch

import given_models


def options_of(parse, words, out):
    """Of a job that goes to `out`; raises Refused where they make no sense."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            args = parse(["--out", out, *words])
    except SystemExit:
        raise given_models.Refused(
            said.getvalue().rpartition("error: ")[2].strip()) from None
    if args.out != out or args.jobs:
        raise given_models.Refused("'--out' and '--jobs' are no job's own")
    return args


class Jobs:
    def __init__(self, out, defaults, parse, capture):
        self.out = out
        self.defaults = defaults # options of every job
        self.parse, self.capture = parse, capture
        self.ready = {} # name -> options
        self.failed = 0

    def fail(self, what, why):
        self.failed += 1
        print(f"capture.py: {what}: {why}", file=sys.stderr, flush=True)

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                try:
                    self.add(*shlex.split(line, comments=True))
                except ValueError as why: # Refused is one
                    self.fail(f"{path}:{number}", why)

    def add(self, name=None, *words):
        if name is None:
            return
        if not re.fullmatch(r"\w[\w.+-]*", name) or name.endswith(".part"):
            raise given_models.Refused(
                f"'{name}' is no name of a job, want NAME OPTION...")
        if name in self.ready:
            raise given_models.Refused(f"a second job '{name}'")
        part = os.path.join(self.out, name + ".part")
        args = options_of(self.parse, [*self.defaults, *words], part)
        if args.pin_malloc and "--pin-malloc" in words:
            raise given_models.Refused("'--pin-malloc' is for all jobs: want "
                                       "it beside '--jobs'")
        self.ready[name] = args

    def run(self):
        for name, args in self.ready.items():
            why = self.try_one(name, args)
            clear()
            if why:
                self.fail(name, why)

    def try_one(self, name, args):
        """Why it failed, as text: the error itself holds what the job held."""
        whole = os.path.join(self.out, name)
        shutil.rmtree(args.out, ignore_errors=True)
        try:
            _, said = self.capture(args)
            shutil.rmtree(whole, ignore_errors=True)
            os.rename(args.out, whole)
            print(f"{name}: {said}", flush=True)
        except (Exception, SystemExit) as error: # whatever a job may raise
            shutil.rmtree(args.out, ignore_errors=True)
            return given_models.where_failed(error)


def clear():
    gc.collect()
    if torch.cuda.is_initialized():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
