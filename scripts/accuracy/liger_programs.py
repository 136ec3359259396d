"""What stands beside Liger's kernels in its tables: the same in plain PyTorch.

Each `make_NAME(x, config)` is given the value that a table sweeps and its other
settings, and returns (forward, leaves): a function without arguments, and the
tensors whose gradients are asked for. It makes its tensors on the device that
is current. What is computed is what the documentation of PyTorch and of
Transformers says of these layers and losses; in which type follows from the
peak memory that the tables have beside the times.
"""

import torch
import torch.nn.functional as F
from torch import nn

TYPES = {"torch.bfloat16": torch.bfloat16, "torch.float32": torch.float32}
IGNORED = -100


def dtype_of(config):
    return TYPES[config.get("dtype", "torch.float32")]


def sizes(x, config, name, *wanted):
    """Settings by name, the swept one among them."""
    named = dict(config, **{name: x})
    return [int(named[w]) for w in wanted]


def leaf(*shape, dtype=torch.float32):
    return torch.randn(*shape, dtype=dtype).requires_grad_()


# ---- layers ----------------------------------------------------------------

def make_embedding(x, config):
    batch, tokens, width = (config[k] for k in "BTD")
    layer = nn.Embedding(int(x), width)
    ids = torch.randint(0, int(x), (batch, tokens))
    return lambda: layer(ids), []


def make_layer_norm(x, config):
    layer = nn.LayerNorm(int(x), eps=config["eps"])
    value = leaf(config["M"], int(x))
    return lambda: layer(value), [value]


def make_group_norm(x, config):
    channels = int(x)
    layer = nn.GroupNorm(channels // config["channels_per_group"], channels,
                         eps=config["eps"])
    value = leaf(config["M"], channels, config["H"])
    return lambda: layer(value), [value]


def make_relu_squared(x, config):
    value = leaf(config["M"], int(x), dtype=dtype_of(config))
    return lambda: torch.square(F.relu(value)), [value]


class Gated(nn.Module):
    """Two ways up, one of them activated, and one down."""

    def __init__(self, width, inner, dtype):
        super().__init__()
        self.gate = nn.Linear(width, inner, bias=False, dtype=dtype)
        self.up = nn.Linear(width, inner, bias=False, dtype=dtype)
        self.down = nn.Linear(inner, width, bias=False, dtype=dtype)

    def forward(self, value):
        return self.down(F.gelu(self.gate(value), approximate="tanh") *
                         self.up(value))


def make_geglu(x, config):
    dtype = dtype_of(config)
    layer = Gated(config["hidden_size"], config["intermediate_size"], dtype)
    value = leaf(config["bsz"], int(x), config["hidden_size"], dtype=dtype)
    return lambda: layer(value), [value]


make_tiled_geglu = make_geglu # what the tiled one is compared with


def make_megatron_swiglu(x, config):
    value = leaf(config["S"], config["B"], 2 * int(x), dtype=torch.bfloat16)

    def forward():
        gate, up = torch.chunk(value, 2, dim=-1)
        return F.silu(gate) * up
    return forward, [value]


def halves_turned(value):
    first, second = value.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def make_rope(x, config):
    tokens = int(x) if "seq_len" not in config else config["seq_len"]
    width = int(x) if "hidden_size" not in config else config["hidden_size"]
    heads, kv_heads = config["num_q_heads"], config["num_kv_heads"]
    size, dtype = width // heads, dtype_of(config)
    q = leaf(1, tokens, heads, size, dtype=dtype)
    k = leaf(1, tokens, kv_heads, size, dtype=dtype)
    cos, sin = (torch.randn(1, tokens, size, dtype=dtype) for _ in range(2))

    def forward():
        c, s = cos.unsqueeze(1), sin.unsqueeze(1)
        return tuple(v * c + halves_turned(v) * s for v in
                     (q.transpose(1, 2), k.transpose(1, 2)))
    return forward, [q, k]


class Experts(nn.Module):
    """One expert after the other, each for the tokens that chose it."""

    def __init__(self, count, width, inner, dtype):
        super().__init__()
        self.up = nn.Parameter(torch.randn(count, 2 * inner, width,
                                           dtype=dtype))
        self.down = nn.Parameter(torch.randn(count, width, inner, dtype=dtype))

    def forward(self, value, chosen, weights):
        count, tokens = len(self.up), len(value)
        total = torch.zeros_like(value)
        with torch.no_grad():
            mask = F.one_hot(chosen, num_classes=count).permute(2, 1, 0)
            torch.greater(mask.sum(dim=(-1, -2)), 0)
        each = max(tokens * chosen.shape[1] // count, 1)
        for expert in range(count):
            torch.greater(mask[expert], 0)
            # as many tokens an expert as on average
            where = torch.zeros(each, dtype=torch.int64)
            place = torch.zeros(each, dtype=torch.int64)
            gate, up = F.linear(value[where], self.up[expert]).chunk(2, dim=-1)
            result = F.linear(F.silu(gate) * up, self.down[expert])
            result = result * weights[where, place, None]
            total.index_add_(0, where, result)
        return total


def make_fused_moe(x, config):
    name = config["sweep_dim"]
    tokens, count, width, inner, kept = sizes(
        x, config, name, "T", "E", "H", "intermediate_dim", "K")
    dtype = dtype_of(config)
    layer = Experts(count, width, inner, dtype)
    value = leaf(tokens, width, dtype=dtype)
    chosen = torch.randint(0, count, (tokens, kept))
    weights = torch.rand(tokens, kept, dtype=dtype)
    return lambda: layer(value, chosen, weights), [value]


# ---- losses of logits ------------------------------------------------------

def make_cross_entropy(x, config):
    rows = config["B"] * config["T"]
    value = leaf(rows, int(x))
    target = torch.randint(0, int(x), (rows,))
    return lambda: F.cross_entropy(value, target), [value]


def make_tvd(x, config):
    rows = config["B"] * config["T"]
    value = leaf(rows, int(x)).softmax(-1)
    target = torch.randn(rows, int(x)).softmax(-1)
    # Both stand outside of what is timed; the first keeps its softmax, through
    # which the backward pass goes.
    return lambda: (torch.abs(value - target) / 2).sum() / rows, [value]


# ---- losses with the product that makes the logits -------------------------

def head(width, words, dtype, bias=False):
    return nn.Linear(width, words, bias=bias, dtype=dtype)


def make_fused_linear_cross_entropy(x, config):
    dtype, words = dtype_of(config), config["V"]
    value = leaf(int(x), config["H"], dtype=dtype)
    target = torch.randint(0, words, (int(x),))
    lin = head(config["H"], words, dtype)
    return lambda: F.cross_entropy(lin(value), target), [value]


def divergence(log_q, log_p, reduction):
    """Of Jensen and Shannon, of two logarithms of probabilities: its halves."""
    middle = torch.lerp(torch.exp(log_q), torch.exp(log_p), 0.5)
    return [F.kl_div(torch.log(middle), log, reduction=reduction,
                     log_target=True) for log in (log_p, log_q)]


def students(x, config):
    """Half as wide a student as its teacher: values and heads of both.

    Both heads take gradients: the peak memory has those of the teacher.
    """
    dtype, words, width = dtype_of(config), config["V"], config["H"]
    return (leaf(int(x), width // 2, dtype=dtype),
            torch.randn(int(x), width, dtype=dtype),
            head(width // 2, words, dtype), head(width, words, dtype),
            torch.randint(0, words, (int(x),)))


def make_fused_linear_jsd(x, config):
    value, taught, lin, teacher, _ = students(x, config)

    def forward():
        logits, goal = lin(value).float(), teacher(taught).float()
        log_q = torch.log_softmax(logits / 1.0, dim=-1)
        log_p = torch.log_softmax(goal / 1.0, dim=-1)
        each = divergence(log_q, log_p, "none")
        rows = 0.5 * each[0].sum(dim=-1) + 0.5 * each[1].sum(dim=-1)
        return (rows / log_q.shape[0]).sum()
    return forward, [value]


def make_distill_jsd_loss(x, config):
    value, taught, lin, teacher, target = students(x, config)
    soft, hard = config["weight_soft_loss"], config["weight_hard_loss"]

    def forward():
        logits, goal = lin(value).float(), teacher(taught).float()
        loss = F.cross_entropy(logits, target)
        each = divergence(F.log_softmax(logits / 1.0, dim=-1),
                          F.log_softmax(goal / 1.0, dim=-1), "batchmean")
        return hard * loss + soft * torch.lerp(each[0], each[1], 0.5)
    return forward, [value]


def token_logs(logits, target):
    """The logarithm of the probability of each token that was said."""
    kept = target != IGNORED
    target = torch.where(kept, target, 0)
    logs = torch.gather(logits.log_softmax(-1), 2,
                        target.unsqueeze(2)).squeeze(2)
    return logs, kept


def preferences(x, config, bias=False):
    dtype, words = dtype_of(config), config["V"]
    batch, tokens, width = int(x), config["T"], config["H"]
    value = leaf(batch, tokens, width, dtype=dtype)
    target = torch.randint(0, words, (batch, tokens))
    return value, target, head(width, words, dtype, bias)


def said(lin, value):
    """Logits, the bias added by an operator of its own."""
    logits = value @ lin.weight.t()
    return logits if lin.bias is None else logits + lin.bias


def paired(x, config, rest):
    """Chosen and rejected answers of one batch; `rest` is the loss.

    Logits became fp32 in a later version: rows of 4,096 tokens hold 7 bytes of
    each at their peak, those of 1,024 tokens 14.
    """
    value, target, lin = preferences(x, config)
    half = int(x) // 2
    kind = torch.float32 if config["T"] < 4096 else value.dtype

    def forward():
        logits = said(lin, value).to(kind)
        likely = F.cross_entropy(
            logits[:half].reshape(-1, logits.shape[-1]),
            target[:half].reshape(-1))
        logs, kept = token_logs(logits, target)
        with torch.no_grad():
            logits[:half].mean(), logits[half:].mean()
        return rest(likely, logs, kept, half)
    return forward, [value]


def make_fused_linear_orpo_loss(x, config):
    def rest(likely, logs, kept, half):
        mean = (logs * kept).sum(-1) / kept.sum(-1)
        good, bad = mean[:half], mean[half:]
        odds = (good - bad) - (torch.log1p(-torch.exp(good)) -
                               torch.log1p(-torch.exp(bad)))
        return likely - (0.1 * F.logsigmoid(odds)).mean()
    return paired(x, config, rest)


def make_fused_linear_cpo_loss(x, config):
    def rest(likely, logs, kept, half):
        total = (logs * kept).sum(-1)
        margin = 0.1 * (total[:half] - total[half:])
        return likely - F.logsigmoid(margin).mean()
    return paired(x, config, rest)


def make_kto_loss(x, config):
    value, target, lin = preferences(x, config, config["bias"])
    before, _, old = preferences(x, config, config["bias"])
    half = int(x) // 2

    def forward():
        logits = said(lin, value).float()
        logs, kept = token_logs(logits, target)
        with torch.no_grad():
            then, also = token_logs(said(old, before).float(), target)
            logits[:half].mean(), logits[half:].mean()
        ratio = (logs * kept).sum(-1) - (then * also).sum(-1)
        return (1 - torch.cat((F.sigmoid(0.1 * ratio[:half]),
                               F.sigmoid(-0.1 * ratio[half:])))).sum()
    return forward, [value]


def make_fused_linear_grpo_loss_sequence(x, config):
    value, target, lin = preferences(x, config)
    before, _, old = preferences(x, config)
    advantage = torch.randn(int(x))
    mask = torch.ones(int(x), config["T"])

    def logs(lin, value):
        logits = said(lin, value) / 1.0
        every = F.log_softmax(logits.float(), dim=-1)
        return every.gather(-1, target.unsqueeze(-1)).squeeze(-1)

    def forward():
        now = logs(lin, value)
        with torch.no_grad():
            then = logs(old, before)
        ratio = torch.exp(((now - now.detach()) * mask).sum(-1, True) /
                          mask.sum(-1, True))
        loss = -torch.min(ratio * advantage[:, None], torch.clamp(
            ratio, 0.8, 1.2) * advantage[:, None])
        apart = torch.exp(then - now) - (then - now) - 1
        return ((loss + 0.04 * apart) * mask).sum() / mask.sum()
    return forward, [value]


# ---- by the names of the tables --------------------------------------------

PROVIDERS = ("huggingface", "torch") # eager, one operator after the other
MAKERS = {name[5:]: made for name, made in globals().items()
          if name.startswith("make_")}
