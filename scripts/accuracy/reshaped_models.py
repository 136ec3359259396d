"""Small models at two depths and two widths, for scripts/accuracy/reshaped.py.

Each NAME has functions without arguments that scripts/capture.py can take:
NAME_base, NAME_deep (more layers) and NAME_wide (another width, as many heads).
A _ckpt before those checkpoints every block, _ddp wraps the model as one rank
does, _fsdp as the first of two (PyTorch's fake backend sends nothing).
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

BATCH, TOKENS, VOCAB, HEADS = 3, 40, 320, 4
DEPTHS, WIDTHS = (4, 6), (64, 128)


class Attention(nn.Module):
    """Of `x` to itself, or with `source` to that."""

    def __init__(self, width, heads=HEADS, kv_heads=None, causal=False, bias=True):
        super().__init__()
        self.heads, self.kv_heads, self.causal = heads, kv_heads or heads, causal
        self.size = width // heads
        self.q = nn.Linear(width, width, bias=bias)
        self.k = nn.Linear(width, self.kv_heads * self.size, bias=bias)
        self.v = nn.Linear(width, self.kv_heads * self.size, bias=bias)
        self.out = nn.Linear(width, width, bias=bias)

    def forward(self, x, source=None, turn=None, mask=None):
        source = x if source is None else source
        q, k, v = (t.unflatten(2, (-1, self.size)).transpose(1, 2) for t in
                   (self.q(x), self.k(source), self.v(source)))
        if turn:
            q, k = rotate(q, *turn), rotate(k, *turn)
        if self.kv_heads < self.heads:
            k, v = (t.repeat_interleave(self.heads // self.kv_heads, dim=1)
                    for t in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask,
                                           is_causal=self.causal and mask is None)
        return self.out(y.transpose(1, 2).flatten(2))


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-b, a), dim=-1) * sin


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5)


class MLP(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class SwiGLU(nn.Module):
    def __init__(self, width):
        super().__init__()
        ffn = 5 * width // 2
        self.gate = nn.Linear(width, ffn, bias=False)
        self.up = nn.Linear(width, ffn, bias=False)
        self.down = nn.Linear(ffn, width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Experts(nn.Module):
    """Every token through the best two of eight experts, all of them computed:
    which ones it takes is data, and no size may hang on data."""

    def __init__(self, width, experts=8):
        super().__init__()
        self.router = nn.Linear(width, experts, bias=False)
        self.up = nn.Parameter(torch.randn(experts, width, 2 * width) * 0.02)
        self.down = nn.Parameter(torch.randn(experts, 2 * width, width) * 0.02)

    def forward(self, x):
        flat = x.flatten(0, 1)
        weights, chosen = torch.topk(F.softmax(self.router(flat), dim=-1), 2)
        share = torch.zeros_like(self.router(flat)).scatter(1, chosen, weights)
        y = torch.bmm(F.silu(torch.bmm(flat.expand(8, -1, -1), self.up)), self.down)
        return (y * share.t().unsqueeze(2)).sum(0).view_as(x)


class Block(nn.Module):
    """Pre-norm, or post-norm as BERT has it."""

    def __init__(self, width, mlp, norm, post=False, cross=False, **attention):
        super().__init__()
        self.post = post
        self.attention, self.mlp = Attention(width, **attention), mlp(width)
        self.norm1, self.norm2 = norm(width), norm(width)
        self.cross = Attention(width, bias=attention.get("bias", True)) if cross else None
        self.norm3 = norm(width) if cross else None

    def forward(self, x, source=None, turn=None, mask=None):
        if self.post:
            x = self.norm1(x + self.attention(x))
            return self.norm2(x + self.mlp(x))
        x = x + self.attention(self.norm1(x), turn=turn, mask=mask)
        if self.cross is not None:
            x = x + self.cross(self.norm3(x), source)
        return x + self.mlp(self.norm2(x))


class Stack(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.blocks = nn.ModuleList(blocks)
        self.again = False # forward runs again in backward

    def forward(self, x, **more):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False, **more) if self.again \
                else block(x, **more)
        return x


class Tokens(nn.Module):
    """A decoder or encoder of tokens; its head is the table of embeddings."""

    def __init__(self, width, blocks, norm, positions=True, tied=True):
        super().__init__()
        self.word = nn.Embedding(VOCAB, width)
        self.position = nn.Embedding(2 * TOKENS, width) if positions else None
        self.blocks, self.norm = Stack(blocks), norm(width)
        self.head = nn.Linear(width, VOCAB, bias=False)
        if tied:
            self.head.weight = self.word.weight
        self.turned = 0 if positions else width // HEADS

    def forward(self, ids):
        x = self.word(ids)
        if self.position is not None:
            x = x + self.position(torch.arange(ids.shape[1]))
            return self.head(self.norm(self.blocks(x)))
        rates = 10000.0 ** (-torch.arange(0, self.turned, 2) / self.turned)
        angles = torch.outer(torch.arange(ids.shape[1]).float(), rates)
        angles = torch.cat((angles, angles), dim=-1)
        return self.head(self.norm(self.blocks(x, turn=(angles.cos(), angles.sin()))))


class ViT(nn.Module):
    def __init__(self, depth, width):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 8, 8)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.position = nn.Parameter(torch.zeros(1, 37, width))
        self.blocks = Stack(Block(width, MLP, nn.LayerNorm) for _ in range(depth))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), dim=1) + self.position
        return self.head(self.norm(self.blocks(x))[:, 0])


class T5(nn.Module):
    """Encoder and decoder of as many layers; positions are a bias of the heads,
    which all layers share."""

    def __init__(self, depth, width):
        super().__init__()
        self.word = nn.Embedding(VOCAB, width)
        self.bias = nn.Embedding(32, HEADS)
        def block(**more):
            return Block(width, MLP, RMSNorm, bias=False, **more)
        self.encoder = Stack(block() for _ in range(depth))
        self.decoder = Stack(block(cross=True) for _ in range(depth))
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)
        self.head = nn.Linear(width, VOCAB, bias=False)

    def mask(self, n):
        at = torch.arange(n)
        apart = (at[:, None] - at[None, :]).clamp(-16, 15) + 16
        return self.bias(apart).permute(2, 0, 1).unsqueeze(0)

    def forward(self, ids):
        mask = self.mask(ids.shape[1])
        read = self.norm1(self.encoder(self.word(ids), mask=mask))
        x = self.decoder(self.word(ids), source=read, mask=mask)
        return self.head(self.norm2(x))


class DLRM(nn.Module):
    """Look-ups of four tables, and MLPs whose layers are equal."""

    def __init__(self, depth, width):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(500, 16, mode="sum")
                                    for _ in range(4))
        self.bottom = nn.Sequential(nn.Linear(13, 16), nn.ReLU())
        self.first = nn.Linear(16 + 10, width)
        self.blocks = Stack(nn.Sequential(nn.Linear(width, width), nn.ReLU())
                            for _ in range(depth))
        self.head = nn.Linear(width, 1)

    def forward(self, dense, indices):
        x = self.bottom(dense)
        rows = torch.stack([x] + [t(i) for t, i in zip(self.tables, indices)], dim=1)
        dots = torch.bmm(rows, rows.transpose(1, 2))
        at = torch.tril_indices(5, 5, -1)
        x = F.relu(self.first(torch.cat((x, dots[:, at[0], at[1]]), dim=1)))
        return self.head(self.blocks(x))


class UNet(nn.Module):
    """Two convolutions a level; each level has its own width, so that nothing
    repeats: its depth is its levels."""

    def __init__(self, depth, width):
        super().__init__()
        sizes = [width << i for i in range(depth - 2)]
        def double(a, b):
            return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.ReLU(),
                                 nn.Conv2d(b, b, 3, padding=1), nn.ReLU())
        self.down = nn.ModuleList(double(a, b) for a, b in zip([3] + sizes, sizes))
        pairs = list(zip(sizes[1:], sizes))[::-1]
        self.turn = nn.ModuleList(nn.ConvTranspose2d(a, b, 2, 2) for a, b in pairs)
        self.up = nn.ModuleList(double(2 * b, b) for _, b in pairs)
        self.head = nn.Conv2d(sizes[0], 2, 1)

    def forward(self, x):
        kept = []
        for i, level in enumerate(self.down):
            x = level(x if i == 0 else F.max_pool2d(x, 2))
            kept.append(x)
        for turn, up, skip in zip(self.turn, self.up, kept[-2::-1]):
            x = up(torch.cat((skip, turn(x)), dim=1))
        return self.head(x)


# ---- a step of each ---------------------------------------------------------

def tokens(module):
    ids = torch.randint(VOCAB, (BATCH, TOKENS))
    def loss(output):
        return F.cross_entropy(output.float().flatten(0, 1), ids.flatten())
    return module, ids, loss, lambda p: torch.optim.AdamW(p, lr=1e-4, foreach=True)


def gpt(depth, width):
    return tokens(Tokens(width, [Block(width, MLP, nn.LayerNorm, causal=True)
                                 for _ in range(depth)], nn.LayerNorm))


def llama(depth, width):
    return tokens(Tokens(width, [Block(width, SwiGLU, RMSNorm, causal=True, kv_heads=2,
                                       bias=False) for _ in range(depth)],
                         RMSNorm, positions=False, tied=False))


def encoder(depth, width):
    return tokens(Tokens(width, [Block(width, MLP, nn.LayerNorm, post=True)
                                 for _ in range(depth)], nn.LayerNorm))


def moe(depth, width):
    return tokens(Tokens(width, [Block(width, Experts, RMSNorm, causal=True, bias=False)
                                 for _ in range(depth)], RMSNorm))


def t5(depth, width):
    return tokens(T5(depth, width))


def image(module, loss):
    return module, torch.randn(BATCH, 3, 48, 48), loss, \
        lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9, foreach=True)


def vit(depth, width):
    target = torch.randint(10, (BATCH,))
    return image(ViT(depth, width), lambda y: F.cross_entropy(y.float(), target))


def unet(depth, width):
    target = torch.randint(2, (BATCH, 48, 48))
    return image(UNet(depth, width // 4), lambda y: F.cross_entropy(y.float(), target))


def dlrm(depth, width):
    inputs = (torch.randn(24, 13), torch.randint(500, (4, 24, 2)))
    target = torch.randint(2, (24, 1)).float()
    def loss(output):
        return F.binary_cross_entropy_with_logits(output.float(), target)
    return DLRM(depth, width), inputs, loss, lambda p: torch.optim.Adagrad(p, lr=0.01, foreach=True)


MODELS = {f.__name__: f for f in (gpt, llama, encoder, vit, moe, t5, dlrm, unet)}
SIZES = {"base": (DEPTHS[0], WIDTHS[0]), "deep": (DEPTHS[1], WIDTHS[0]),
         "wide": (DEPTHS[0], WIDTHS[1])}


# ---- the same in other ways -------------------------------------------------

def plain(step):
    return step


def ckpt(step):
    for part in step[0].modules():
        if isinstance(part, Stack):
            part.again = True
    return step


def world(backend, size):
    """The first of `size` ranks; others are nowhere, and nothing is sent."""
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore
    if dist.is_initialized():
        dist.destroy_process_group()
    store = FakeStore() if backend == "fake" else dist.HashStore()
    dist.init_process_group(backend, store=store, rank=0, world_size=size)


def ddp(step):
    # The fake backend gives no results, which DDP reads.
    world("gloo", 1)
    return nn.parallel.DistributedDataParallel(step[0], bucket_cap_mb=0.2), *step[1:]


def fsdp(step):
    world("fake", 2)
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy
    return FullyShardedDataParallel(
        step[0], auto_wrap_policy=ModuleWrapPolicy({Block}), use_orig_params=True,
        device_id=torch.device("cpu")), *step[1:]


WAYS = {f.__name__: f for f in (plain, ckpt, ddp, fsdp)}


def made(model, way, sizes):
    def function():
        return way(model(*sizes))
    return function


for _way, _wrap in WAYS.items():
    for _name, _model in MODELS.items():
        for _size, _sizes in SIZES.items():
            _full = "_".join([_name] + [_way] * (_way != "plain") + [_size])
            globals()[_full] = made(_model, _wrap, _sizes)
