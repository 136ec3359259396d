"""What programs of one operator hold, by name: PROGRAMS.

Each entry is a function without arguments that returns (model, inputs) for a
forward pass, or with a loss for a training step, as capture.py's --model wants
it. `--model scripts/capture/operator_programs.py:NAME` takes one of them,
capture_programs.py all. The environment's PROGRAM_BATCH makes sizes larger.
"""

import os
import sys

import torch
import torch.nn.functional as F
from torch import nn

BATCH = int(os.environ.get("PROGRAM_BATCH", "4"))
PROGRAMS = {}


class Of(nn.Module):
    """A function as a model; `parts` are its modules."""

    def __init__(self, function, *parts):
        super().__init__()
        self.function, self.parts = function, nn.ModuleList(parts)

    def forward(self, *inputs):
        return self.function(*inputs, *self.parts)


def f(*shape):
    return torch.randn(*shape)


def i(below, *shape):
    return torch.randint(below, shape)


def program(name, function, inputs, *parts, loss=None):
    """`inputs` and `parts` are made when the program is."""
    def build():
        model = Of(function, *(make() for make in parts))
        made = inputs()
        made = made if isinstance(made, tuple) else (made,)
        return (model, made, loss) if loss else (model, made)
    build.__name__ = name
    PROGRAMS[name] = build


def programs(names, function, inputs):
    """One a word of `names`, which `function` takes first."""
    for name in names.split():
        program(name, lambda *x, n=name: function(n, *x), inputs)


def square_sum(y):
    return y.float().square().mean()


B = BATCH


def maps():
    return f(B, 32, 28, 28)


def rows():
    return f(B * 16, 500)


# ---- single elements and losses ---------------------------------------------

programs("relu leaky_relu sigmoid tanh softmax log_softmax gelu elu selu celu "
         "hardtanh hardsigmoid hardswish softplus softsign silu mish relu6 "
         "logsigmoid tanhshrink softshrink hardshrink threshold_ prelu_ glu "
         "rrelu gumbel_softmax softmin",
         lambda n, x: F.threshold(x, 0.1, 20) if n == "threshold_"
         else F.prelu(x, torch.ones(1, device=x.device)) if n == "prelu_"
         else getattr(F, n)(x, **({"dim": 1} if "soft" in n and (
             "max" in n or "min" in n) else {})), rows)
programs("abs exp log sqrt rsqrt sin cos erf floor ceil round sign reciprocal "
         "square neg expm1 log1p lgamma digamma isnan isfinite logical_not "
         "nan_to_num trunc frac atan asinh", lambda n, x: getattr(torch, n)(x), rows)
programs("add sub mul div maximum minimum pow atan2 hypot eq lt logical_and fmod "
         "remainder copysign logaddexp xlogy",
         lambda n, x, y: getattr(torch, n)(x, y), lambda: (rows(), rows()))
program("where", lambda x, y: torch.where(x > y, x, 0.5 * y),
        lambda: (rows(), rows()))
program("clamp", lambda x: torch.clamp(x, 0, 1), rows)
program("lerp", lambda x, y: torch.lerp(x, y, 0.3), lambda: (rows(), rows()))
program("addcmul", lambda x, y: torch.addcmul(x, x, y), lambda: (rows(), rows()))
program("bias_scale", lambda x, y: x * y + y, lambda: (maps(), f(32, 1, 1)))
programs("mse_loss l1_loss smooth_l1_loss huber_loss kl_div soft_margin_loss "
         "poisson_nll_loss hinge_embedding_loss cosine_similarity "
         "pairwise_distance binary_cross_entropy_with_logits",
         lambda n, x, y: getattr(F, n)(x, y), lambda: (rows(), rows()))
program("hinge_loss", lambda x, t: torch.mean(torch.clamp(1 - x * t, min=0)),
        lambda: (rows(), rows()))
program("binary_cross_entropy", lambda x, y: F.binary_cross_entropy(
    x.sigmoid(), y.sigmoid()), lambda: (rows(), rows()))
programs("cross_entropy nll_loss multi_margin_loss",
         lambda n, x, t: getattr(F, n)(x, t), lambda: (rows(), i(500, B * 16)))
program("multilabel_margin_loss", F.multilabel_margin_loss,
        lambda: (rows(), i(500, B * 16, 500)))
program("multilabel_soft_margin_loss", F.multilabel_soft_margin_loss,
        lambda: (rows(), rows()))
program("gaussian_nll_loss", lambda x, y: F.gaussian_nll_loss(
    x, y, torch.ones_like(x)), lambda: (rows(), rows()))
program("triplet_margin_loss", F.triplet_margin_loss,
        lambda: (rows(), rows(), rows()))
program("margin_ranking_loss", lambda x, y: F.margin_ranking_loss(
    x, y, x.sign()), lambda: (rows(), rows()))
program("cosine_embedding_loss", lambda x, y, t: F.cosine_embedding_loss(
    x, y, t), lambda: (rows(), rows(), torch.ones(B * 16)))
program("ctc_loss", lambda x, t: F.ctc_loss(
    x.log_softmax(2), t, torch.full((B,), 50), torch.full((B,), 10)),
    lambda: (f(50, B, 20), i(19, B, 10)))
program("cross_entropy_2d", F.cross_entropy,
        lambda: (f(B, 21, 28, 28), i(21, B, 28, 28)))
program("cross_entropy_smooth", lambda x, t: F.cross_entropy(
    x, t, label_smoothing=0.1), lambda: (rows(), i(500, B * 16)))

# ---- norms -------------------------------------------------------------------

program("batch_norm", lambda x, m: m(x), maps, lambda: nn.BatchNorm2d(32))
program("batch_norm_1d", lambda x, m: m(x), rows, lambda: nn.BatchNorm1d(500))
program("batch_norm_3d", lambda x, m: m(x), lambda: f(B, 8, 8, 14, 14),
        lambda: nn.BatchNorm3d(8))
program("instance_norm", lambda x, m: m(x), maps, lambda: nn.InstanceNorm2d(32))
program("group_norm", lambda x, m: m(x), maps, lambda: nn.GroupNorm(8, 32))
program("layer_norm", lambda x, m: m(x), rows, lambda: nn.LayerNorm(500))
program("layer_norm_maps", lambda x, m: m(x), maps,
        lambda: nn.LayerNorm([32, 28, 28]))
program("rms_norm", lambda x, m: m(x), rows, lambda: nn.RMSNorm(500))
program("rms_norm_by_hand", lambda x: x / torch.sqrt(
    x.pow(2).mean(1, keepdim=True) + 1e-5), maps)
program("frobenius_norm", lambda x: x / torch.norm(x, p="fro"), maps)
program("l1_norm", lambda x: x / x.abs().sum(1, keepdim=True), rows)
program("l2_norm", lambda x: x / torch.norm(x, p=2, dim=1, keepdim=True), rows)
program("normalize", F.normalize, rows)
program("local_response_norm", lambda x: F.local_response_norm(x, 5), maps)
program("weight_norm", lambda x, m: m(x), rows,
        lambda: nn.utils.parametrizations.weight_norm(nn.Linear(500, 64)))
program("spectral_norm", lambda x, m: m(x), rows,
        lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(500, 64)))
program("renorm", lambda x: torch.renorm(x, 2, 0, 1.0), rows)

# ---- reductions, scans, sorts ------------------------------------------------

programs("sum mean prod amax amin argmax argmin std var logsumexp any all "
         "count_nonzero nansum", lambda n, x: getattr(torch, n)(x, 1), rows)
programs("max min median mode kthvalue cummax cummin cumsum cumprod "
         "logcumsumexp sort argsort topk msort_ unique_consecutive_",
         lambda n, x: x.kthvalue(7, 1) if n == "kthvalue" else x.topk(5, 1)
         if n == "topk" else torch.msort(x) if n == "msort_"
         else torch.unique_consecutive(x) if n.startswith("unique")
         else getattr(torch, n)(x, 1), rows)
program("sum_of_columns", lambda x: (x.sum(0), x.mean((0, 1))), rows)
program("min_over_channels", lambda x: torch.min(x, 1)[0], maps)
program("argmax_over_channels", lambda x: x.argmax(1), maps)
program("mean_of_maps", lambda x: x.mean((2, 3), keepdim=True), maps)
program("sort_of_columns", lambda x: x.sort(0)[0], rows)
program("sort_flat", lambda x: x.flatten().sort()[0], rows)
program("topk_flat", lambda x: x.flatten().topk(100)[0], rows)
program("cumsum_reverse", lambda x: x.flip(1).cumsum(1).flip(1), rows)
program("cumsum_exclusive", lambda x: torch.cat((torch.zeros_like(
    x[:, :1]), x), 1)[:, :-1].cumsum(1), rows)
program("cumsum_masked", lambda x: (x * (x > 0)).cumsum(1), rows)
program("cumsum_of_columns", lambda x: x.cumsum(0), rows)
program("cumsum_flat", lambda x: x.flatten().cumsum(0), rows)
program("var_mean", lambda x: torch.var_mean(x, 1), rows)
program("aminmax", lambda x: torch.aminmax(x), rows)
program("quantile", lambda x: x.quantile(0.3, 1), rows)
program("bincount", lambda x: torch.bincount(x, minlength=100),
        lambda: i(100, B * 4096))
program("histc", lambda x: torch.histc(x, 64, -3, 3), rows)
program("bucketize", lambda x, e: torch.bucketize(x, e),
        lambda: (rows(), torch.linspace(-3, 3, 65)))
program("searchsorted", lambda e, x: torch.searchsorted(e, x),
        lambda: (torch.linspace(-3, 3, 65), rows()))
program("isin", lambda x, y: torch.isin(x, y), lambda: (i(99, B, 400), i(99, 8)))
program("multinomial", lambda x: torch.multinomial(x.softmax(1), 4), rows)
program("cdist", lambda x, y: torch.cdist(x, y),
        lambda: (f(B, 100, 16), f(B, 120, 16)))
program("cdist_l1", lambda x, y: torch.cdist(x, y, p=1),
        lambda: (f(B, 100, 16), f(B, 120, 16)))
program("pdist", lambda x: F.pdist(x), lambda: f(B * 16, 32))
program("trapezoid", lambda x: torch.trapezoid(x, dim=1), rows)
program("diff", lambda x: torch.diff(x, dim=1), rows)

# ---- windows, resampling -----------------------------------------------------

programs("avg_pool1d max_pool1d", lambda n, x: getattr(F, n)(x, 4, 2),
         lambda: f(B, 32, 512))
programs("avg_pool2d max_pool2d", lambda n, x: getattr(F, n)(x, 3, 2), maps)
programs("avg_pool3d max_pool3d", lambda n, x: getattr(F, n)(x, 2),
         lambda: f(B, 8, 16, 16, 16))
programs("adaptive_avg_pool1d adaptive_max_pool1d",
         lambda n, x: getattr(F, n)(x, 16), lambda: f(B, 32, 500))
programs("adaptive_avg_pool2d adaptive_max_pool2d",
         lambda n, x: getattr(F, n)(x, 5), maps)
programs("adaptive_avg_pool3d adaptive_max_pool3d",
         lambda n, x: getattr(F, n)(x, 5), lambda: f(B, 8, 16, 16, 16))
program("global_avg_pool", lambda x: F.adaptive_avg_pool2d(x, 1), maps)
program("max_pool_dilated", lambda x: F.max_pool2d(x, 3, 1, 1, 2), maps)
program("max_unpool", lambda x: F.max_unpool2d(*F.max_pool2d(
    x, 2, return_indices=True), 2), maps)
program("lp_pool", lambda x: F.lp_pool2d(x.abs(), 2, 3), maps)
program("fractional_max_pool", lambda x: F.fractional_max_pool2d(
    x, 3, output_size=13), maps)
program("fractional_max_pool_3d", lambda x: F.fractional_max_pool3d(
    x, 2, output_size=9), lambda: f(B, 8, 16, 16, 16))
for how in "nearest bilinear bicubic area nearest-exact".split():
    program("interpolate_" + how.replace("-", "_"),
            lambda x, m=how: F.interpolate(x, scale_factor=2, mode=m), maps)
program("interpolate_down", lambda x: F.interpolate(
    x, size=(10, 10), mode="bilinear", antialias=True), maps)
program("interpolate_1d", lambda x: F.interpolate(
    x, scale_factor=2, mode="linear"), lambda: f(B, 16, 400))
program("interpolate_3d", lambda x: F.interpolate(
    x, scale_factor=2, mode="trilinear"), lambda: f(B, 4, 8, 12, 12))
program("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), maps)
program("pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2), maps)
program("channel_shuffle", lambda x: F.channel_shuffle(x, 4), maps)
program("unfold", lambda x: F.unfold(x, 3), maps)
program("fold", lambda x: F.fold(x, (30, 30), 3), lambda: f(B, 72, 784))
program("grid_sample", lambda x, g: F.grid_sample(x, g),
        lambda: (maps(), f(B, 20, 20, 2)))
program("grid_sample_3d", lambda x, g: F.grid_sample(x, g),
        lambda: (f(B, 4, 8, 12, 12), f(B, 6, 9, 9, 3)))
program("affine_grid", lambda t, x: F.grid_sample(x, F.affine_grid(
    t, x.shape)), lambda: (f(B, 2, 3), maps()))
for how in "constant reflect replicate circular".split():
    program("pad_" + how, lambda x, m=how: F.pad(x, (1, 2, 1, 1), m), maps)
program("pad_3d", lambda x: F.pad(x, (1, 1, 1, 1, 1, 1), "replicate"),
        lambda: f(B, 4, 8, 12, 12))

# ---- indices, layouts --------------------------------------------------------

program("gather", lambda x, n: x.gather(1, n),
        lambda: (rows(), i(500, B * 16, 100)))
program("index_select", lambda x, n: x.index_select(1, n),
        lambda: (rows(), i(500, 100)))
program("index", lambda x, n: x[:, n], lambda: (rows(), i(500, 100)))
program("scatter", lambda x, n: x.scatter(1, n, 1.0),
        lambda: (rows(), i(500, B * 16, 100)))
program("scatter_add", lambda x, n, y: x.scatter_add(1, n, y), lambda: (
    rows(), i(500, B * 16, 100), f(B * 16, 100)))
program("scatter_reduce", lambda x, n, y: x.scatter_reduce(1, n, y, "amax"),
        lambda: (rows(), i(500, B * 16, 100), f(B * 16, 100)))
program("index_add", lambda x, n, y: x.index_add(0, n, y),
        lambda: (rows(), i(B * 16, 9), f(9, 500)))
program("index_copy", lambda x, n, y: x.index_copy(0, n, y),
        lambda: (rows(), i(B * 16, 9), f(9, 500)))
program("index_fill", lambda x, n: x.index_fill(0, n, 0.0),
        lambda: (rows(), i(B * 16, 9)))
program("index_put", lambda x, n, y: x.index_put((n,), y),
        lambda: (rows(), i(B * 16, 9), f(9, 500)))
program("index_put_add", lambda x, n, y: x.index_put((n,), y, True),
        lambda: (rows(), i(B * 16, 9), f(9, 500)))
program("take_along_dim", lambda x, n: x.take_along_dim(n, 1),
        lambda: (rows(), i(500, B * 16, 100)))
program("masked_fill", lambda x: x.masked_fill(x < 0, 0.0), rows)
program("one_hot", lambda n: F.one_hot(n, 100), lambda: i(100, B * 64))
program("embedding", lambda n, m: m(n), lambda: i(1000, B, 50),
        lambda: nn.Embedding(1000, 64), loss=square_sum)
for how in "sum mean max".split():
    program("embedding_bag_" + how, lambda n, m: m(n), lambda: i(1000, B, 50),
            lambda m=how: nn.EmbeddingBag(1000, 64, mode=m),
            loss=square_sum if how == "sum" else None)
programs("tril triu", lambda n, x: getattr(torch, n)(x), lambda: f(B, 64, 64))
program("diagonal", lambda x: (torch.diag_embed(x), torch.diagonal(
    torch.diag_embed(x), dim1=1, dim2=2).sum()), rows)
program("roll", lambda x: x.roll((3, 5), (2, 3)), maps)
program("flip", lambda x: x.flip(2, 3), maps)
program("rot90", lambda x: x.rot90(1, (2, 3)), maps)
program("repeat", lambda x: x.repeat(2, 2), rows)
program("repeat_interleave", lambda x: x.repeat_interleave(3, 1), rows)
program("tile_stack", lambda x: torch.stack((x.tile(2, 1), x.tile(2, 1))), rows)
program("transpose", lambda x: x.transpose(1, 3).contiguous(), maps)
program("channels_last", lambda x: x.contiguous(
    memory_format=torch.channels_last), maps)
program("cat", lambda x, y: torch.cat((x, y, x), 1), lambda: (maps(), maps()))
program("split", lambda x: [t.contiguous() for t in x.chunk(4, 1)], maps)
program("meshgrid", lambda x: torch.stack(torch.meshgrid(
    x, x, indexing="ij")), lambda: f(B * 64))
program("cast", lambda x: (x.half(), x.bfloat16(), x.double(), x.long()), rows)
program("random", lambda x: (torch.rand_like(x), torch.randn_like(x),
                             torch.bernoulli(x.sigmoid()), F.dropout(x)), rows)
program("made", lambda x: (torch.arange(500, device=x.device), torch.eye(
    64, device=x.device), torch.linspace(0, 1, 99, device=x.device),
    torch.full((9, 9), 2.0, device=x.device), torch.ones_like(x)), rows)
program("moe_by_where", lambda x, r, a, b: sum(
    w.unsqueeze(1) * e(x) for w, e in ((torch.where(
        r(x).argmax(1) == n, 1.0, 0.0), e) for n, e in enumerate((a, b)))),
    rows, lambda: nn.Linear(500, 2), lambda: nn.Linear(500, 64),
    lambda: nn.Linear(500, 64))


def routed(x, router, *experts):
    """Tokens to their experts and back, as many models write it."""
    weight, expert = router(x).softmax(1).topk(2, 1)
    y = torch.zeros(x.shape[0], 64, device=x.device)
    for n, e in enumerate(experts):
        token, slot = torch.where(expert == n)
        y.index_add_(0, token, e(x[token]) * weight[token, slot, None])
    return y


program("moe_by_nonzero", routed, rows, lambda: nn.Linear(500, 4),
        *[lambda: nn.Linear(500, 64)] * 4)

# ---- products ----------------------------------------------------------------

program("matmul_4d", torch.matmul, lambda: (f(B, 4, 60, 33), f(33, 17)))
program("matmul_batched", torch.bmm, lambda: (f(B, 64, 50), f(B, 50, 70)))
program("matmul_3d", torch.matmul, lambda: (f(B, 40, 70), f(70, 30)))
program("matmul_tall", lambda a: a.T @ a, lambda: f(B * 1024, 16))
program("matmul_transposed", lambda a, b: a.T @ b.T, lambda: (
    f(B * 96, 64), f(80, B * 96)))
program("matmul_diagonal", lambda d, a: torch.diag(d) @ a,
        lambda: (f(256), f(256, B * 64)))
program("matmul_triangular", lambda a, b: torch.tril(a.tril() @ b.tril()),
        lambda: (f(256, 256), f(256, 256)))
program("matvec", torch.mv, lambda: (f(B * 64, 500), f(500)))
program("dot", torch.dot, lambda: (f(B * 4096), f(B * 4096)))
program("outer", torch.outer, lambda: (f(B * 64), f(500)))
program("einsum", lambda a, b: torch.einsum("bijl,lk->bijk", a, b),
        lambda: (f(B, 8, 9, 32), f(32, 48)))
program("einsum_heads", lambda a, b: torch.einsum("bhid,bhjd->bhij", a, b),
        lambda: (f(B, 4, 33, 16), f(B, 4, 29, 16)))
program("addmm", torch.addmm, lambda: (f(64), f(B * 16, 80), f(80, 64)))
program("baddbmm", torch.baddbmm, lambda: (f(B, 9, 7), f(B, 9, 8), f(B, 8, 7)))
program("bilinear", lambda x, y, m: m(x, y), lambda: (f(B * 8, 20), f(B * 8, 30)),
        lambda: nn.Bilinear(20, 30, 10))
program("kron", torch.kron, lambda: (f(20, 20), f(B * 4, 12)))
program("cross", lambda x, y: torch.linalg.cross(x, y),
        lambda: (f(B * 64, 3), f(B * 64, 3)))
programs("cholesky qr svd eigh inv det slogdet pinv eigvalsh matrix_exp lu_factor",
         lambda n, x: getattr(torch.linalg, n)(
             x @ x.mT + 9 * torch.eye(32, device=x.device)),
         lambda: f(B, 32, 32))
program("solve", torch.linalg.solve, lambda: (f(B, 32, 32), f(B, 32, 8)))
program("solve_triangular", lambda a, b: torch.linalg.solve_triangular(
    a, b, upper=True), lambda: (f(B, 32, 32), f(B, 32, 8)))
program("lstsq", lambda a, b: torch.linalg.lstsq(a, b)[0],
        lambda: (f(B, 40, 32), f(B, 40, 8)))
program("matrix_power", lambda x: torch.linalg.matrix_power(x, 3),
        lambda: f(B, 32, 32))
programs("fft rfft ifft fft2 rfft2 fftn", lambda n, x: getattr(torch.fft, n)(x),
         lambda: f(B, 8, 64, 128))
program("irfft", lambda x: torch.fft.irfft(torch.fft.rfft(x)), rows)
program("stft", lambda x: torch.stft(x, 256, window=torch.ones(
    256, device=x.device), return_complex=True), lambda: f(B, 8000))

# ---- convolutions --------------------------------------------------------------


def conv(name, make, inputs, loss=square_sum):
    program(name, lambda x, m: m(x), inputs, make, loss=loss)


SIGNAL, CUBE = (lambda: f(B, 16, 256)), (lambda: f(B, 8, 10, 12, 14))
for n, data, taps in ((1, SIGNAL, 3), (2, maps, (3, 5)), (3, CUBE, (3, 5, 3))):
    c = {1: 16, 2: 32, 3: 8}[n]
    layer = getattr(nn, f"Conv{n}d")
    turned = getattr(nn, f"ConvTranspose{n}d")
    conv(f"conv{n}d", lambda m=layer, c=c, t=taps: m(c, 2 * c, t), data)
    conv(f"conv{n}d_strided_dilated", lambda m=layer, c=c: m(
        c, 2 * c, 3, stride=2, dilation=2, padding=2), data)
    conv(f"conv{n}d_grouped", lambda m=layer, c=c: m(c, 2 * c, 3, groups=4), data)
    conv(f"conv{n}d_depthwise", lambda m=layer, c=c, t=taps: m(
        c, c, t, groups=c), data)
    conv(f"conv{n}d_pointwise", lambda m=layer, c=c: m(c, 3 * c, 1), data)
    conv(f"conv{n}d_transposed", lambda m=turned, c=c, t=taps: m(
        c, 12, t, stride=2), data)
    conv(f"conv{n}d_transposed_grouped", lambda m=turned, c=c: m(
        c, 16, 3, groups=4, dilation=2), data)

# ---- attention, recurrent layers, scans ----------------------------------------


def heads(length=48, size=32):
    return lambda: tuple(f(B, 4, length, size) for _ in range(3))


program("sdpa", F.scaled_dot_product_attention, heads())
program("sdpa_causal", lambda q, k, v: F.scaled_dot_product_attention(
    q, k, v, is_causal=True), heads())
program("sdpa_mask", lambda q, k, v, m: F.scaled_dot_product_attention(
    q, k, v, attn_mask=m), lambda: (*heads()(), f(B, 1, 48, 48)))
program("sdpa_half", lambda q, k, v: F.scaled_dot_product_attention(
    q.half(), k.half(), v.half()), heads())
program("sdpa_large_heads", F.scaled_dot_product_attention, heads(40, 512))
program("sdpa_grouped", lambda q, k, v: F.scaled_dot_product_attention(
    q, k[:, :2], v[:, :2], enable_gqa=True), heads())
program("attention_relu", lambda q, k, v: F.relu(
    (q @ k.mT * 0.2).masked_fill(torch.ones(48, 48, device=q.device).tril()
                                 == 0, float("-inf"))) @ v, heads())
program("attention_linear", lambda q, k, v: (F.elu(q) + 1) @ (
    (F.elu(k) + 1).mT @ v), heads())
program("multihead_attention", lambda x, m: m(x, x, x)[0], lambda: f(48, B, 64),
        lambda: nn.MultiheadAttention(64, 4), loss=square_sum)
program("encoder_layer", lambda x, m: m(x), lambda: f(B, 48, 64),
        lambda: nn.TransformerEncoderLayer(64, 4, 128, batch_first=True),
        loss=square_sum)
for name, layer in (("rnn", nn.RNN), ("lstm", nn.LSTM), ("gru", nn.GRU)):
    conv(name, lambda m=layer: m(32, 48, 2, batch_first=True),
         lambda: f(B, 20, 32), loss=lambda y: y[0].square().mean())
    conv(name + "_both_ways", lambda m=layer: m(32, 48, bidirectional=True),
         lambda: f(20, B, 32), loss=lambda y: y[0].square().mean())


def scan(a, b, c, x):
    """A state space by chunks: decays, products within and between."""
    a, b, c, x = (t.unflatten(1, (4, -1)) for t in (a, b, c, x))
    total = a.cumsum(2)
    n = a.shape[2]
    decay = (total.unsqueeze(3) - total.unsqueeze(2)).masked_fill(
        ~torch.ones(n, n, dtype=torch.bool, device=a.device).tril(),
        float("-inf")).exp()
    inside = torch.einsum("bcln,bcsn,bcls,bcsp->bclp", c, b, decay, x)
    states = torch.einsum("bcln,bcl,bclp->bcpn", b, (
        total[:, :, -1:] - total).exp(), x)
    return inside + torch.einsum("bcln,bcpn,bcl->bclp", c, states, total.exp())


program("scan_by_chunks", scan, lambda: (
    f(B, 64), f(B, 64, 16), f(B, 64, 16), f(B, 64, 32)))


def recurrence(a, x):
    """The same, step by step."""
    h, out = torch.zeros_like(x[:, 0]), []
    for n in range(8):
        h = a[:, n].exp() * h + x[:, n]
        out.append(h)
    return torch.stack(out, 1)


program("scan_by_steps", recurrence, lambda: (f(B, 8, 64), f(B, 8, 64)))


def __getattr__(name):
    """A program as a function of this module."""
    if name in PROGRAMS:
        return PROGRAMS[name]
    raise AttributeError(f"no program '{name}'")


if __name__ == "__main__":
    sys.stdout.write("\n".join(PROGRAMS) + "\n")
