"""Autocast for the tensors of meta_gpu.py, as CUDA's does it.

PyTorch's autocast asks in C++ whether a tensor is on a GPU, and those are not.
Its lists of operators, and the four ways in which operators are cast, are read
from the header that comes with PyTorch (ATen/autocast_mode.h).
"""

import os
import re
import warnings

import torch

CUDA = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCUDA)
LISTS = {"LOWER_PRECISION_FP": "lower", "FP32": "single",
         "FP32_SET_OPT_DTYPE": "option", "PROMOTE": "widest"}


def lists():
    """(operator, way) of each; empty where PyTorch came without headers."""
    path = os.path.join(os.path.dirname(torch.__file__), "include", "ATen",
                        "autocast_mode.h")
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return
    for name, way in LISTS.items():
        found = re.search(rf"#define AT_FORALL_{name}\(_\)((?:.*\\\n)*.*\n)",
                          text)
        for op, _, form in re.findall(r"_\((\w+)(, *(\w+))?\)",
                                      found.group(1) if found else ""):
            yield op, form, way


def castable(a):
    return isinstance(a, torch.Tensor) and a.is_cuda and \
        a.is_floating_point() and a.dtype != torch.float64


class Cache:
    """Weights that were cast, until autocast ends."""

    def __init__(self):
        self.cast = {}
        self.clear = torch.clear_autocast_cache

    def end(self):
        self.cast.clear()
        self.clear()

    def __call__(self, a, dtype):
        if isinstance(a, (list, tuple)):
            return type(a)(self(x, dtype) for x in a)
        if not castable(a) or a.dtype == dtype:
            return a
        kept = (torch.is_autocast_cache_enabled() and a.requires_grad and
                a.is_leaf and a.dtype == torch.float32 and not a._is_view() and
                dtype == torch.get_autocast_dtype("cuda"))
        if not kept:
            return a.to(dtype)
        # The tensor is kept beside its cast, so that its id stays its own.
        if id(a) not in self.cast:
            self.cast[id(a)] = a, a.to(dtype)
        return self.cast[id(a)][1]


def lower(cache, op, args, kwargs):
    dtype = torch.get_autocast_dtype("cuda")
    return op(*(cache(a, dtype) for a in args),
              **{k: cache(a, dtype) for k, a in kwargs.items()})


def single(cache, op, args, kwargs):
    dtype = torch.float32
    return op(*(cache(a, dtype) for a in args),
              **{k: cache(a, dtype) for k, a in kwargs.items()})


def option(cache, op, args, kwargs):
    at = [a.name for a in op._schema.arguments].index("dtype")
    given = args[at] if len(args) > at else kwargs.get("dtype")
    if castable(args[0]) and given is None:
        return op(*args[:at], **{**kwargs, "dtype": torch.float32})
    return op(*args, **kwargs)


def widest(cache, op, args, kwargs):
    every = [a for part in (*args, *kwargs.values())
             for a in (part if isinstance(part, (list, tuple)) else [part])]
    dtype = torch.get_autocast_dtype("cuda")
    if any(castable(a) and a.dtype == torch.float32 for a in every):
        dtype = torch.float32
    return op(*(cache(a, dtype) for a in args),
              **{k: cache(a, dtype) for k, a in kwargs.items()})


WAYS = {"lower": lower, "single": single, "option": option, "widest": widest}


def casting(cache, op, way):
    way = WAYS[way]

    def call(*args, **kwargs):
        with torch._C._ExcludeDispatchKeyGuard(CUDA):
            return way(cache, op, args, kwargs)
    return call


def casts():
    """Register the ways; in force while the library is held."""
    library = torch.library.Library("aten", "IMPL")
    cache = Cache()
    for name, form, way in lists():
        packet = getattr(torch.ops.aten, name, None)
        # An operator without a named form is the one without an overload.
        form = form if form not in ("", "deprecated", "input") else \
            form or "default"
        op = getattr(packet, form, None)
        if op is None:
            continue
        with warnings.catch_warnings(): # that PyTorch's own ways give place
            warnings.simplefilter("ignore")
            library.impl(op.name()[len("aten::"):], casting(cache, op, way),
                         "AutocastCUDA")
    library.cache = cache # emptied when autocast ends
    return library
