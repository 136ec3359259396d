"""A GPU without a GPU: tensors that say they are on `cuda:0` and hold nothing.

    with MetaGpu() as gpu:
        with gpu.building():
            model = Model()          # takes no memory, however large
        loss = model(x)
        loss.backward()

A tensor has the dispatch keys of CUDA, and Python code that asks for its device
is told `cuda:0`: operators go the way of a GPU, and an observer records those
that run there. To C++ code that asks for its device it is a meta tensor, since
autograd would look for streams; the few such questions that decide something
(dropout, cells, autocast) are answered in meta_kernels.py and meta_autocast.py.
What would be a kernel is asked of the meta device, for sizes alone, and with
recording off: much of that device is written in Python, in terms of other
operators, which no GPU would launch.

Where an operator is a kernel, and where it only calls others, follows from
PyTorch's own tables (`native_functions.yaml`, the dispatcher). What only a
build with cuDNN decides is decided in meta_kernels.py.

Every storage has an address of its own, which is never used again, so that a
trace tells them apart. Memory is not touched there.

Values are known where they are cheap: small tensors of integers and constants
keep a copy on the CPU, for models that read a step count, a mask or a length.
"""

import importlib
import os
import re

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten
GPU = torch.device("cuda", 0)
META = torch.device("meta")
CPU = torch.device("cpu")
KEYS = torch._C.DispatchKey

# Elements of a tensor whose values are kept.
VALUES = 1 << 16
# Bytes that may be computed in earnest to learn the sizes of a result.
COMPUTED = 1 << 28


class NeedsValue(RuntimeError):
    """A size or a branch of the model hangs on what a tensor holds."""

    def __str__(self):
        return super().__str__() + \
            ": give the model a plain number there (of a mask the percentage " \
            "that is true: selects=25 behind the model), or record it on a CPU or " \
            "GPU (capture.py --device cpu)"


class NoRule(RuntimeError):
    """An operator whose sizes the meta device cannot tell."""


class GpuTensor(torch.Tensor):
    """A meta tensor with the dispatch keys of its device."""

    __torch_function__ = torch._C._disabled_torch_function_impl
    in_kernel = False # whether sizes are being asked of the meta device

    @staticmethod
    def __new__(cls, meta, device=GPU):
        made = torch.Tensor._make_subclass(
            cls, meta, meta.requires_grad, device_for_backend_keys=device)
        made.where = device
        made.value = None
        return made

    @property
    def device(self):
        return META if GpuTensor.in_kernel else self.where

    @property
    def is_cuda(self):
        return self.device.type == "cuda"

    @property
    def is_cpu(self):
        return self.device.type == "cpu"

    @property
    def is_meta(self):
        return GpuTensor.in_kernel

    def get_device(self):
        return 0 if self.is_cuda else -1

    def __repr__(self, *, tensor_contents=None):
        return (f"tensor(..., device='{self.where}', size={tuple(self.shape)}, "
                f"dtype={self.dtype})")

    # A value is asked for in Python alone; C++ asks _local_scalar_dense.
    def tolist(self):
        return known(self, "tolist").tolist()

    def numpy(self, *args, **kwargs):
        return known(self, "numpy").numpy(*args, **kwargs)

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            copy = self.detach().clone()
            if isinstance(self, torch.nn.Parameter):
                copy = torch.nn.Parameter(copy, self.requires_grad)
            memo[id(self)] = copy
        return memo[id(self)]

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return MetaGpu.current.run(func, args, kwargs or {})


def mapped(there, a):
    """`a` with each of its members as `there` tells; lists and dicts within."""
    kind = type(a)
    if kind is tuple or kind is list:
        return kind([mapped(there, x) for x in a])
    if kind is dict:
        return {k: mapped(there, x) for k, x in a.items()}
    return there(a)


def tensors_of(*parts):
    """Tensors among arguments, those in lists too."""
    found = []
    for a in parts:
        if isinstance(a, torch.Tensor):
            found.append(a)
        elif isinstance(a, (tuple, list)):
            found += tensors_of(*a)
        elif isinstance(a, dict):
            found += tensors_of(*a.values())
    return found


class Value:
    """What the tensors of one storage hold; `valid` until it is not known."""

    def __init__(self):
        self.valid = True


def known(tensor, asked):
    if tensor.value is None or not tensor.value[1].valid:
        raise NeedsValue(
            f"'{asked}' reads what a tensor of sizes {list(tensor.shape)} "
            "holds, which is not known without computing it")
    return tensor.value[0]


class kernel:
    """Sizes from the meta device: no recording, GPU tensors as meta ones."""

    def __enter__(self):
        self.within = GpuTensor.in_kernel # of another one
        if self.within:
            return
        torch._C._autograd._enable_record_function(False)
        self.below = torch._C._DisableTorchDispatch()
        self.below.__enter__()
        self.keys = torch._C._PreserveDispatchKeyGuard()
        self.keys.__enter__()
        torch._C._set_meta_in_tls_dispatch_include(True)
        GpuTensor.in_kernel = True

    def __exit__(self, *error):
        if self.within:
            return
        GpuTensor.in_kernel = False
        self.keys.__exit__(*error)
        self.below.__exit__(*error)
        torch._C._autograd._enable_record_function(True)


class quietly:
    """Without recording."""

    def __enter__(self):
        torch._C._autograd._enable_record_function(False)

    def __exit__(self, *error):
        torch._C._autograd._enable_record_function(True)


def gpu_kernels():
    """Operators that have a kernel for CUDA, by PyTorch's own table.

    None where PyTorch came without it.
    """
    try:
        import torchgen
        path = os.path.join(os.path.dirname(torchgen.__file__), "packaged",
                            "ATen", "native", "native_functions.yaml")
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (ImportError, OSError):
        return None
    found = set()
    for entry in text.split("\n- func: ")[1:]:
        if re.search(r"\n    (\w+, *)*CUDA\b.*:|\n  structured_delegate:",
                     entry):
            found.add("aten::" + entry[:entry.index("(")])
    return found


# Kernels that no table names, and views that C++ makes without an operator.
DIRECT = {"aten::copy_", "aten::arange", "aten::linspace", "aten::randperm",
          "aten::alias", "aten::detach", "aten::lift", "aten::lift_fresh",
          "aten::view.dtype", "aten::view_as_real", "aten::view_as_complex",
          "aten::_conj", "aten::_neg_view", "aten::_unsafe_view",
          "aten::_reshape_alias", "aten::as_strided", "aten::set_",
          "aten::detach_", "aten::alias_copy", "aten::_fw_primal",
          "aten::_make_dual"}

# Factories whose values may be kept: what they make follows from arguments.
MADE = {"aten::arange", "aten::linspace", "aten::zeros", "aten::ones",
        "aten::full", "aten::scalar_tensor", "aten::eye", "aten::randint",
        "aten::rand",
        "aten::randperm", "aten::tril_indices", "aten::triu_indices",
        "aten::zeros_like", "aten::ones_like", "aten::full_like",
        "aten::new_zeros", "aten::new_ones", "aten::new_full"}

RANDOM = {"uniform_", "normal_", "random_", "bernoulli_", "exponential_",
          "cauchy_", "geometric_", "log_normal_"}


# Operators whose results have other sizes for other values.
SHAPELESS = {torch.Tag.dynamic_output_shape, torch.Tag.data_dependent_output,
             torch.Tag.inplace_view}
TENSORS = {"Tensor", "List[Tensor]"}
args_first = object() # the result is the first argument itself


def described(a):
    """An argument as far as sizes hang on it, to be looked up."""
    kind = type(a)
    if isinstance(a, torch.Tensor):
        return (kind is GpuTensor or a.dim() > 0, a.dtype, tuple(a.shape),
                a.stride())
    if kind is tuple or kind is list:
        return tuple([described(x) for x in a])
    if kind is dict:
        return tuple([(k, described(x)) for k, x in a.items()])
    hash(a)
    return kind, a


class Calls(TorchFunctionMode):
    """Python's calls that would look for a CUDA device before they dispatch.

    With `building`, what names no device is made on the GPU.
    """

    def __init__(self, building=False):
        super().__init__()
        self.building = building
        self.makers = _device_constructors()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is torch.Tensor.cuda:
            return moved(args[0], (GPU,), {})
        if func is torch.Tensor.to:
            return moved(args[0], args[1:], kwargs)
        if is_gpu(kwargs.get("device")):
            kwargs["device"] = GPU
        elif self.building and func in self.makers and \
                kwargs.get("device") is None:
            kwargs["device"] = GPU
        if func in (torch.tensor, torch.as_tensor, torch.asarray) and \
                kwargs.get("device") == GPU:
            del kwargs["device"]
            return func(*args, **kwargs).to(GPU)
        return func(*args, **kwargs)


@torch.no_grad()
def uniform(tensor, *_, **__):
    return tensor.uniform_()


def on_devices(groups):
    """Groups of tensors, each under the device that Python is told."""
    return {(lists[0][0].device, dtype): (lists, indices)
            for (_, dtype), (lists, indices) in groups.items()}


def moved(tensor, args, kwargs):
    """Tensor.to(), which does nothing where a tensor is on the GPU already."""
    args = [GPU if is_gpu(a) else a for a in args]
    if is_gpu(kwargs.get("device")):
        kwargs["device"] = GPU
    there = isinstance(tensor, GpuTensor) and tensor.where == GPU
    if there and (args[:1] == [GPU] or kwargs.get("device") == GPU):
        args = args[1:] if args[:1] == [GPU] else args
        kwargs.pop("device", None)
        if args[:1] == [None]: # no other type
            args = args[1:]
        if not args and set(kwargs) <= {"non_blocking"} or \
                args == [False] or args == [True]: # non_blocking
            return tensor
    return tensor.to(*args, **kwargs)


def outside(method):
    def call(*args):
        with torch._C._DisableTorchDispatch():
            return method(*args)
    return call


def is_gpu(device):
    if isinstance(device, (str, torch.device)):
        return str(device).partition(":")[0] == "cuda"
    return False


class MetaGpu(TorchDispatchMode):
    current = None

    def __init__(self, selects=None):
        """selects: the share of a mask that is true where nothing tells it."""
        super().__init__()
        self.selects = selects
        import meta_kernels # what hangs on cuDNN; imports this module
        self.kernels = gpu_kernels()
        self.overrides = meta_kernels.OVERRIDES
        self.address = 1 << 40
        self.depth = 0
        self.plan = {} # operator -> how it runs
        self.fresh = {} # operator -> whether sizes of it can be looked up
        self.told = {} # operator and arguments -> sizes of results
        self.libraries = []
        self.restore = []

    # ---- the life of the device ------------------------------------------

    def __enter__(self):
        if MetaGpu.current is None:
            self.begin()
        self.depth += 1
        return super().__enter__()

    def __exit__(self, *error):
        super().__exit__(*error)
        self.depth -= 1
        if not self.depth:
            self.end()

    def begin(self):
        import meta_autocast
        import meta_kernels
        self.libraries = [meta_kernels.composites(), meta_autocast.casts()]
        cuda = torch.cuda
        for name, there in (("_lazy_init", lambda: None),
                            ("is_available", lambda: True),
                            ("device_count", lambda: 1),
                            ("current_device", lambda: 0),
                            ("set_device", lambda device: None),
                            ("synchronize", lambda device=None: None),
                            ("empty_cache", lambda: None),
                            ("is_bf16_supported", lambda *_, **__: True),
                            ("get_device_capability", lambda *_: (8, 0)),
                            ("is_current_stream_capturing", lambda: False),
                            ("get_rng_state", lambda *_: torch.empty(
                                16, dtype=torch.uint8, device="cpu")),
                            ("set_rng_state", lambda *_: None)):
            self.replace(cuda, name, there)
        self.replace(torch, "clear_autocast_cache",
                     self.libraries[1].cache.end)
        # It draws until all numbers lie between two others.
        self.replace(torch.nn.init, "_no_grad_trunc_normal_", uniform)
        # Weights of recurrent layers would be laid side by side for cuDNN.
        self.replace(torch.backends.cudnn, "is_acceptable", lambda t: False)
        # Ranges that Python names begin and end outside of this mode: else they
        # would begin within the entry to it, and end there.
        named = torch.autograd.profiler.record_function
        for name in ("__enter__", "__exit__"):
            self.replace(named, name, outside(getattr(named, name)))
        # Optimizers choose the list form by exact classes.
        for module in map(importlib.import_module, (
                "torch.optim.optimizer", "torch.utils._foreach_utils")):
            kinds = getattr(module, "_foreach_supported_types", None)
            if kinds is not None:
                self.replace(module, "_foreach_supported_types",
                             kinds + [GpuTensor])
        # So are tensors told apart, by a device that C++ is asked for.
        group = torch._C._group_tensors_by_device_and_dtype
        self.replace(torch._C, "_group_tensors_by_device_and_dtype",
                     lambda *args: on_devices(group(*args)))
        # Its kernels have no sizes without computing.
        self.fast = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)
        MetaGpu.current = self
        self.calls = Calls()
        self.calls.__enter__()

    def replace(self, module, name, there):
        self.restore.append((module, name, getattr(module, name)))
        setattr(module, name, there)

    def end(self):
        for module, name, there in reversed(self.restore):
            setattr(module, name, there)
        torch.backends.mha.set_fastpath_enabled(self.fast)
        self.calls.__exit__(None, None, None)
        self.restore, self.libraries, MetaGpu.current = [], [], None

    @staticmethod
    def building():
        """What is made in this context is made on the GPU."""
        return Calls(building=True)

    # ---- one operator ----------------------------------------------------

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return self.run(func, args, kwargs or {})

    def run(self, func, args, kwargs):
        tensors = tensors_of(args, kwargs)
        device = self.device_of(func, tensors, kwargs)
        if device is None:
            with quietly(): # it is on record already
                return func(*args, **kwargs)
        how = self.plan.get(func)
        if how is None:
            how = self.plan[func] = self.find(func)
        out = how(self, func, args, kwargs, device)
        self.keep_values(func, args, kwargs, tensors, out)
        return out

    def device_of(self, func, tensors, kwargs):
        """Where the result is; None where nothing here concerns this device."""
        asked = kwargs.get("device")
        fakes = [t for t in tensors if isinstance(t, GpuTensor)]
        if asked is not None:
            asked = torch.device(asked)
            if asked.type in ("cuda", "meta"):
                return GPU
            return CPU if fakes else None
        if not fakes:
            return None
        # A lone number on the CPU joins those on the GPU.
        there = [t for t in fakes if t.where == GPU]
        return GPU if there else CPU

    def find(self, func):
        name = func.name()
        plain = name.split(".")[0]
        if func in self.overrides:
            override = self.overrides[func]
            return lambda gpu, _, args, kwargs, device: gpu.inside(
                override, args, kwargs)
        if plain[6:] in RANDOM:
            return lambda gpu, _, args, kwargs, device: args[0]
        if func is aten._local_scalar_dense.default:
            return lambda gpu, _, args, kwargs, device: known(
                args[0], "item").item()
        if func is aten._to_copy.default:
            return MetaGpu.copy
        if plain.startswith("aten::_foreach") and not func._schema.returns:
            return lambda gpu, _, args, kwargs, device: None # in place
        if name in DIRECT or plain in DIRECT or \
                plain.startswith("aten::_foreach"):
            return MetaGpu.ask
        has = torch._C._dispatch_has_kernel_for_dispatch_key
        # Without the table: who has a kernel for the CPU has one for CUDA.
        own = has(name, "CPU") if self.kernels is None else name in self.kernels
        for key in ("CompositeExplicitAutograd", "CompositeImplicitAutograd",
                    "CompositeExplicitAutogradNonFunctional"):
            if not own and has(name, key):
                key = getattr(KEYS, key)
                return lambda gpu, func, args, kwargs, device: \
                    gpu.made_of(func, key, args, kwargs, device)
        return MetaGpu.ask

    def inside(self, function, args, kwargs):
        with self:
            return function(*args, **kwargs)

    def made_of(self, func, key, args, kwargs, device):
        """An operator that only calls others, which come here in their turn."""
        with self:
            out = func._op_dk(key, *args, **kwargs)
        return self.wrap(out, device)

    def ask(self, func, args, kwargs, device):
        """A kernel: its results have the sizes that the meta device tells."""
        key = self.asked(func, args, kwargs)
        with kernel():
            if key in self.told:
                return self.again(self.told[key], args, device)
            given = args
            args, kwargs = mapped(self.bare, args), mapped(self.bare, kwargs)
            args = self.numbers(func, args)
            if "device" in kwargs:
                kwargs["device"] = META
            try:
                out = func(*args, **kwargs)
            except NotImplementedError:
                out = self.computed(func, args, kwargs)
            if key is not None:
                self.learn(key, func, given, out)
            return self.wrap(out, device)

    # Models repeat their layers: what was told once need not be asked again.

    def asked(self, func, args, kwargs):
        """What sizes follow from; None where results are views or values."""
        fresh = self.fresh.get(func)
        if fresh is None:
            # Of new memory, or the very tensors that are written to.
            fresh = self.fresh[func] = not (
                SHAPELESS & set(func.tags)) and "out" not in {
                    a.name for a in func._schema.arguments} and all(
                    r.alias_info is None or r.alias_info.is_write
                    for r in func._schema.returns) and \
                func.name().split(".")[0] not in DIRECT and \
                str(func._schema.arguments[0].type) in TENSORS \
                if func._schema.arguments else False
        if not fresh:
            return None
        try:
            return func, described(args), described(kwargs)
        except TypeError: # not hashed: a generator of numbers
            return None

    def learn(self, key, func, args, out):
        if out is None or (func._schema.is_mutable and out is args[0]):
            self.told[key] = None if out is None else args_first
            return
        flat = out if isinstance(out, (tuple, list)) else [out]
        if all(t is None or (isinstance(t, torch.Tensor) and
                             not isinstance(t, GpuTensor) and t.is_meta and
                             not t.storage_offset()) for t in flat):
            sizes = [t if t is None else (t.dtype, tuple(t.shape), t.stride(),
                                          t.untyped_storage().nbytes())
                     for t in flat]
            self.told[key] = sizes[0] if flat is not out else \
                (type(out), sizes)

    def again(self, told, args, device):
        if told is None:
            return None
        if told is args_first:
            return args[0]
        if isinstance(told[0], torch.dtype):
            return self.house(*told, device)
        kind, sizes = told
        return kind([s if s is None else self.house(*s, device)
                     for s in sizes])

    def sized(self, func, args, kwargs):
        """A kernel that an override asks for itself."""
        return self.ask(func, args, kwargs, GPU)

    @staticmethod
    def numbers(func, args):
        """Numbers where a tensor is wanted: Python is given them bare."""
        wanted = func._schema.arguments
        if not any(isinstance(a, (int, float)) for a in args):
            return args
        return tuple(torch.tensor(a, device=CPU) if isinstance(a, (int, float))
                     and str(w.type) == "Tensor" else a
                     for a, w in zip(args, wanted))

    @staticmethod
    def bare(a):
        """CPU tensors as meta ones, save for lone numbers."""
        if isinstance(a, torch.Tensor) and not isinstance(a, GpuTensor) and \
                a.device.type == "cpu":
            return torch.empty_strided(a.size(), a.stride(), dtype=a.dtype,
                                       device=META)
        return a

    def computed(self, func, args, kwargs):
        """Sizes by computing on zeros, where the meta device has no rule."""
        tensors = tensors_of(args, kwargs)
        what = func.name()
        if torch.Tag.dynamic_output_shape in func.tags:
            return self.by_values(func, args, kwargs, tensors)
        if sum(t.numel() * t.element_size() for t in tensors) > COMPUTED:
            raise NoRule(f"'{what}' has no rule for its sizes on the meta "
                         "device, and is too large to be computed")
        torch._C._set_meta_in_tls_dispatch_include(False)
        there = {}

        def zeros(a):
            if not isinstance(a, torch.Tensor):
                return CPU if a == META else a
            if id(a) not in there:
                there[id(a)] = torch.zeros(a.shape, dtype=a.dtype, device=CPU)
            return there[id(a)]
        try:
            out = func(*mapped(zeros, args), **mapped(zeros, kwargs))
        except (NotImplementedError, RuntimeError) as error:
            raise NoRule(f"'{what}' has no rule for its sizes on the meta "
                         f"device ({str(error).splitlines()[0]})") from None
        finally:
            torch._C._set_meta_in_tls_dispatch_include(True)
        back = {id(zero): a for a in tensors
                for zero in [there.get(id(a))] if zero is not None}
        return mapped(lambda t: back.get(id(t), t.to(META)) if isinstance(
            t, torch.Tensor) else t, out)

    def assumed(self, mask):
        """A mask of which the first part is true."""
        held = torch.zeros(mask.numel(), dtype=torch.bool, device=CPU)
        held[:round(mask.numel() * self.selects)] = True
        return held.view(mask.shape)

    def is_assumed(self, tensor):
        return self.selects is not None and tensor.dtype == torch.bool and \
            (tensor.value is None or not tensor.value[1].valid)

    def by_values(self, func, args, kwargs, tensors):
        """How many elements a mask selects, where what it holds is known, or
        assumed."""
        masks = [t for t in tensors if t.dtype in (torch.bool, torch.int64,
                                                   torch.int32, torch.uint8)]
        name = func.name()[len("aten::"):].partition(".")[0]
        for t in masks or tensors:
            if isinstance(t, GpuTensor) and not self.is_assumed(t):
                known(t, name)

        def value(a):
            if isinstance(a, GpuTensor) and self.is_assumed(a):
                return self.assumed(a)
            if isinstance(a, GpuTensor) and a.value is not None:
                return a.value[0]
            if isinstance(a, torch.Tensor):
                return torch.zeros(1, dtype=a.dtype, device=CPU).expand(a.shape)
            return CPU if a == META else a
        torch._C._set_meta_in_tls_dispatch_include(False)
        try:
            out = func(*mapped(value, args), **mapped(value, kwargs))
        finally:
            torch._C._set_meta_in_tls_dispatch_include(True)
        return mapped(lambda t: t.to(META) if isinstance(t, torch.Tensor)
                        else t, out)

    def copy(self, func, args, kwargs, device):
        """Another type or device, as PyTorch does it: memory and a copy."""
        source = args[0]
        with self:
            target = aten.empty_strided(
                source.size(), self.strides_of(source, kwargs),
                dtype=kwargs.get("dtype") or source.dtype, device=device)
            aten.copy_(target, source, bool(kwargs.get("non_blocking")))
        return target

    @staticmethod
    def strides_of(source, kwargs):
        with kernel():
            return torch.empty_like(
                MetaGpu.bare(source), memory_format=kwargs.get("memory_format")
                or torch.preserve_format).stride()

    # ---- results ---------------------------------------------------------

    def wrap(self, out, device):
        return mapped(
            lambda a: self.housed(a, device) if isinstance(a, torch.Tensor)
            and not isinstance(a, GpuTensor) and a.device.type == "meta"
            else a, out)

    def housed(self, meta, device):
        """A meta tensor on the device, its storage at an address of its own."""
        with kernel():
            storage = meta.untyped_storage()
            # Nothing is at no address, and may yet be given memory.
            if storage.nbytes() and not storage.data_ptr():
                return self.house(meta.dtype, meta.size(), meta.stride(),
                                  storage.nbytes(), device,
                                  meta.storage_offset())
            return GpuTensor(meta, device)

    def house(self, dtype, size, stride, nbytes, device, offset=0):
        """A tensor in new memory; the caller is in a kernel()."""
        if not nbytes:
            return GpuTensor(torch.empty_strided(size, stride, dtype=dtype,
                                                 device=META), device)
        storage = torch._C._construct_storage_from_data_pointer(
            self.address, META, nbytes)
        # As CUDA's allocator of PyTorch rounds.
        self.address += max(512, (nbytes + 511) & ~511)
        # A storage of given address does not grow: so by a view.
        base = torch.empty(0, dtype=dtype, device=META)
        base.set_(storage, 0, (0,), (1,))
        return GpuTensor(base.as_strided(size, stride, offset), device)

    # ---- values ----------------------------------------------------------

    def keep_values(self, func, args, kwargs, tensors, out):
        schema = func._schema
        if schema.is_mutable:
            self.write_values(func, args, kwargs, tensors)
            return
        results = [t for t in tensors_of(out) if isinstance(t, GpuTensor)
                   and t.value is None]
        if not results or any(t.numel() > VALUES for t in results):
            return
        if not tensors and func.name().split(".")[0] not in MADE:
            return
        if any(isinstance(t, GpuTensor) and (t.value is None or
               not t.value[1].valid) for t in tensors):
            return
        if torch.Tag.nondeterministic_seeded in func.tags and tensors:
            return
        values = self.compute(func, args, kwargs)
        flat, every = tensors_of(values), tensors_of(out)
        if values is None or len(flat) != len(every):
            return
        flags = {t.value[0].untyped_storage()._cdata: t.value[1]
                 for t in tensors if isinstance(t, GpuTensor)}
        for result, value in zip(every, flat):
            if isinstance(result, GpuTensor) and result.value is None:
                flag = flags.get(value.untyped_storage()._cdata) or Value()
                result.value = (value, flag)

    def write_values(self, func, args, kwargs, tensors):
        """In place: the same on the copies, or they are worth nothing."""
        if func is aten._amp_foreach_non_finite_check_and_unscale_.default:
            return # no gradient overflows, says who knows none
        written = [args[i] if i < len(args) else kwargs.get(a.name)
                   for i, a in enumerate(func._schema.arguments)
                   if a.alias_info is not None and a.alias_info.is_write]
        written = [t for t in tensors_of(written) if isinstance(t, GpuTensor)
                   and t.value is not None]
        if not written:
            return
        sources = [t for t in tensors if isinstance(t, GpuTensor)]
        if all(t.value is not None and t.value[1].valid for t in sources) and \
                func.name().split(".")[0][6:] not in RANDOM and \
                self.compute(func, args, kwargs) is not None:
            return
        for t in written:
            t.value[1].valid = False

    @staticmethod
    def compute(func, args, kwargs):
        def value(a):
            if isinstance(a, GpuTensor):
                return a.value[0]
            return CPU if isinstance(a, torch.device) else a
        with quietly(), torch._C._DisableTorchDispatch():
            try:
                return func(*mapped(value, args), **mapped(value, kwargs))
            except (RuntimeError, NotImplementedError):
                return None
