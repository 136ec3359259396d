"""The models that capture.py traces, in plain torch.

Each follows its paper's architecture; layers, width, vocabulary and so on are
options, so that a small sample still runs the real operators. A model comes
as a Workload: a module, a batch of host tensors, a loss over its output, and
the optimizer that such models are commonly trained with.

    resnet50  He et al., "Deep Residual Learning", 2015 (bottleneck blocks,
              stride on the 3x3, as is usual since)
    vit       Dosovitskiy et al., "An Image is Worth 16x16 Words", 2020 (B/16)
    bert      Devlin et al., "BERT", 2018 (base, masked-token loss)
    gpt2      Radford et al., "Language Models are Unsupervised Multitask
              Learners", 2019 (small)
    dlrm      Naumov et al., "Deep Learning Recommendation Model", 2019
    llama     Touvron et al., "LLaMA", 2023, with grouped-query attention
"""

from dataclasses import dataclass
from typing import Callable

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Workload:
    module: nn.Module
    batch: tuple  # host tensors: the module's inputs, the target last
    loss: Callable  # (output, target) -> scalar
    optimizer: Callable  # parameters -> torch.optim.Optimizer


# ---------------------------------------------------------------- ResNet

# Blocks a stage, by the depth that counts every convolution on the way.
RESNET_STAGES = {14: (1, 1, 1, 1), 26: (2, 2, 2, 2), 50: (3, 4, 6, 3),
                 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = None
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                nn.BatchNorm2d(outputs))

    def forward(self, x):
        residual = x if self.shortcut is None else self.shortcut(x)
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.relu(self.bn2(self.conv2(x)))
        return self.relu(self.bn3(self.conv3(x)) + residual)


class ResNet(nn.Module):
    def __init__(self, stages, width, classes):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width),
            nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
        blocks, inputs = [], width
        for stage, count in enumerate(stages):
            for block in range(count):
                stride = 2 if stage > 0 and block == 0 else 1
                blocks.append(Bottleneck(inputs, width << stage, stride))
                inputs = 4 * (width << stage)
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(inputs, classes)

    def forward(self, x):
        x = self.blocks(self.stem(x))
        return self.head(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


# ----------------------------------------------------------- transformers


def small_weights(module):
    """The 0.02 of all these papers: keeps the first losses in fp16's range."""
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)


class SelfAttention(nn.Module):
    """Multi-head attention with one projection for q, k and v."""

    def __init__(self, width, heads, causal=False, dropout=0.0):
        super().__init__()
        self.heads, self.causal, self.dropout = heads, causal, dropout
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2)
                   for t in self.qkv(x).split(width, dim=2))
        x = F.scaled_dot_product_attention(
            q, k, v, is_causal=self.causal,
            dropout_p=self.dropout if self.training else 0.0)
        return self.out(x.transpose(1, 2).reshape(batch, length, width))


class EncoderLayer(nn.Module):
    """Attention and a four-fold MLP; normalised before or after each."""

    def __init__(self, width, heads, pre_norm, causal=False, dropout=0.0,
                 gelu="none"):
        super().__init__()
        self.pre_norm = pre_norm
        self.attention = SelfAttention(width, heads, causal, dropout)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width),
                                 nn.GELU(approximate=gelu),
                                 nn.Linear(4 * width, width))
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        if self.pre_norm:
            x = x + self.dropout(self.attention(self.norm1(x)))
            return x + self.dropout(self.mlp(self.norm2(x)))
        x = self.norm1(x + self.dropout(self.attention(x)))
        return self.norm2(x + self.dropout(self.mlp(x)))


class ViT(nn.Module):
    def __init__(self, image, patch, width, heads, layers, classes):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        tokens = (image // patch) ** 2 + 1
        self.position = nn.Parameter(torch.zeros(1, tokens, width))
        self.layers = nn.ModuleList(
            EncoderLayer(width, heads, pre_norm=True) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)
        self.apply(small_weights)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        token = self.token.expand(x.shape[0], -1, -1)
        x = torch.cat((token, x), dim=1) + self.position
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x)[:, 0])


class Bert(nn.Module):
    def __init__(self, vocab, context, width, heads, layers):
        super().__init__()
        self.word = nn.Embedding(vocab, width)
        self.position = nn.Embedding(context, width)
        self.segment = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(0.1)
        self.layers = nn.ModuleList(
            EncoderLayer(width, heads, pre_norm=False, dropout=0.1)
            for _ in range(layers))
        self.transform = nn.Sequential(nn.Linear(width, width), nn.GELU(),
                                       nn.LayerNorm(width))
        self.decoder = nn.Linear(width, vocab)
        self.decoder.weight = self.word.weight
        self.apply(small_weights)

    def forward(self, ids, segments):
        positions = torch.arange(ids.shape[1], device=ids.device)
        x = self.word(ids) + self.position(positions) + self.segment(segments)
        x = self.dropout(self.norm(x))
        for layer in self.layers:
            x = layer(x)
        return self.decoder(self.transform(x))


class GPT2(nn.Module):
    def __init__(self, vocab, context, width, heads, layers):
        super().__init__()
        self.word = nn.Embedding(vocab, width)
        self.position = nn.Embedding(context, width)
        self.dropout = nn.Dropout(0.1)
        self.layers = nn.ModuleList(
            EncoderLayer(width, heads, pre_norm=True, causal=True,
                         dropout=0.1, gelu="tanh") for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)
        self.head.weight = self.word.weight
        self.apply(small_weights)

    def forward(self, ids):
        positions = torch.arange(ids.shape[1], device=ids.device)
        x = self.dropout(self.word(ids) + self.position(positions))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


# ------------------------------------------------------------------ Llama


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.float()
        scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
        return self.weight * (wide * scale).to(x.dtype)


class LlamaLayer(nn.Module):
    def __init__(self, width, heads, kv_heads, hidden):
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads
        self.head_size = width // heads
        kv_width = kv_heads * self.head_size
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, kv_width, bias=False)
        self.v = nn.Linear(width, kv_width, bias=False)
        self.o = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)

    @staticmethod
    def rotate(x, cos, sin):
        a, b = x.chunk(2, dim=-1)
        return x * cos + torch.cat((-b, a), dim=-1) * sin

    def attention(self, x, cos, sin):
        batch, length, width = x.shape
        q, k, v = (t.view(batch, length, -1, self.head_size).transpose(1, 2)
                   for t in (self.q(x), self.k(x), self.v(x)))
        q = self.rotate(q, cos, sin).to(v.dtype)
        k = self.rotate(k, cos, sin).to(v.dtype)
        groups = self.heads // self.kv_heads
        k = k.repeat_interleave(groups, dim=1)
        v = v.repeat_interleave(groups, dim=1)
        x = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(x.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x, cos, sin):
        x = x + self.attention(self.norm1(x), cos, sin)
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, vocab, width, heads, kv_heads, hidden, layers):
        super().__init__()
        self.head_size = width // heads
        self.word = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList(
            LlamaLayer(width, heads, kv_heads, hidden) for _ in range(layers))
        self.norm = RMSNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)
        self.apply(small_weights)

    def forward(self, ids):
        half = torch.arange(0, self.head_size, 2, device=ids.device).float()
        rates = 500000.0 ** (-half / self.head_size)
        positions = torch.arange(ids.shape[1], device=ids.device).float()
        angles = torch.outer(positions, rates)
        angles = torch.cat((angles, angles), dim=-1)
        cos, sin = angles.cos(), angles.sin()
        x = self.word(ids)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.head(self.norm(x))


# ------------------------------------------------------------------- DLRM


class DLRM(nn.Module):
    def __init__(self, tables, rows, width, hidden, layers):
        super().__init__()
        bottom = [hidden >> i for i in range(layers)]
        self.bottom = self.mlp([13] + bottom + [width], last=nn.ReLU())
        self.tables = nn.ModuleList(
            nn.EmbeddingBag(rows, width, mode="sum") for _ in range(tables))
        vectors = tables + 1
        pairs = vectors * (vectors - 1) // 2
        top = [hidden] + bottom
        self.top = self.mlp([width + pairs] + top + [1])
        self.register_buffer("lower", torch.tril_indices(vectors, vectors, -1),
                             persistent=False)

    @staticmethod
    def mlp(sizes, last=None):
        modules = []
        for i, (a, b) in enumerate(zip(sizes, sizes[1:])):
            modules.append(nn.Linear(a, b))
            if i + 2 < len(sizes):
                modules.append(nn.ReLU())
        return nn.Sequential(*modules, *([last] if last else []))

    def forward(self, dense, indices, offsets):
        x = self.bottom(dense)
        vectors = [x] + [table(i, o) for table, i, o
                         in zip(self.tables, indices, offsets)]
        stacked = torch.stack([v.to(x.dtype) for v in vectors], dim=1)
        dots = torch.bmm(stacked, stacked.transpose(1, 2))
        pairs = dots[:, self.lower[0], self.lower[1]]
        return self.top(torch.cat((x, pairs), dim=1))


# -------------------------------------------------------------- workloads


def sgd(parameters, **options):
    return torch.optim.SGD(parameters, lr=0.01, momentum=0.9,
                           weight_decay=1e-4, **options)


def adam(parameters, **options):
    return torch.optim.Adam(parameters, lr=1e-3, **options)


def adamw(parameters, **options):
    return torch.optim.AdamW(parameters, lr=1e-4, **options)


OPTIMIZERS = {"sgd": sgd, "adam": adam, "adamw": adamw}


def optimizer_named(name, parameters):
    """All parameters at once, as PyTorch does on a GPU wherever it runs."""
    return OPTIMIZERS[name](parameters, foreach=True)


def token_loss(output, target):
    return F.cross_entropy(output.flatten(0, 1).float(), target.flatten())


def heads_of(options, size=64): # 64 a head in all three papers
    return max(1, options["width"] // size)


def make_resnet50(o):
    module = ResNet(RESNET_STAGES[o["layers"]], o["width"], o["classes"])
    batch = (torch.randn(o["batch"], 3, o["image"], o["image"]),
             torch.randint(o["classes"], (o["batch"],)))
    return Workload(module, batch, F.cross_entropy, sgd)


def make_vit(o):
    module = ViT(o["image"], 16, o["width"], heads_of(o), o["layers"],
                 o["classes"])
    batch = (torch.randn(o["batch"], 3, o["image"], o["image"]),
             torch.randint(o["classes"], (o["batch"],)))
    return Workload(module, batch, F.cross_entropy, adamw)


def make_bert(o):
    shape = (o["batch"], o["seq"])
    module = Bert(o["vocab"], max(512, o["seq"]), o["width"], heads_of(o),
                  o["layers"])
    batch = (torch.randint(o["vocab"], shape), torch.zeros(shape).long(),
             torch.randint(o["vocab"], shape))
    return Workload(module, batch, token_loss, adamw)


def make_gpt2(o):
    shape = (o["batch"], o["seq"])
    module = GPT2(o["vocab"], max(1024, o["seq"]), o["width"], heads_of(o),
                  o["layers"])
    batch = (torch.randint(o["vocab"], shape),
             torch.randint(o["vocab"], shape))
    return Workload(module, batch, token_loss, adamw)


LLAMA_HEAD = 128


def make_llama(o):
    shape = (o["batch"], o["seq"])
    heads = heads_of(o, LLAMA_HEAD)
    # The feed-forward and key-value sizes keep the 8B model's proportions.
    module = Llama(o["vocab"], o["width"], heads, max(1, heads // 4),
                   o["width"] * 7 // 2, o["layers"])
    batch = (torch.randint(o["vocab"], shape),
             torch.randint(o["vocab"], shape))
    return Workload(module, batch, token_loss, adamw)


def make_dlrm(o):
    module = DLRM(o["tables"], o["rows"], o["width"], 512, o["layers"])
    lookups = 8  # a bag
    indices = torch.randint(o["rows"], (o["tables"], o["batch"] * lookups))
    offsets = torch.arange(0, o["batch"] * lookups, lookups)
    batch = (torch.randn(o["batch"], 13), indices,
             offsets.repeat(o["tables"], 1),
             torch.randint(2, (o["batch"], 1)).float())
    # Click labels; the loss that is safe under autocast.
    return Workload(module, batch, F.binary_cross_entropy_with_logits, sgd)


# name: (builder, the full-size model's options)
MODELS = {
    "resnet50": (make_resnet50, dict(batch=32, image=224, layers=50, width=64,
                                     classes=1000)),
    "vit": (make_vit, dict(batch=32, image=224, layers=12, width=768,
                           classes=1000)),
    "bert": (make_bert, dict(batch=16, seq=128, layers=12, width=768,
                             vocab=30522)),
    "gpt2": (make_gpt2, dict(batch=4, seq=1024, layers=12, width=768,
                             vocab=50257)),
    "dlrm": (make_dlrm, dict(batch=2048, layers=2, width=64, tables=26,
                             rows=100000)),
    "llama": (make_llama, dict(batch=1, seq=2048, layers=1, width=4096,
                               vocab=32000)),
}


def resolve(name, given):
    """The model's options: its defaults, overridden by those `given`.

    Raises ValueError for an option that the model does not have.
    """
    options = dict(MODELS[name][1])
    for key, value in given.items():
        if value is None:
            continue
        if key not in options:
            raise ValueError(f"'{name}' has no option '--{key}', want "
                             + ", ".join(f"--{k}" for k in options))
        if value < 1:
            raise ValueError(f"'--{key}' is {value}, want 1 or more")
        options[key] = value
    check(name, options)
    return options


def check(name, options):
    """Raises ValueError for a shape that the architecture cannot have."""
    if name == "resnet50" and options["layers"] not in RESNET_STAGES:
        raise ValueError(f"no ResNet has {options['layers']} layers, want "
                         "one of " + ", ".join(map(str, RESNET_STAGES)))
    if name == "vit" and options["image"] < 16:
        raise ValueError("'--image' is under a patch, want 16 or more")
    if name in ("vit", "bert", "gpt2", "llama"):
        size = LLAMA_HEAD if name == "llama" else 64
        if options["width"] % heads_of(options, size) or options["width"] % 2:
            raise ValueError(f"'--width' is {options['width']}, want a "
                             f"multiple of {size} (a head)")


def make(name, options):
    return MODELS[name][0](options)
