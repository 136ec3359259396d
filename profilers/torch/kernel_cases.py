"""What PyTorch's own kernels are timed at: cases, each of them for one kernel.

A case is a call and the ranges of its sizes: within them PyTorch takes one
kernel, by its own rules of dispatch (a row of up to 1024 numbers is a warp's, a
longer one a block's; a row that does not begin on 16 bytes has no vector loads).
Round after round a case is asked at another point of its ranges: coordinates of
a Halton sequence, so that few points lie far apart, and many fill the space.

    for case in CASES: call = case.make(Point(case, n, tensor_maker))

`call()` is what is timed. Cases stand in the order in which they tell most:
first what no table of measured operators has.
"""

import math
import zlib

import torch
import torch.nn.functional as F
from torch import nn

aten = torch.ops.aten
HALF, BF16, FULL = torch.float16, torch.bfloat16, torch.float32
PRIMES = (2, 3, 5, 7, 11, 13)
# Elements of the largest operand: half a megabyte to a quarter of a gigabyte.
ELEMENTS = 1 << 17, 1 << 26
FEW = 1 << 14, 1 << 22 # where each element costs much


def halton(n, base):
    """The n-th number of the sequence of this base, between 0 and 1."""
    out, part = 0.0, 1.0
    while n:
        part /= base
        n, digit = divmod(n, base)
        out += part * digit
    return out


class Point:
    """One point of a case: sizes, one coordinate after the other.

    `make(shape, dtype)` gives a tensor of random numbers from -1 to 1,
    `make.ids(shape, below)` one of indices. `shrink` divides what there are many
    of (rows, pictures), for machines that are slow.
    """

    def __init__(self, case, number, make, shrink=1):
        self.number = number
        self.make = make
        self.shrink = shrink
        self.offset = zlib.crc32(case.name.encode()) / 2**32
        self.taken = 0
        self.dtype = case.dtypes[number % len(case.dtypes)]

    def next(self):
        u = halton(self.number + 1, PRIMES[self.taken % len(PRIMES)])
        self.taken += 1
        return (u + self.offset) % 1

    def pick(self, *choices):
        return choices[int(self.next() * len(choices))]

    def size(self, low, high, multiple=1, odd=False):
        """Between low and high, even on a logarithmic scale."""
        v = low * (high / low) ** self.next()
        v = max(int(v) // multiple, 1) * multiple
        return v | 1 if odd else v

    def many(self, low, high):
        return max(self.size(low, high) // self.shrink, 1)

    def long(self, low, high, multiple=1):
        """A length whose square, or each of whose steps, takes long."""
        length = int(self.size(low, high) / self.shrink**0.5)
        return max(length // multiple, 1) * multiple

    def rows(self, cols, elements=ELEMENTS):
        """So many that there are about so many elements."""
        total = self.size(*elements) // self.shrink
        return min(max(total // cols, 1), 1 << 22)

    def tensor(self, *shape, dtype=None):
        return self.make(shape, dtype or self.dtype)

    def positive(self, *shape, dtype=None):
        return self.tensor(*shape, dtype=dtype).abs_().add_(0.1)

    def ids(self, *shape, below):
        return self.make.ids(shape, below)

    def matrix(self, low, high, multiple=8, odd=False, elements=ELEMENTS):
        """Rows of low to high columns."""
        cols = self.size(low, high, multiple, odd)
        return self.tensor(self.rows(cols, elements), cols)

    def images(self, channels=(16, 512), side=(7, 112), elements=ELEMENTS,
               multiple=8):
        c, s = self.size(*channels, multiple), self.size(*side)
        return self.tensor(self.rows(c * s * s, elements), c, s, s)


class Case:
    def __init__(self, law, name, dtypes, gpu, function):
        self.law, self.name = law, f"{law}.{name}"
        self.dtypes = dtypes
        self.gpu = gpu # what only a GPU can
        self.make = function


CASES = []


def case(name, dtypes=(HALF, FULL), gpu=False):
    def add(function):
        CASES.append(Case(*name.split("."), dtypes, gpu, function))
        return function
    return add


def simple(name, call, low, high, multiple=8, odd=False, elements=ELEMENTS,
           operands=1, **more):
    """A case of one call on matrices of one shape."""
    @case(name, **more)
    def make(p):
        first = p.matrix(low, high, multiple, odd, elements)
        others = [p.tensor(*first.shape) for _ in range(operands - 1)]
        return lambda: call(first, *others)


def both(function, *inputs):
    """Forward and backward of a function; gradients of all inputs."""
    inputs = [x.requires_grad_() if x.is_floating_point() else x
              for x in inputs]
    wanted = [x for x in inputs if x.requires_grad]
    grad = []

    def call():
        with torch.enable_grad():
            y = function(*inputs)
            if not grad:
                grad.append(torch.ones_like(y))
            torch.autograd.grad(y, wanted, grad[0])
    return call


def trained(name, function, low, high, multiple=8, odd=False,
            elements=ELEMENTS, **more):
    @case(name, **more)
    def make(p):
        return both(function, p.matrix(low, high, multiple, odd, elements))


# ---- softmax ---------------------------------------------------------------
# SoftMax.cu: rows of up to 1024 numbers in a warp's registers, longer ones in
# the shared memory of a block while they fit and begin on 16 bytes, else in
# several passes; over other dimensions a thread a place.

def softmax(x):
    return x.softmax(-1)


trained("softmax.warp", softmax, 32, 1024)
trained("softmax.block", softmax, 1032, 8192)
trained("softmax.passes", softmax, 1 << 15, 1 << 19)
trained("softmax.odd_rows", softmax, 1101, 8191, odd=True)
trained("softmax.logarithm", lambda x: x.log_softmax(-1), 1032, 65536)


@case("softmax.spatial")
def softmax_spatial(p):
    c, places = p.size(4, 64), p.size(64, 4096)
    return both(lambda x: x.softmax(1),
                p.tensor(p.rows(c * places), c, places))


# ---- norms -----------------------------------------------------------------
# layer_norm_kernel.cu, group_norm_kernel.cu, Normalization.cuh: a block a row,
# a group or a channel.

def layer_norm(p, low, high, odd=False):
    x = p.matrix(low, high, odd=odd)
    cols = x.shape[1]
    return both(lambda x, w, b: F.layer_norm(x, (cols,), w, b), x,
                p.tensor(cols), p.tensor(cols))


@case("norm.layer_short")
def layer_norm_short(p):
    return layer_norm(p, 32, 512)


@case("norm.layer_long")
def layer_norm_long(p):
    return layer_norm(p, 768, 16384)


@case("norm.layer_odd")
def layer_norm_odd(p):
    return layer_norm(p, 65, 4097, odd=True)


@case("norm.layer_few_rows", dtypes=(FULL,))
def layer_norm_few(p):
    return layer_norm(p, 1 << 17, 1 << 21)


@case("norm.rms")
def rms_norm(p):
    x = p.matrix(256, 8192)
    cols = x.shape[1]
    return both(lambda x, w: F.rms_norm(x, (cols,), w), x, p.tensor(cols))


def batch_norm(p, x, training=True):
    c = x.shape[1]
    weight, bias = (p.tensor(c, dtype=FULL) for _ in range(2))
    mean, var = (p.positive(c, dtype=FULL) for _ in range(2))
    if training:
        return both(lambda x, w, b: F.batch_norm(x, mean, var, w, b, True), x,
                    weight, bias)
    return lambda: F.batch_norm(x, mean, var, weight, bias, False)


@case("norm.batch")
def batch_norm_maps(p):
    return batch_norm(p, p.images())


@case("norm.batch_channels_last")
def batch_norm_last(p):
    return batch_norm(p, p.images().contiguous(
        memory_format=torch.channels_last))


@case("norm.batch_few_channels")
def batch_norm_few(p):
    return batch_norm(p, p.images(channels=(3, 16), side=(64, 512),
                                  multiple=1))


@case("norm.batch_given")
def batch_norm_given(p):
    return batch_norm(p, p.images(), training=False)


@case("norm.batch_volume", dtypes=(FULL,))
def batch_norm_volume(p):
    c, s = p.size(8, 128, 8), p.size(8, 32)
    return batch_norm(p, p.tensor(p.rows(c * s**3), c, s, s, s))


@case("norm.group")
def group_norm(p):
    x = p.images(channels=(32, 512), multiple=32)
    c = x.shape[1]
    return both(lambda x, w, b: F.group_norm(x, 8, w, b), x, p.tensor(c),
                p.tensor(c))


@case("norm.group_small")
def group_norm_small(p):
    x = p.images(channels=(64, 512), side=(4, 8), multiple=64)
    c = x.shape[1]
    return both(lambda x, w, b: F.group_norm(x, 32, w, b), x, p.tensor(c),
                p.tensor(c))


@case("norm.instance", dtypes=(FULL,))
def instance_norm(p):
    return both(F.instance_norm, p.images(side=(28, 256)))


# ---- products --------------------------------------------------------------
# cuBLAS: kernels of any alignment where a row does not begin on 16 bytes, split
# sums where results are few, a block a product where they are tiny.

FORMATS = (HALF, BF16, FULL)


def product(p, m, n, k):
    a, b = p.tensor(m, k), p.tensor(n, k)
    return lambda: F.linear(a, b)


@case("product.odd", dtypes=FORMATS)
def product_odd(p):
    return product(p, p.many(256, 8192), p.size(255, 4095, odd=True),
                   p.size(255, 4095, odd=True))


@case("product.odd_in_pairs", dtypes=(HALF, BF16))
def product_pairs(p):
    return product(p, p.many(256, 8192), 2 * p.size(129, 2047, odd=True),
                   2 * p.size(129, 2047, odd=True))


@case("product.split", dtypes=FORMATS)
def product_split(p):
    return product(p, p.size(16, 256, 8), p.size(16, 256, 8),
                   p.many(1 << 13, 1 << 18))


@case("product.skinny", dtypes=FORMATS)
def product_skinny(p):
    return product(p, p.many(1 << 16, 1 << 21), p.size(8, 64, 8),
                   p.size(8, 64, 8))


@case("product.row", dtypes=FORMATS)
def product_row(p):
    return product(p, 1, p.size(1024, 16384, 8), p.size(1024, 16384, 8))


@case("product.tiny", dtypes=FORMATS)
def product_tiny(p):
    n, m, k = (p.size(4, 64) for _ in range(3))
    batch = p.many(256, 65536)
    a, b = p.tensor(batch, m, k), p.tensor(batch, k, n)
    return lambda: torch.bmm(a, b)


@case("product.batch_odd", dtypes=FORMATS)
def product_batch_odd(p):
    m, n, k = (p.size(63, 511, odd=True) for _ in range(3))
    batch = p.many(16, 256)
    a, b = p.tensor(batch, m, k), p.tensor(batch, k, n)
    return lambda: torch.bmm(a, b)


@case("product.plain_layouts", dtypes=FORMATS)
def product_layouts(p):
    m, n, k = p.many(256, 8192), p.size(256, 4096, 8), p.size(256, 4096, 8)
    a = p.tensor(m, k) if p.pick(0, 1) else p.tensor(k, m).t()
    b = p.tensor(k, n)
    return lambda: a @ b


@case("product.bias", dtypes=FORMATS)
def product_bias(p):
    x = p.matrix(256, 4096, elements=(1 << 18, 1 << 23))
    n, k = p.size(256, 4096, 8), x.shape[1]
    return both(F.linear, x, p.tensor(n, k), p.tensor(n))


@case("product.tf32", dtypes=(FULL,), gpu=True)
def product_tf32(p):
    call = product(p, p.many(256, 8192), p.size(255, 4096), p.size(255, 4096))

    def rounded():
        torch.backends.cuda.matmul.allow_tf32 = True
        try:
            call()
        finally:
            torch.backends.cuda.matmul.allow_tf32 = False
    return rounded


@case("product.vector")
def product_vector(p):
    a = p.matrix(256, 65536)
    b = p.tensor(a.shape[1])
    return lambda: torch.mv(a, b)


# ---- convolutions ----------------------------------------------------------

CONV = 1 << 18, 1 << 24


def conv(p, dims, transposed=False, filters=(1, 3, 3, 5), strides=(1, 1, 2),
         groups=1, channels=(16, 256), side=(14, 64), last=False,
         dilation=1):
    c, k = (p.size(*channels, 8 * groups) for _ in range(2))
    s, filter_ = p.size(*side), p.pick(*filters)
    stride = p.pick(*strides)
    x = p.tensor(p.rows(c * s**dims, CONV), c, *[s] * dims)
    shape = (c, k // groups) if transposed else (k, c // groups)
    w = p.tensor(*shape, *[filter_] * dims)
    if last:
        x, w = (t.contiguous(memory_format=torch.channels_last) for t in (x, w))
    function = getattr(F, f"conv{'_transpose' * transposed}{dims}d")
    pad = filter_ // 2
    if transposed:
        return both(lambda x, w: function(x, w, None, stride, pad, 0, groups,
                                          dilation), x, w)
    return both(lambda x, w: function(x, w, None, stride, pad * dilation,
                                      dilation, groups), x, w)


@case("conv.row", dtypes=(FULL, HALF))
def conv_row(p):
    return conv(p, 1, side=(256, 8192), filters=(1, 3, 5, 7))


@case("conv.volume", dtypes=(FULL, HALF))
def conv_volume(p):
    return conv(p, 3, channels=(8, 64), side=(8, 32), filters=(1, 3, 3))


@case("conv.transposed", dtypes=(FULL, HALF))
def conv_transposed(p):
    return conv(p, 2, transposed=True, filters=(2, 3, 4, 5))


@case("conv.transposed_row", dtypes=(FULL, HALF))
def conv_transposed_row(p):
    return conv(p, 1, transposed=True, filters=(3, 4, 5), side=(256, 8192))


@case("conv.transposed_volume", dtypes=(FULL,))
def conv_transposed_volume(p):
    return conv(p, 3, transposed=True, channels=(8, 64), side=(8, 24),
                filters=(2, 3))


@case("conv.grouped", dtypes=(FULL, HALF))
def conv_grouped(p):
    return conv(p, 2, groups=p.pick(2, 4, 8), channels=(64, 512),
                filters=(1, 3, 3))


@case("conv.channels_last", dtypes=(HALF, FULL))
def conv_last(p):
    return conv(p, 2, last=True)


@case("conv.channels_first", dtypes=(HALF, FULL))
def conv_first(p):
    return conv(p, 2)


@case("conv.dilated", dtypes=(FULL, HALF))
def conv_dilated(p):
    return conv(p, 2, dilation=2, filters=(3,), strides=(1,))


@case("conv.stem", dtypes=(FULL, HALF))
def conv_stem(p):
    k, filter_, s = p.size(16, 96, 8), p.pick(3, 7, 11), p.size(112, 256)
    x = p.tensor(p.rows(3 * s * s, CONV), 3, s, s)
    w = p.tensor(k, 3, filter_, filter_)
    return both(lambda x, w: F.conv2d(x, w, None, p.number % 2 + 1,
                                      filter_ // 2), x, w)


@case("conv.asymmetric", dtypes=(FULL,))
def conv_asymmetric(p):
    x = p.images(channels=(16, 256), side=(14, 64), elements=CONV)
    w = p.tensor(p.size(16, 256, 8), x.shape[1], *p.pick((1, 7), (7, 1),
                                                         (3, 5)))
    return both(F.conv2d, x, w)


# DepthwiseConv2d.cu: loops of a known length at 1 x 1, 3 x 3 and 5 x 5.

def depthwise(p, filter_, stride=1, last=False):
    x = p.images(channels=(32, 512), side=(14, 112), elements=CONV)
    c = x.shape[1]
    w = p.tensor(c, 1, filter_, filter_)
    if last:
        x, w = (t.contiguous(memory_format=torch.channels_last) for t in (x, w))
    return both(lambda x, w: F.conv2d(x, w, None, stride, filter_ // 2, 1, c),
                x, w)


@case("depthwise.three", dtypes=(FULL, HALF))
def depthwise_three(p):
    return depthwise(p, 3, p.pick(1, 2))


@case("depthwise.five", dtypes=(FULL, HALF))
def depthwise_five(p):
    return depthwise(p, 5)


@case("depthwise.seven", dtypes=(FULL, HALF))
def depthwise_seven(p):
    return depthwise(p, 7)


@case("depthwise.channels_last", dtypes=(FULL, HALF))
def depthwise_last(p):
    return depthwise(p, p.pick(3, 5, 7), last=True)


# ---- copies ----------------------------------------------------------------
# CatArrayBatchedCopy in Shape.cu; Copy.cu: by strides, and 16 bytes a thread
# where all operands allow it.

@case("copy.transposed")
def copy_transposed(p):
    x = p.matrix(64, 8192).t()
    return x.contiguous


@case("copy.to_channels_last")
def copy_to_last(p):
    x = p.images()
    return lambda: x.contiguous(memory_format=torch.channels_last)


@case("copy.from_channels_last")
def copy_from_last(p):
    x = p.images().contiguous(memory_format=torch.channels_last)
    return x.contiguous


@case("copy.heads")
def copy_heads(p):
    heads, width, length = p.size(2, 32), p.pick(32, 64, 128), p.size(32, 2048)
    x = p.tensor(p.rows(heads * width * length), length, heads, width)
    return x.transpose(1, 2).contiguous


@case("copy.slices")
def copy_slices(p):
    return p.matrix(33, 4096, 1)[:, 1:].contiguous


@case("copy.misaligned")
def copy_misaligned(p):
    return p.matrix(64, 4096).view(-1)[1:].clone


@case("copy.expanded")
def copy_expanded(p):
    n, cols = p.size(2, 16), p.size(64, 4096, 8)
    x = p.tensor(max(p.rows(cols) // n, 1), 1, cols)
    return x.expand(-1, n, cols).contiguous


@case("copy.cast", dtypes=(FULL,))
def copy_cast(p):
    x = p.matrix(64, 4096)
    return x.half


def cat(p, sizes, dim, shape):
    parts = [p.tensor(*shape[:dim], s, *shape[dim + 1:]) for s in sizes]
    return lambda: torch.cat(parts, dim)


@case("copy.cat_rows")
def cat_rows(p):
    cols = p.size(16, 4096, 8)
    n = max(p.rows(cols) // 2, 1)
    return cat(p, (n, n), 0, (n, cols))


@case("copy.cat_columns")
def cat_columns(p):
    cols = p.size(16, 1024, 8)
    return cat(p, (cols, cols), 1, (p.rows(2 * cols), cols))


@case("copy.cat_odd")
def cat_odd(p):
    a, b = p.size(15, 1023, odd=True), p.size(15, 1023, odd=True)
    return cat(p, (a, b), 1, (p.rows(a + b), a))


@case("copy.cat_channels")
def cat_channels(p):
    c, s = p.size(16, 128, 8), p.size(7, 56)
    return cat(p, (c, c, c), 1, (p.rows(3 * c * s * s), c, s, s))


@case("copy.cat_many")
def cat_many(p):
    cols = p.size(16, 256, 8)
    return cat(p, (cols,) * 32, 1, (p.rows(32 * cols), cols))


@case("copy.stack")
def stack(p):
    x = p.matrix(64, 4096)
    return lambda: torch.stack((x, x, x, x), 1)


@case("copy.repeat")
def repeat(p):
    x = p.matrix(64, 1024, elements=(1 << 15, 1 << 24))
    return lambda: x.repeat(2, 2)


@case("copy.flip")
def flip(p):
    x = p.matrix(64, 4096)
    return lambda: x.flip(-1)


@case("copy.roll")
def roll(p):
    x = p.matrix(64, 4096)
    return lambda: x.roll(3, -1)


@case("copy.pad")
def pad(p):
    x = p.images()
    return lambda: F.pad(x, (1, 1, 1, 1))


# ---- element by element ----------------------------------------------------
# CUDALoops.cuh: vectors where all lie alike and on 16 bytes; else the address
# of each element is computed.

simple("pointwise.one", lambda x: F.gelu(x), 64, 4096)
simple("pointwise.two", torch.mul, 64, 4096, operands=2)
simple("pointwise.three", torch.addcmul, 64, 4096, operands=3)
simple("pointwise.in_place", lambda x: x.mul_(1.0), 64, 4096)
trained("pointwise.gradient", F.silu, 64, 4096)


@case("pointwise.broadcast_row")
def broadcast_row(p):
    x = p.matrix(64, 4096)
    y = p.tensor(x.shape[1])
    return lambda: x + y


@case("pointwise.broadcast_column")
def broadcast_column(p):
    x = p.matrix(64, 4096)
    y = p.tensor(x.shape[0], 1)
    return lambda: x * y


@case("pointwise.broadcast_channel")
def broadcast_channel(p):
    x = p.images()
    y = p.tensor(x.shape[1], 1, 1)
    return lambda: x + y


@case("pointwise.gaps")
def gaps(p):
    x, y = p.matrix(64, 4096, 16).chunk(2, -1)
    return lambda: x * y


@case("pointwise.misaligned")
def misaligned(p):
    x = p.matrix(64, 4096).view(-1)
    return lambda: x[1:] + x[:-1]


@case("pointwise.promoted", dtypes=(HALF,))
def promoted(p):
    x = p.matrix(64, 4096)
    y = p.tensor(*x.shape, dtype=FULL)
    return lambda: x + y


@case("pointwise.masked")
def masked(p):
    x = p.matrix(64, 4096)
    mask = x > 0
    return lambda: x.masked_fill(mask, 0.0)


trained("pointwise.dropout", lambda x: F.dropout(x, 0.1), 64, 4096)
simple("pointwise.random", torch.rand_like, 64, 4096)


# ---- reductions, scans, order ----------------------------------------------
# Reduce.cuh: along rows or across them; ScanUtils.cuh; Sort.cu, TensorTopK.cu.

simple("reduction.short_rows", lambda x: x.sum(-1), 8, 128)
simple("reduction.long_rows", lambda x: x.sum(-1), 1024, 1 << 18)
simple("reduction.across", lambda x: x.sum(0), 32, 4096)
simple("reduction.all", lambda x: x.sum(), 64, 4096)
simple("reduction.largest", lambda x: x.amax(-1), 64, 16384)
simple("reduction.argmax_rows", lambda x: x.argmax(-1), 64, 16384)
simple("reduction.argmax_across", lambda x: x.argmax(0), 64, 4096)
simple("reduction.moments", lambda x: torch.var_mean(x, -1), 64, 16384,
       dtypes=(FULL,))
simple("reduction.norm", lambda x: torch.linalg.vector_norm(x), 64, 4096)
simple("reduction.product", lambda x: x.prod(-1), 64, 4096, dtypes=(FULL,))


@case("reduction.middle")
def middle(p):
    a, b = p.size(16, 512), p.size(16, 512)
    x = p.tensor(p.rows(a * b), a, b)
    return lambda: x.mean(1)


simple("scan.along", lambda x: x.cumsum(-1), 128, 32768, elements=(1 << 17,
                                                                   1 << 25))
simple("scan.across", lambda x: x.cumsum(0), 64, 4096, elements=(1 << 17,
                                                                 1 << 25))
simple("scan.product", lambda x: x.cumprod(-1), 128, 32768,
       dtypes=(FULL,), elements=(1 << 17, 1 << 25))
simple("order.sort_short", lambda x: x.sort(-1), 32, 1024, elements=FEW)
simple("order.sort_long", lambda x: x.sort(-1), 8192, 1 << 18, elements=FEW)
simple("order.largest_few", lambda x: x.topk(8, -1), 256, 65536,
       elements=FEW)


# ---- windows ---------------------------------------------------------------

def windows(name, function, **more):
    @case(name, dtypes=(FULL, HALF))
    def make(p):
        return both(function, p.images(**more))


windows("window.largest", lambda x: F.max_pool2d(x, 3, 2, 1))
windows("window.mean", lambda x: F.avg_pool2d(x, 3, 2, 1))
windows("window.mean_wide", lambda x: F.avg_pool2d(x, 11), side=(28, 256))
windows("window.adaptive", lambda x: F.adaptive_avg_pool2d(x, 7),
        side=(14, 56))
windows("window.global", lambda x: F.adaptive_avg_pool2d(x, 1))


@case("window.largest_channels_last", dtypes=(FULL, HALF))
def window_last(p):
    return both(lambda x: F.max_pool2d(x, 3, 2, 1), p.images().contiguous(
        memory_format=torch.channels_last))


def volumes(name, function):
    @case(name, dtypes=(FULL,))
    def make(p):
        c, s = p.size(8, 64, 8), p.size(12, 48)
        return both(function, p.tensor(p.rows(c * s**3), c, s, s, s))


volumes("window.largest_volume", lambda x: F.max_pool3d(x, 3))
volumes("window.mean_volume", lambda x: F.avg_pool3d(x, 3))


@case("window.row", dtypes=(FULL, HALF))
def window_row(p):
    c, length = p.size(16, 128, 8), p.size(256, 8192)
    return both(lambda x: F.avg_pool1d(x, 8),
                p.tensor(p.rows(c * length), c, length))


windows("window.nearest", lambda x: F.interpolate(x, scale_factor=2),
        elements=(1 << 17, 1 << 24))
windows("window.bilinear", lambda x: F.interpolate(
    x, scale_factor=2, mode="bilinear"), elements=(1 << 17, 1 << 24))


# ---- look-ups --------------------------------------------------------------
# Indexing.cu, IndexKernel.cu, ScatterGatherKernel.cu, EmbeddingBag.cu,
# EmbeddingBackwardKernel.cu.

def table(p, low=16, high=1024):
    cols = p.size(low, high, 8)
    return p.tensor(p.many(1 << 12, 1 << 18), cols), p.many(1 << 12, 1 << 17)


@case("look_up.rows")
def look_up_rows(p):
    weight, n = table(p)
    ids = p.ids(n, below=weight.shape[0])
    return both(lambda w: F.embedding(ids, w), weight)


@case("look_up.repeated")
def look_up_repeated(p):
    weight, n = table(p)
    ids = p.ids(n, below=16)
    return both(lambda w: F.embedding(ids, w), weight)


def bags(p, mode):
    weight, n = table(p, 16, 256)
    each = p.size(1, 64)
    ids = p.ids(max(n // each, 1), each, below=weight.shape[0])
    return both(lambda w: F.embedding_bag(ids, w, mode=mode), weight)


@case("look_up.bags", dtypes=(FULL,))
def look_up_bags(p):
    return bags(p, "sum")


@case("look_up.mean_bags", dtypes=(FULL,))
def look_up_mean_bags(p):
    return bags(p, "mean")


@case("look_up.select")
def look_up_select(p):
    x, n = table(p)
    ids = p.ids(n, below=x.shape[0])
    return lambda: x.index_select(0, ids)


@case("look_up.columns")
def look_up_columns(p):
    x = p.matrix(64, 4096)
    ids = p.ids(max(x.shape[1] // 2, 1), below=x.shape[1])
    return lambda: x.index_select(1, ids)


@case("look_up.index")
def look_up_index(p):
    x, n = table(p)
    ids = p.ids(n, below=x.shape[0])
    return lambda: x[ids]


@case("look_up.gather")
def look_up_gather(p):
    x = p.matrix(64, 4096, elements=(1 << 17, 1 << 24))
    ids = p.ids(*x.shape, below=x.shape[1])
    return lambda: x.gather(1, ids)


@case("look_up.scatter", dtypes=(FULL,))
def look_up_scatter(p):
    x = p.matrix(64, 4096, elements=(1 << 17, 1 << 24))
    ids, target = p.ids(*x.shape, below=x.shape[1]), p.tensor(*x.shape)
    return lambda: target.scatter_add_(1, ids, x)


@case("look_up.add_rows", dtypes=(FULL,))
def look_up_add(p):
    target, n = table(p)
    ids = p.ids(n, below=target.shape[0])
    x = p.tensor(n, target.shape[1])
    return lambda: target.index_add_(0, ids, x)


@case("look_up.put", dtypes=(FULL,))
def look_up_put(p):
    target, n = table(p)
    ids = p.ids(n, below=target.shape[0])
    x = p.tensor(n, target.shape[1])
    return lambda: target.index_put_((ids,), x, accumulate=True)


# ---- losses ----------------------------------------------------------------

def classes(name, low, high):
    @case(name, dtypes=(FULL, HALF))
    def make(p):
        x = p.matrix(low, high, elements=(1 << 17, 1 << 25))
        labels = p.ids(x.shape[0], below=x.shape[1])
        return both(lambda x: F.cross_entropy(x, labels), x)


classes("loss.few_classes", 8, 1000)
classes("loss.many_classes", 16384, 1 << 17)


@case("loss.of_pictures", dtypes=(FULL,))
def loss_pictures(p):
    x = p.images(channels=(4, 32), side=(32, 256), elements=(1 << 17, 1 << 24))
    n, c, h, w = x.shape
    labels = p.ids(n, h, w, below=c)
    return both(lambda x: F.cross_entropy(x, labels), x)


def losses(name, function):
    @case(name, dtypes=(FULL,))
    def make(p):
        x = p.matrix(64, 4096)
        y = p.positive(*x.shape).clamp_(0.0, 1.0)
        return both(lambda x: function(x, y), x)


losses("loss.squares", F.mse_loss)
losses("loss.smooth", F.smooth_l1_loss)
losses("loss.logits", F.binary_cross_entropy_with_logits)
losses("loss.divergence", lambda x, y: F.kl_div(x, y, reduction="batchmean"))


# ---- optimizers ------------------------------------------------------------
# multi_tensor_apply: up to 110 tensors a kernel, in pieces of 65536 elements.

def optimizer(name, kind, tensors, low, high, **settings):
    @case(name, dtypes=(FULL,))
    def make(p):
        count = p.size(*tensors)
        weights = [nn.Parameter(p.tensor(p.many(low, high)))
                   for _ in range(count)]
        for w in weights:
            w.grad = torch.zeros_like(w)
        return kind(weights, lr=1e-6, **settings).step


MANY, LARGE = (64, 512), (2, 16)
optimizer("optimizer.adamw_small", torch.optim.AdamW, MANY, 64, 65536,
          foreach=True)
optimizer("optimizer.adamw_large", torch.optim.AdamW, LARGE, 1 << 20, 1 << 23,
          foreach=True)
optimizer("optimizer.adamw_fused", torch.optim.AdamW, LARGE, 1 << 20, 1 << 23,
          fused=True)
optimizer("optimizer.sgd_small", torch.optim.SGD, MANY, 64, 65536,
          foreach=True, momentum=0.9)
optimizer("optimizer.sgd_large", torch.optim.SGD, LARGE, 1 << 20, 1 << 23,
          foreach=True, momentum=0.9)


@case("optimizer.clip", dtypes=(FULL,))
def clip(p):
    weights = [nn.Parameter(p.tensor(p.many(1 << 10, 1 << 18)))
               for _ in range(p.size(16, 128))]
    for w in weights:
        w.grad = torch.zeros_like(w)
    return lambda: nn.utils.clip_grad_norm_(weights, 1.0, foreach=True)


# ---- recurrent layers ------------------------------------------------------

def recurrent(name, kind, **settings):
    @case(name, dtypes=(FULL, HALF))
    def make(p):
        width = p.long(64, 1024, 8)
        net = kind(width, width, p.pick(1, 2), **settings)
        net = net.to(p.tensor(1).device, p.dtype)
        x = p.tensor(p.long(8, 256), p.many(4, 128), width)
        return both(lambda x, *_: net(x)[0], x, *net.parameters())


recurrent("recurrent.lstm", nn.LSTM)
recurrent("recurrent.gru", nn.GRU)
recurrent("recurrent.tanh", nn.RNN)
recurrent("recurrent.both_ways", nn.LSTM, bidirectional=True)


# ---- attention -------------------------------------------------------------
# sdp_utils.cpp: flash for half precision and heads of up to 256; efficient with
# a mask, wider heads or in full precision; plain operators where asked for.

def attention(p, heads, lengths=(64, 2048), causal=False, masked=False,
              decode=False):
    length, width = p.long(*lengths, 8), p.pick(*heads)
    n, h = p.many(1, 16), p.size(2, 32)
    q = p.tensor(n, h, 1 if decode else length, width)
    k, v = (p.tensor(n, h, length, width) for _ in range(2))
    mask = p.tensor(n, 1, length, length) if masked else None
    run = F.scaled_dot_product_attention
    if decode:
        return lambda: run(q, k, v)
    return both(lambda q, k, v: run(q, k, v, mask, is_causal=causal), q, k, v)


@case("attention.flash", dtypes=(HALF, BF16))
def attention_flash(p):
    return attention(p, (32, 64, 80, 128))


@case("attention.flash_causal", dtypes=(HALF, BF16))
def attention_causal(p):
    return attention(p, (64, 128), causal=True)


@case("attention.flash_wide", dtypes=(HALF, BF16))
def attention_wide(p):
    return attention(p, (160, 192, 256))


@case("attention.flash_decode", dtypes=(HALF, BF16))
def attention_decode(p):
    return attention(p, (64, 128), lengths=(512, 16384), decode=True)


@case("attention.efficient", dtypes=(FULL,))
def attention_efficient(p):
    return attention(p, (32, 64, 128))


@case("attention.efficient_masked", dtypes=(HALF,))
def attention_masked(p):
    return attention(p, (64, 128), lengths=(64, 1024), masked=True)


@case("attention.efficient_wide")
def attention_efficient_wide(p):
    return attention(p, (320, 512), lengths=(64, 1024))


@case("attention.by_hand", dtypes=(HALF, FULL))
def attention_by_hand(p):
    length, width = p.long(64, 1024, 8), p.pick(64, 128)
    n, h = p.many(1, 16), p.size(2, 16)
    q, k, v = (p.tensor(n, h, length, width) for _ in range(3))
    mask = torch.ones_like(q[0, 0, :, :1]).expand(-1, length).tril() == 0
    return both(lambda q, k, v: (q @ k.transpose(-2, -1) / 8).masked_fill(
        mask, float("-inf")).softmax(-1) @ v, q, k, v)


def forced(name, backend, **more):
    @case(name, **more)
    def make(p):
        call = attention(p, (64, 128), lengths=(64, 1024),
                         causal=p.pick(False, True))

        def run():
            with nn.attention.sdpa_kernel(backend):
                call()
        return run


BACKENDS = nn.attention.SDPBackend
forced("attention.plain", BACKENDS.MATH)
forced("attention.efficient_half", BACKENDS.EFFICIENT_ATTENTION, dtypes=(HALF,),
       gpu=True)
forced("attention.cudnn", BACKENDS.CUDNN_ATTENTION, dtypes=(HALF, BF16),
       gpu=True)
