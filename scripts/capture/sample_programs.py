"""Small programs, by which captures on two devices are compared.

Operators alone, chains of them, and small nets: each `make_NAME` returns (model,
inputs) for a forward pass, or with a loss for a training step, as capture.py's
--model wants it. compare_operators.py runs them all.
"""

import torch
import torch.nn.functional as F
from torch import nn


class Of(nn.Module):
    """A function as a model."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def classified(model, x, classes=10):
    labels = torch.randint(classes, (x.shape[0],))
    return model, x, lambda y: F.cross_entropy(y, labels), \
        torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=True)


# ---- operators -------------------------------------------------------------

def make_matmul_odd():
    return Of(torch.matmul), (torch.randn(205, 333), torch.randn(333, 97))


def make_matmul_tall():
    return Of(torch.matmul), (torch.randn(4096, 8), torch.randn(8, 64))


def make_matmul_transposed():
    return Of(lambda a, b: a.T @ b.T), (torch.randn(96, 64),
                                        torch.randn(80, 96))


def make_matmul_batched():
    return Of(torch.bmm), (torch.randn(6, 33, 20), torch.randn(6, 20, 45))


def make_matmul_4d():
    return Of(torch.matmul), (torch.randn(2, 5, 16, 24), torch.randn(24, 7))


def make_matvec():
    return Of(torch.matmul), (torch.randn(300, 500), torch.randn(500))


def make_conv1d():
    return classified(nn.Sequential(nn.Conv1d(3, 8, 5, stride=2, dilation=2),
                                    nn.AdaptiveAvgPool1d(1), nn.Flatten(),
                                    nn.Linear(8, 10)), torch.randn(4, 3, 64))


def make_conv2d():
    return nn.Conv2d(3, 16, (3, 5), padding=1), torch.randn(2, 3, 20, 31)


def make_conv3d():
    return nn.Conv3d(3, 8, 3), torch.randn(2, 3, 8, 9, 10)


def make_conv_transposed():
    return nn.Sequential(nn.ConvTranspose2d(4, 8, 3, 2, 1, 1),
                         nn.ConvTranspose2d(8, 2, 4, groups=2)), \
        torch.randn(2, 4, 9, 9)


def make_conv_transposed_1d_3d():
    return Of(lambda x, y, v, w: (F.conv_transpose1d(x, v, stride=2),
                                  F.conv_transpose3d(y, w, padding=1))), \
        (torch.randn(2, 4, 11), torch.randn(1, 4, 5, 6, 7),
         torch.randn(4, 3, 5), torch.randn(4, 2, 3, 3, 3))


def make_conv_grouped():
    return nn.Conv2d(8, 16, 3, groups=4), torch.randn(2, 8, 14, 14)


def make_conv_depthwise():
    return nn.Sequential(nn.Conv2d(32, 32, 3, padding=1, groups=32),
                         nn.Conv2d(32, 64, 1)), torch.randn(2, 32, 16, 16)


def make_norms():
    return nn.Sequential(nn.BatchNorm2d(12), nn.GroupNorm(3, 12),
                         nn.InstanceNorm2d(12, affine=True),
                         nn.LayerNorm([12, 9, 9])), torch.randn(3, 12, 9, 9)


def make_rms_norm():
    return Of(lambda x: x / torch.sqrt(x.pow(2).mean(1, keepdim=True) + 1e-5)), \
        torch.randn(4, 16, 10, 10)


def make_norm_of_matrix():
    return Of(lambda x: (x / torch.norm(x, p="fro"), x / torch.norm(
        x, p=2, dim=1, keepdim=True), x / x.abs().sum(1, keepdim=True))), \
        torch.randn(16, 300)


def make_softmax():
    return Of(lambda x: (F.softmax(x, 1), F.log_softmax(x, -1))), \
        torch.randn(16, 1025)


def make_pooling():
    return Of(lambda x: (F.max_pool2d(x, 3, 2), F.avg_pool2d(x, 2),
                         F.adaptive_avg_pool2d(x, 3))), \
        torch.randn(2, 4, 17, 17)


def make_pooling_1d_3d():
    return Of(lambda x, y: (F.avg_pool1d(x, 3), F.max_pool1d(x, 2),
                            F.avg_pool3d(y, 2), F.max_pool3d(y, 2))), \
        (torch.randn(2, 4, 30), torch.randn(2, 3, 8, 8, 8))


def make_reductions():
    return Of(lambda x: (x.sum(1), x.mean((0, 2)), x.amax(1), x.prod(2),
                         torch.min(x, 1)[0], x.std(), torch.var_mean(x, 0))), \
        torch.randn(7, 33, 20)


def make_scans():
    return Of(lambda x: (x.cumsum(1), x.cumprod(1), x.argmax(1), x.argmin(0),
                         torch.cumsum(x.flip(1), 1).flip(1),
                         x.sort(1)[0], x.topk(3, 1)[0])), torch.randn(12, 50)


def make_losses():
    return Of(lambda x, y, t: (
        F.mse_loss(x, y), F.huber_loss(x, y), F.cross_entropy(x, t),
        F.cosine_similarity(x, y).mean(), F.kl_div(x, y.softmax(1)),
        F.smooth_l1_loss(x, y),
        F.triplet_margin_loss(x, y, x + 1))), \
        (torch.randn(16, 10), torch.randn(16, 10), torch.randint(10, (16,)))


def make_activations():
    return Of(lambda x: F.gelu(F.silu(F.mish(F.elu(F.hardswish(F.softplus(
        F.leaky_relu(torch.tanh(torch.sigmoid(x)))))))))), torch.randn(8, 99)


def make_indexing():
    return Of(lambda x, i: (x[:, i], x.gather(0, i.expand(3, -1)), torch.where(
        x > 0, x, 0.0), x.index_select(1, i), torch.scatter(
            x, 1, i.expand(3, -1), 1.0), x.masked_fill(x < 0, 0.0))), \
        (torch.randn(8, 40), torch.arange(7))


# ---- chains ----------------------------------------------------------------

def make_gemm_chain():
    return nn.Sequential(nn.Linear(77, 130), nn.GELU(), nn.GroupNorm(5, 130),
                         nn.Hardtanh(), nn.Linear(130, 9)), torch.randn(20, 77)


def make_conv_chain():
    conv = nn.Conv2d(3, 16, 3)
    bias = nn.Parameter(torch.randn(16, 1, 1))
    model = Of(lambda x: F.max_pool2d(F.mish(F.softplus(
        torch.clamp(conv(x) * 2 + bias, 0, 1))), 2))
    model.conv, model.bias = conv, bias
    return model, torch.randn(4, 3, 16, 16)


# ---- nets ------------------------------------------------------------------

def make_mlp():
    return classified(nn.Sequential(nn.Linear(50, 80), nn.ReLU(), nn.Linear(
        80, 30), nn.Dropout(0.1), nn.ReLU(), nn.Linear(30, 10)),
        torch.randn(16, 50))


def make_lenet():
    return classified(nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5),
        nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(256, 120), nn.ReLU(),
        nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
        torch.randn(4, 1, 28, 28))


class Residual(nn.Module):
    def __init__(self, channels, stride=1):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, 2 * channels, 3, stride, 1, bias=False),
            nn.BatchNorm2d(2 * channels), nn.ReLU(inplace=True),
            nn.Conv2d(2 * channels, 2 * channels, 3, 1, 1, bias=False),
            nn.BatchNorm2d(2 * channels))
        self.side = nn.Sequential(
            nn.Conv2d(channels, 2 * channels, 1, stride, bias=False),
            nn.BatchNorm2d(2 * channels))

    def forward(self, x):
        return F.relu(self.body(x) + self.side(x))


def head(channels):
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(channels, 10))


def make_resnet_block():
    return classified(nn.Sequential(Residual(8, 2), head(16)),
                      torch.randn(4, 8, 16, 16))


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(
            nn.BatchNorm2d(8 + 4 * i), nn.ReLU(), nn.Conv2d(8 + 4 * i, 4, 3, 1,
                                                            1, bias=False))
            for i in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = torch.cat((x, layer(x)), 1)
        return x


def make_densenet_block():
    return classified(nn.Sequential(Dense(), head(20)),
                      torch.randn(4, 8, 12, 12))


def make_mobilenet_block():
    return classified(nn.Sequential(
        nn.Conv2d(8, 48, 1, bias=False), nn.BatchNorm2d(48), nn.ReLU6(),
        nn.Conv2d(48, 48, 3, 2, 1, groups=48, bias=False), nn.BatchNorm2d(48),
        nn.ReLU6(), nn.Conv2d(48, 12, 1, bias=False), nn.BatchNorm2d(12),
        head(12)), torch.randn(4, 8, 14, 14))


class Fire(nn.Module):
    def __init__(self):
        super().__init__()
        self.squeeze = nn.Conv2d(3, 6, 1)
        self.small, self.large = nn.Conv2d(6, 8, 1), nn.Conv2d(6, 8, 3, 1, 1)

    def forward(self, x):
        x = F.relu(self.squeeze(x))
        return torch.cat([F.relu(self.small(x)), F.relu(self.large(x))], 1)


def make_squeezenet():
    return nn.Sequential(Fire(), nn.MaxPool2d(3, 2, ceil_mode=True), head(16)), \
        torch.randn(2, 3, 20, 20)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.low = nn.Conv2d(3, 8, 3, 1, 1), nn.Conv2d(8, 16, 3, 1, 1)
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.out = nn.Conv2d(16, 2, 3, 1, 1)

    def forward(self, x):
        a = F.relu(self.down(x))
        b = F.relu(self.low(F.max_pool2d(a, 2)))
        b = F.interpolate(self.up(b), scale_factor=1.0)
        return F.softmax(self.out(torch.cat((a, b), 1)), -1)


def make_unet_block():
    return UNet(), torch.randn(2, 3, 16, 16), lambda y: y.square().mean()


class Attention(nn.Module):
    """Written out, and by the fused call."""

    def __init__(self, width=32, heads=4, fused=False):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.heads, self.fused = heads, fused
        self.register_buffer("mask", torch.tril(torch.ones(1, 1, 24, 24)))

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = (t.view(n, length, self.heads, -1).transpose(1, 2)
                   for t in self.qkv(self.norm(x)).split(width, 2))
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            a = q @ k.transpose(-2, -1) * (1.0 / 8 ** 0.5)
            a = a.masked_fill(self.mask[:, :, :length, :length] == 0,
                              float("-inf"))
            y = F.softmax(a, -1) @ v
        return x + self.out(y.transpose(1, 2).contiguous().view(
            n, length, width))


def make_vit_attention():
    return Attention(fused=True), torch.randn(2, 24, 32), \
        lambda y: y.float().mean()


def make_mingpt_block():
    return nn.Sequential(Attention(), nn.LayerNorm(32), nn.Linear(32, 128),
                         nn.GELU("tanh"), nn.Linear(128, 32)), \
        torch.randn(2, 24, 32), lambda y: y.float().mean()


def make_multihead():
    layer = nn.MultiheadAttention(32, 4, batch_first=True)
    return Of(lambda x: layer(x, x, x, need_weights=False)[0]), \
        torch.randn(2, 10, 32)


def make_encoder_layer():
    return nn.TransformerEncoderLayer(32, 4, 64, 0.0, batch_first=True), \
        torch.randn(2, 10, 32), lambda y: y.mean()


def make_lstm():
    model = nn.LSTM(10, 20, 2, batch_first=True)
    return Of(lambda x: model(x)[0]), torch.randn(4, 12, 10)


def make_gru():
    model = nn.GRU(10, 20, bidirectional=True)
    return Of(lambda x: model(x)[0]), torch.randn(12, 4, 10)


def make_rnn_cells():
    a, b, c = nn.LSTMCell(8, 16), nn.GRUCell(8, 16), nn.RNNCell(8, 16)
    return Of(lambda x: (a(x)[0], b(x), c(x))), torch.randn(4, 8)


def make_rnn_by_hand():
    cell = nn.Linear(24, 16)

    def run(x):
        h = torch.zeros(4, 16, device=x.device)
        for t in x.unbind(1):
            h = torch.tanh(cell(torch.cat((t, h), 1)))
        return h
    model = Of(run)
    model.cell = cell
    return model, torch.randn(4, 5, 8), lambda y: y.mean()


def make_scan_by_segments():
    def run(a, b, c, x):
        decay = torch.exp(torch.cumsum(a, -1))
        mixed = torch.einsum("bln,bsn->bls", c, b) * decay.unsqueeze(-1)
        return torch.einsum("bls,bsp->blp", torch.tril(mixed), x)
    return Of(run), (torch.randn(2, 16), torch.randn(2, 16, 8),
                     torch.randn(2, 16, 8), torch.randn(2, 16, 4))


def make_embedding():
    table, bag = nn.Embedding(100, 16), nn.EmbeddingBag(50, 16, mode="sum")
    model = Of(lambda i: table(i).sum(1) + bag(i % 50))
    model.table, model.bag = table, bag
    return model, torch.randint(100, (8, 6)), lambda y: y.mean()
