#!/usr/bin/env python3
"""Record what a PyTorch model does: execution trace and Kineto trace, paired.

    capture.py --model resnet50 --batch 32 --out DIR
    capture.py --model gpt2 --precision bf16 --device cuda --out DIR
    capture.py --model bert --layers 2 --width 256 --ranks 2 --out DIR
    capture.py --device meta --model net.py:build --out DIR
    capture.py --device meta --model config.json,batch=1,seq=4096 --out DIR
    capture.py --device cuda --jobs FILE --out DIR

DIR then holds, for each rank N,

    et/rank-N.json.gz      the execution trace (shapes, no times)
    kineto/rank-N.json.gz  the same steps by the profiler (times)
    meta.json              options, versions, device, peak memory, step times
                           with the minor page faults of each step

Order of work, each in the same process: peak memory on the CPU (a pass of its
own, because recording every allocation slows the host down), `--warmup` steps,
`--timed` steps without the profiler, with `--meter SECONDS` steps in a row for
so long, then one warm-up step and `--steps` recorded ones. A step copies its
batch to the device, runs forward (and, unless --inference, backward and the
optimizer), and on a GPU waits for it, so that a step's time is all of its work.
Both traces are of the same steps: operators carry the same record function ids.
The execution-trace observer slows the host down, which is why meta.json has
step times with and without the recording.

The execution trace of a CPU holds the least and greatest value of integral
inputs: what a replay must know of index tensors. They are computed as operators
begin. On a GPU that adds kernels and waits to the recorded ones, so --ranges
must ask for it there, for an execution trace whose Kineto trace is not used.

How often memory goes back to the system, and comes again by page faults, hangs
on the order in which tensors are freed; on a CPU that can be a third of a step.
With --pin-malloc none goes back, so that times of two programs that do the same
work can be compared.

With --meter, meta.json has under "metered" what the GPU did meanwhile: power,
clocks, utilisation (scripts/capture/meter.py). Those steps do not wait for each
other, as steps of a program do not.

With --graph a step is the replay of a CUDA graph of a forward pass.

Each line of --jobs FILE is `NAME OPTION...`, a capture that goes to DIR/NAME as
soon as it is whole; options beside --jobs are those of every job. All are made
in one process. A job that fails is said, and makes the exit code 1; the others
go on. Settings of PyTorch that the code of a model of yours changes hold for
later jobs, too.

`--device meta` needs no GPU and no memory for weights: tensors have sizes and no
values (scripts/capture/meta_gpu.py). DIR has the execution trace that a GPU
would give, and no times; by default of two steps, so that it shows what stays in
memory.

--model names one of the models below, or a model of yours:

    MODULE:FUNCTION    a module or a .py file, and a function that returns
                       (model, inputs[, loss[, optimizer]]): with a loss a
                       training step is recorded, else a forward pass; settings
                       are its arguments
    config.json        a Hugging Face config, by transformers; batch= and seq=
    timm:NAME          a model of timm; batch= and image=

and settings behind commas: `precision=bf16` (autocast), `dtype=bf16` (weights
and inputs), `channels_last`, `training`, `inference`.
scripts/capture/given_models.py says what each part may be. A model of yours
needs no name here for a CPU or a GPU either.

The profiler writes the host's name and the path of the file into a Kineto
trace. Both are replaced; nothing else is changed. Stacks are not recorded.

Needs PyTorch (its interfaces of 2.4 and later) and nothing else.
"""

import argparse
import ctypes
import gzip
import json
import os
import platform
import re
import resource
import statistics
import sys
import tempfile
import time

# The models lie in a folder of their own, beside what records samples of them.
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "capture"))
try:
    import torch
    from torch.profiler import (ExecutionTraceObserver, ProfilerActivity,
                                profile, schedule)
    import capture_jobs
    import capture_models
    import cuda_graph
    import given_models
    import meta_capture
    import meta_gpu
    import meter
except ImportError as error:
    sys.exit(f"capture.py: {sys.executable} cannot import '{error.name}': want "
             "PyTorch (pip install torch), or its Python named by PYTHON")

SIZES = {"batch": "samples in a step, on each rank",
         "seq": "tokens in a sample", "image": "pixels on an image's side",
         "layers": "depth", "width": "channels or features",
         "vocab": "tokens known", "classes": "classes told apart",
         "tables": "embedding tables", "rows": "rows of each table"}


YOURS = given_models.__doc__.partition("\n\n")[2]


def parse_args(argv):
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n", 1)[0],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="a model of yours (--model):\n" + YOURS
        + "\nfull-size defaults:\n" + "\n".join(
            f"  {name} " + " ".join(f"{k}={v}" for k, v in options.items())
            for name, (_, options) in capture_models.MODELS.items()))
    parser.add_argument("--model", required=True, metavar="MODEL",
                        help=", ".join(sorted(capture_models.MODELS))
                        + ", or one of yours")
    parser.add_argument("--out", required=True, metavar="DIR",
                        help="folder of the traces; with --device meta also a "
                        "file, NAME.json.gz")
    parser.add_argument("--jobs", metavar="FILE", help="lines of NAME OPTION...:"
                        " captures in one process, each into DIR/NAME")
    parser.add_argument("--device", choices=("cpu", "cuda", "meta"),
                        default="cpu", help="meta: as on a GPU, without one "
                        "and without memory [default: cpu]")
    parser.add_argument("--precision", default="fp32",
                        choices=("fp32", "tf32", "fp16", "bf16"),
                        help="fp16 and bf16 by autocast [default: fp32]")
    parser.add_argument("--inference", action="store_true",
                        help="forward only, in eval mode")
    parser.add_argument("--optimizer",
                        choices=sorted(capture_models.OPTIMIZERS),
                        help="as PyTorch runs it on a GPU [default: the one "
                        "the model is commonly trained with, as on the device]")
    parser.add_argument("--ranks", type=int, default=1, metavar="N",
                        help="data-parallel processes, by gloo on the CPU and "
                        "nccl on GPUs [default: 1]")
    parser.add_argument("--steps", type=int, metavar="N",
                        help="steps recorded [default: 3; 2 on meta]")
    parser.add_argument("--timed", type=int, default=10, metavar="N",
                        help="steps timed without the profiler [default: 10]")
    parser.add_argument("--warmup", type=int, default=3, metavar="N",
                        help="steps before anything is timed [default: 3]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ranges", action=argparse.BooleanOptionalAction,
                        help="least and greatest value of integral inputs, in "
                        "the execution trace [default: on the CPU]")
    parser.add_argument("--meter", type=float, metavar="SECONDS",
                        help="steps in a row for so long, and what the GPU did "
                        "meanwhile")
    parser.add_argument("--graph", action="store_true",
                        help="forward passes as replays of a CUDA graph")
    parser.add_argument("--pin-malloc", action="store_true",
                        help="let malloc give no memory back")
    for name, text in SIZES.items():
        parser.add_argument(f"--{name}", type=int, metavar="N", help=text)
    args = parser.parse_args(argv)
    if args.ranges is None:
        args.ranges = args.device == "cpu"
    if args.steps is None:
        args.steps = 2 if args.device == "meta" else 3
    try:
        check_model(args)
        check_device(args)
    except ValueError as error:
        parser.error(str(error))
    return args


def check_model(args):
    """Sizes of one of our models, or settings of one of the user's."""
    sizes = {name: getattr(args, name) for name in SIZES}
    args.selects = None
    args.given = given_models.is_given(args.model)
    if not args.given:
        check_own_model(args, sizes)
        return
    if args.ranks > 1 or args.optimizer:
        raise ValueError("'--ranks' and '--optimizer' are for the models of "
                         "capture.py: a function returns its own")
    name, settings = given_models.split(args.model)
    settings.update({k: str(v) for k, v in sizes.items() if v is not None})
    if args.inference:
        settings["inference"] = ""
    args.name, args.sizes = name, given_models.read_settings(name, settings)
    args.selects = args.sizes.pop("selects", None)
    if args.selects and (args.device != "meta" or args.selects > 100):
        raise ValueError("'selects' is the percentage of masks that are true, "
                         "1 to 100, with '--device meta'")
    args.precision = args.sizes.pop("precision", args.precision)


def check_own_model(args, sizes):
    """One of ours; its settings are those of the options."""
    name, settings = given_models.split(args.model)
    if name not in capture_models.MODELS:
        raise ValueError(
            f"no model '{name}', want "
            + (f"{name}:FUNCTION" if name.endswith(".py") else
               "one of " + ", ".join(sorted(capture_models.MODELS))
               + ", or MODULE:FUNCTION, config.json, timm:NAME"))
    read = given_models.read_settings(name, settings, tuple(sizes))
    args.inference = not read.pop("training", not args.inference)
    args.precision = read.pop("precision", args.precision)
    args.model = name
    args.sizes = capture_models.resolve(name, {**sizes, **read})


def make_job(args, rank):
    """What takes the steps: of our models, or of one of the user's."""
    if args.device != "meta":
        if not args.given:
            return Job(args, rank)
        torch.manual_seed(args.seed)
        device = torch.device(args.device)
        with device:
            given = given_models.make(args.name, args.sizes)
        return given_models.Job(given, args.device, args.precision)
    with meta_gpu.MetaGpu.current.building():
        if args.given:
            given = given_models.make(args.name, args.sizes)
        else:
            work = capture_models.make(args.model, args.sizes)
            if args.optimizer:
                work.optimizer = lambda parameters: \
                    capture_models.optimizer_named(args.optimizer, parameters)
            given = given_models.workload(work, args.inference)
    return given_models.Job(given, "cuda", args.precision)


def on_meta(args):
    """Record on the meta device; where, and what it was."""
    start = time.perf_counter()
    to_file = args.out.endswith(".gz")
    path = args.out if to_file else os.path.join(args.out, "et",
                                                 "rank-0.json.gz")
    job = None
    try:
        with meta_gpu.MetaGpu(args.selects and args.selects / 100):
            job = make_job(args, 0)
            meta_capture.record(job, args.steps, path)
    except given_models.Refused:
        raise
    except (Exception, SystemExit) as error: # whatever the user's code raises
        if isinstance(error, OSError) and not given_models.users_line(error):
            raise # of our own files
        raise given_models.Refused(given_models.where_failed(
            error, job and job.given.module)) from error
    parameters = sum(p.numel() for p in job.given.module.parameters()) \
        if isinstance(job.given.module, torch.nn.Module) else 0
    about = {"schema": "mystique-sim/capture/1", "model": args.model,
             "options": {"precision": args.precision, "steps": args.steps,
                         "inference": job.given.loss is None, **args.sizes},
             "torch": torch.__version__, "device": "meta",
             "python": platform.python_version(), "parameters": parameters,
             "capture_s": round(time.perf_counter() - start, 3),
             "capture_peak_bytes": 1024 * resource.getrusage(
                 resource.RUSAGE_SELF).ru_maxrss}
    if not to_file:
        write_meta(args, about)
    what = "inference" if job.given.loss is None else "training"
    return path, (f"{what}, {args.steps} step(s), {parameters:,} parameters, "
                  f"{about['capture_s']:.1f} s, "
                  f"{about['capture_peak_bytes'] / 1e9:.2f} GB")


def fail(text):
    """Bad input: the user's model, not the command line."""
    print(f"capture.py: {text}", file=sys.stderr)
    sys.exit(3)


def write_meta(args, about):
    with open(os.path.join(args.out, "meta.json"), "w") as file:
        json.dump(about, file, indent=2)
        file.write("\n")


def check_meter(args):
    if args.meter is None:
        return
    if args.device == "meta" or not args.meter > 0:
        raise ValueError("want '--meter' above 0, and a device that runs")
    if args.ranks > 1:
        raise ValueError("ranks would take different numbers of steps: leave "
                         "out '--meter' or '--ranks'")


def check_graph(args):
    if not args.graph:
        return
    if args.device != "cuda":
        raise ValueError("a CUDA graph is a GPU's: want '--device cuda'")
    if not args.given and not args.inference:
        raise ValueError("only forward passes are captured as a graph: want "
                         "'--inference'")


def check_device(args):
    if min(args.ranks, args.steps, args.timed) < 1 or args.warmup < 0:
        raise ValueError("want --ranks, --steps and --timed of 1 or more, "
                         "and --warmup of 0 or more")
    if args.ranks > 1 and args.inference:
        raise ValueError("data-parallel inference communicates nothing: "
                         "leave out '--ranks' or '--inference'")
    check_meter(args)
    check_graph(args)
    if args.device == "meta":
        if args.ranks > 1 or args.ranges or args.pin_malloc:
            raise ValueError("the meta device has one rank and no values: "
                             "leave out '--ranks', '--ranges' and "
                             "'--pin-malloc'")
        return
    if args.device == "cpu":
        if args.precision == "tf32":
            raise ValueError("tf32 is a GPU's: want '--device cuda'")
        return
    found = torch.cuda.device_count()
    if found < args.ranks:
        raise ValueError(f"found {found} CUDA devices, want {args.ranks}")


class Job(given_models.Steps):
    """A model ready to take steps on one device."""

    def __init__(self, args, rank):
        torch.manual_seed(args.seed + rank)
        self.device = torch.device(args.device, rank) \
            if args.device == "cuda" else torch.device("cpu")
        self.inference = args.inference
        with self.device: # a GPU draws weights in no time
            work = capture_models.make(args.model, args.sizes)
        self.batch = [t.cpu().pin_memory() for t in work.batch] \
            if args.device == "cuda" else work.batch
        self.loss = work.loss
        self.module = work.module
        self.module.train(not args.inference)
        if args.ranks > 1:
            ids = [rank] if args.device == "cuda" else None
            self.module = torch.nn.parallel.DistributedDataParallel(
                self.module, device_ids=ids)
        self.optimizer = None if args.inference \
            else self.make_optimizer(args.optimizer, work)
        half = {"fp16": torch.float16, "bf16": torch.bfloat16}
        self.dtype = half.get(args.precision)
        self.tf32 = args.precision == "tf32"
        # Gradients of fp16 underflow unless the loss is scaled.
        self.scaler = torch.amp.GradScaler(
            args.device, enabled=args.precision == "fp16")

    def make_optimizer(self, name, work):
        parameters = self.module.parameters()
        return capture_models.optimizer_named(name, parameters) if name \
            else work.optimizer(parameters)

    def forward(self, *inputs):
        with torch.autocast(self.device.type, self.dtype,
                            enabled=self.dtype is not None):
            return self.module(*inputs)

    def inputs(self):
        return [t.to(self.device, non_blocking=True) for t in self.batch]

    def step(self):
        self.say_precision()
        *inputs, target = self.inputs()
        if self.inference:
            with torch.inference_mode():
                self.forward(*inputs)
            return
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(self.forward(*inputs).float(), target)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()


def graphed(args, job):
    """Its forward passes, replayed."""
    if not args.given:
        inputs = job.inputs()
        return cuda_graph.Graphed(job.device, lambda: job.forward(*inputs[:-1]),
                                  inputs, job.batch)
    if job.given.loss is not None or \
            not isinstance(job.given.module, torch.nn.Module):
        raise given_models.Refused("only forward passes are captured as a "
                                   "graph: want a module and no loss")
    return cuda_graph.Graphed(job.device, job.forward)


def pin_malloc():
    """Let malloc take all from its heap, whatever the size, and not trim it."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", lambda *_: 0)
    for parameter, value in ((-4, 0), (-1, -1)): # M_MMAP_MAX, M_TRIM_THRESHOLD
        if not mallopt(parameter, value):
            sys.exit("capture.py: this C library cannot pin malloc, want "
                     "glibc or no '--pin-malloc'")


def timed_steps(job, count):
    """Milliseconds and minor page faults of each of `count` steps."""
    times, faults = [], []
    for _ in range(count):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        times.append(job.timed_step())
        faults.append(
            resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    return times, faults


def cpu_peak_memory(args, rank):
    """Most bytes that tensors held at once, from nothing to the second step.

    From the profiler's allocation events: what PyTorch's CPU allocator gave
    out, without what libraries take behind its back.
    """
    with profile(activities=[ProfilerActivity.CPU],
                 profile_memory=True) as prof:
        job = make_job(args, rank)
        for _ in range(2): # optimizer state appears in the first
            job.step()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "memory.json")
        prof.export_chrome_trace(path)
        with open(path) as file:
            events = json.load(file)["traceEvents"]
    seen = [(event["ts"], event["args"]) for event in events
            if event["name"] == "[memory]"]
    # An earlier job's, whose end the profiler did not see, counts on.
    _, first = min(seen, key=lambda at: at[0])
    before = first["Total Allocated"] - first["Bytes"]
    return max(args["Total Allocated"] for _, args in seen) - before


def scrub(source, target, name):
    """Copy a trace into a .gz without this machine's name and paths.

    Works line by line, so that the bytes of everything else stay as the
    profiler wrote them (numbers are not read and printed again).
    """
    host = re.compile(r'("host_name":\s*)"(?:[^"\\]|\\.)*"')
    path = re.compile(r'("traceName":\s*)"(?:[^"\\]|\\.)*"')
    os.makedirs(os.path.dirname(target), exist_ok=True)
    # No time and no name in the .gz header: the same trace, the same bytes.
    with open(source) as plain, open(target, "wb") as raw, \
            gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        for line in plain:
            line = host.sub(r'\1""', line)
            line = path.sub(rf'\1"{name}"', line)
            packed.write(line.encode())


def record(args, job, rank):
    """Write both traces of `--steps` steps; the steps' times in ms."""
    name = f"rank-{rank}.json"
    activities, config = [ProfilerActivity.CPU], None
    if args.device == "cuda":
        activities.append(ProfilerActivity.CUDA)
        # Stream and event waits, which order the work of several streams.
        config = torch._C._profiler._ExperimentalConfig(
            enable_cuda_sync_events=True)
    times = []
    with tempfile.TemporaryDirectory() as folder:
        et, kineto = (os.path.join(folder, kind + ".json")
                      for kind in ("et", "kineto"))
        # Looked at once, when an observer is registered; any value is a yes.
        ranges = "ENABLE_PYTORCH_EXECUTION_TRACE_SAVE_INTEGRAL_TENSOR_RANGE"
        os.environ.pop(ranges, None)
        if args.ranges:
            os.environ[ranges] = "1"
        observer = ExecutionTraceObserver()
        observer.register_callback(et)
        with profile(activities=activities, record_shapes=True,
                     schedule=schedule(wait=0, warmup=1, active=args.steps,
                                       repeat=1),
                     on_trace_ready=lambda p: p.export_chrome_trace(kineto),
                     experimental_config=config,
                     execution_trace_observer=observer) as prof:
            for _ in range(1 + args.steps):
                times.append(job.timed_step())
                prof.step()
        observer.unregister_callback() # ends the file, if still open
        scrub(et, os.path.join(args.out, "et", name + ".gz"), name)
        scrub(kineto, os.path.join(args.out, "kineto", name + ".gz"), name)
    return times[1:]


def peak_memory(args, job, cpu_bytes):
    if args.device == "cpu":
        return {"bytes": cpu_bytes, "source": "profiler's allocation events"}
    return {"bytes": torch.cuda.max_memory_allocated(job.device),
            "reserved_bytes": torch.cuda.max_memory_reserved(job.device),
            "source": "torch.cuda.max_memory_allocated"}


def gpu_of(device):
    return meter.Gpu.of(torch.cuda.get_device_properties(device)) \
        if device.type == "cuda" else meter.Gpu()


def allow_tf32(yes):
    torch.backends.cuda.matmul.allow_tf32 = yes
    torch.backends.cudnn.allow_tf32 = yes


def run_rank(rank, args, store):
    if args.pin_malloc:
        pin_malloc()
    if args.ranks > 1:
        torch.set_num_threads(max(1, (os.cpu_count() or 1) // args.ranks))
    if args.device == "cuda":
        torch.cuda.set_device(rank)
    if args.ranks > 1:
        backend = "nccl" if args.device == "cuda" else "gloo"
        torch.distributed.init_process_group(
            backend, init_method=f"file://{store}", rank=rank,
            world_size=args.ranks)
    cpu_bytes = cpu_peak_memory(args, rank) if args.device == "cpu" else None
    allow_tf32(args.precision == "tf32")
    job = make_job(args, rank)
    if args.graph:
        job = graphed(args, job)
    for _ in range(args.warmup):
        job.timed_step()
    bare, faults = timed_steps(job, args.timed)
    memory = peak_memory(args, job, cpu_bytes) # before the profiler's share
    metered = meter.metered(gpu_of(job.device), job.step, job.wait,
                            args.meter) if args.meter else None
    recorded = record(args, job, rank)
    result = {"rank": rank, "peak_memory": memory, "metered": metered,
              "step_ms": [round(t, 3) for t in bare], "minor_faults": faults,
              "step_ms_recorded": [round(t, 3) for t in recorded]}
    with open(f"{store}.{rank}", "w") as file:
        json.dump(result, file)
    if args.ranks > 1:
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()


def processor():
    """The CPU's model: what the times were measured on."""
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def describe_gpu():
    """What the figures of a capture hang on, and nothing that tells one GPU
    from another of its kind."""
    p = torch.cuda.get_device_properties("cuda")
    return {"name": p.name, "capability": f"{p.major}.{p.minor}",
            "sms": p.multi_processor_count, "memory_bytes": p.total_memory,
            **meter.Gpu.of(p).about()}


def describe(args, ranks):
    cuda = args.device == "cuda"
    metered = [rank.pop("metered") for rank in ranks]
    options = {"precision": args.precision, "inference": args.inference,
               "ranks": args.ranks, "steps": args.steps,
               "timed": args.timed, "warmup": args.warmup, "seed": args.seed,
               "ranges": args.ranges, "pin_malloc": args.pin_malloc,
               "graph": args.graph, **args.sizes}
    return {
        "schema": "mystique-sim/capture/1",
        "model": args.model,
        "options": options,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "cuda": torch.version.cuda if cuda else None,
        "cudnn": torch.backends.cudnn.version() if cuda else None,
        "backend": (("nccl" if cuda else "gloo") if args.ranks > 1 else None),
        "device": torch.cuda.get_device_name() if cuda else "cpu",
        "gpu": describe_gpu() if cuda else None,
        "processor": processor(),
        "processor_threads": max(1, (os.cpu_count() or 1) // args.ranks),
        "step_ms_median": round(statistics.median(
            t for rank in ranks for t in rank["step_ms"]), 3),
        "metered": metered[0], # only one rank is
        "ranks": ranks,
    }


def capture(args):
    """One capture; where it is, and what it is."""
    if args.device == "meta":
        return on_meta(args)
    os.makedirs(args.out, exist_ok=True)
    # gloo looks its own host name up unless told which interface to use.
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "store")
        if args.ranks > 1:
            torch.multiprocessing.spawn(run_rank, (args, store), args.ranks)
        else:
            run_rank(0, args, store)
        ranks = []
        for rank in range(args.ranks):
            with open(f"{store}.{rank}") as file:
                ranks.append(json.load(file))
    write_meta(args, describe(args, ranks))
    return args.out, f"{args.ranks} rank(s), {args.steps} step(s)"


def main(argv):
    several = argparse.ArgumentParser(
        usage="%(prog)s --jobs FILE --out DIR [OPTION...]", add_help=False)
    several.add_argument("--jobs")
    several.add_argument("--out")
    of_all, defaults = several.parse_known_args(argv)
    try:
        if of_all.jobs:
            if not of_all.out:
                several.error("want '--out DIR' beside '--jobs'")
            jobs = capture_jobs.Jobs(of_all.out, defaults, parse_args, capture)
            jobs.read(of_all.jobs)
            jobs.run()
            sys.exit(1 if jobs.failed else 0)
        where, what = capture(parse_args(argv))
    except given_models.Refused as error:
        fail(str(error))
    except OSError as error:
        sys.exit(f"capture.py: {error.filename}: {error.strerror}")
    print(f"{where}: {what}")


if __name__ == "__main__":
    main(sys.argv[1:])
