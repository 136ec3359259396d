"""Networks of seven kinds, recorded on a CPU and without a device.

Functions as `--model FILE.py:FUNCTION,training` takes them: each returns a module,
its inputs, a loss, and what makes an optimizer.
"""
import torch
import torch.nn.functional as F
from torch import nn


def power(out):
    return out.float().pow(2).mean()


def next_token(out):
    out = out.flatten(0, -2)
    return F.cross_entropy(out, torch.zeros(len(out), dtype=torch.long,
                                            device=out.device))


class Experts(nn.Module):
    """Four experts, each of which takes all tokens, by a softmax's weights."""

    def __init__(self, width=256, experts=4):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.norm = nn.LayerNorm(width)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                          nn.Linear(4 * width, width)) for _ in range(experts))

    def forward(self, x):
        share = F.softmax(self.gate(x), -1)
        parts = [share[..., i:i + 1] * e(x) for i, e in enumerate(self.experts)]
        return self.norm(x + sum(parts))


def experts(batch=32):
    return (nn.Sequential(*[Experts() for _ in range(3)]),
            (torch.randn(batch, 128, 256),), power,
            lambda p: torch.optim.AdamW(p, lr=1e-3))


def adversaries(batch=64):
    def up(i, o, *more):
        return nn.Sequential(nn.ConvTranspose2d(i, o, 4, 2, 1), *more)

    net = nn.Sequential(
        up(64, 64, nn.BatchNorm2d(64), nn.ReLU()), up(64, 3, nn.Tanh()),
        nn.Conv2d(3, 64, 4, 2, 1), nn.LeakyReLU(0.2),
        nn.Conv2d(64, 128, 4, 2, 1), nn.BatchNorm2d(128), nn.LeakyReLU(0.2),
        nn.Flatten(), nn.Linear(128 * 8 * 8, 1))
    return (net, (torch.randn(batch, 64, 8, 8),), power,
            lambda p: torch.optim.Adam(p, lr=1e-3, betas=(0.5, 0.99)))


class Recurrent(nn.Module):
    def __init__(self, words=2000, width=256):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.cells = nn.LSTM(width, width, 2, batch_first=True)
        self.out = nn.Linear(width, words)

    def forward(self, x):
        return self.out(self.cells(self.table(x))[0])


def recurrent(batch=32):
    return (Recurrent(), (torch.randint(0, 2000, (batch, 64)),), next_token,
            lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9))


class Tables(nn.Module):
    def __init__(self, rows=5000, width=64, tables=6):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(rows, width, mode="sum")
                                    for _ in range(tables))
        self.top = nn.Sequential(nn.Linear(tables * width, 256), nn.ReLU(),
                                 nn.Linear(256, 1))

    def forward(self, x):
        bags = [t(x[:, i]) for i, t in enumerate(self.tables)]
        return self.top(torch.cat(bags, 1)).squeeze(1)


def tables(batch=2048):
    return (Tables(), (torch.randint(0, 5000, (batch, 6, 10)),), power,
            lambda p: torch.optim.Adagrad(p, lr=0.1))


class Segments(nn.Module):
    """A small U-Net."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.d = (
            nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(8, o),
                          nn.SiLU())
            for i, o in ((3, 32), (32, 64), (64, 64), (128, 32)))
        self.out = nn.Conv2d(64, 4, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.b(F.max_pool2d(a, 2))
        c = self.c(F.max_pool2d(b, 2))
        d = self.d(torch.cat([F.interpolate(c, scale_factor=2), b], 1))
        return self.out(torch.cat([F.interpolate(d, scale_factor=2), a], 1))


def segments(batch=8):
    return (Segments(), (torch.randn(batch, 3, 96, 96),), power,
            lambda p: torch.optim.RMSprop(p, lr=1e-3))


def encoder(batch=16):
    layer = nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True,
                                       norm_first=True)
    return (nn.TransformerEncoder(layer, 3, enable_nested_tensor=False),
            (torch.randn(batch, 128, 256),), power,
            lambda p: torch.optim.NAdam(p, lr=1e-3))


class Two(torch.optim.Optimizer):
    """One optimizer for the first layers, another one for the rest."""

    def __init__(self, parameters):
        parameters = list(parameters)
        self.first = torch.optim.SGD(parameters[:4], lr=0.1, momentum=0.9)
        self.rest = torch.optim.Adam(parameters[4:], lr=1e-3)
        super().__init__(parameters, {})

    def step(self, closure=None):
        self.first.step()
        self.rest.step()


def two_optimizers(batch=1024):
    sizes = (512, 1024, 1024, 512)
    net = nn.Sequential(*[part for i, o in zip(sizes, sizes[1:])
                          for part in (nn.Linear(i, o), nn.ReLU())][:-1])
    return net, (torch.randn(batch, 512),), power, Two


NETS = (experts, adversaries, recurrent, tables, segments, encoder,
        two_optimizers)
