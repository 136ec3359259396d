"""Networks of published figures, as scripts/capture.py records them.

    scripts/capture.py --device meta --model opened_nets.py:resnet50_train_256

The name of a function says what is built (scripts/accuracy/opened.py makes
them): NETWORK_MODE_BATCH, and _SEQUENCE where there is one. Modes are train
(forward, backward, optimizer), fb (forward and backward) and infer. CNNs are
those of timm. BERT has attention in parts and dropout, as Hugging Face's
had it; a Llama decodes one token behind 512 others, or reads a prompt.
"""
import math

import torch
from torch import nn
import torch.nn.functional as F

LLAMAS = {"llama2-7b": (32, 4096, 32, 32, 11008, 32000),
          "llama2-13b": (40, 5120, 40, 40, 13824, 32000),
          "llama3-8b": (32, 4096, 32, 8, 14336, 128256)}
BERTS = {"bert-base": (12, 768, 12), "bert-large": (24, 1024, 16)}
PAST = 512 # tokens before the one that is decoded


class BertLayer(nn.Module):
    def __init__(self, width, heads, biased):
        super().__init__()
        self.heads, self.biased = heads, biased
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.drop = nn.Dropout(0.1)

    def widened(self, x):
        if self.biased:
            return self.up(x)
        return self.up.bias + F.linear(x, self.up.weight)

    def forward(self, x, mask):
        n, s, w = x.shape
        q, k, v = (f(x).view(n, s, self.heads, -1).transpose(1, 2)
                   for f in (self.q, self.k, self.v))
        scores = q @ k.transpose(-1, -2) / math.sqrt(w // self.heads) + mask
        scores = self.drop(scores.softmax(-1))
        y = (scores @ v).transpose(1, 2).reshape(n, s, w)
        x = self.norms[0](x + self.drop(self.out(y)))
        return self.norms[1](x + self.drop(self.down(F.gelu(self.widened(x)))))


class Bert(nn.Module):
    """With the two ends of a span, as SQuAD asks."""
    def __init__(self, layers, width, heads, biased=True):
        super().__init__()
        self.tokens, self.places = nn.Embedding(30522, width), nn.Embedding(512, width)
        self.kinds = nn.Embedding(2, width)
        self.norm, self.drop = nn.LayerNorm(width), nn.Dropout(0.1)
        self.layers = nn.ModuleList(BertLayer(width, heads, biased)
                                    for _ in range(layers))
        self.span = nn.Linear(width, 2)

    def forward(self, tokens):
        place = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) + self.places(place) + self.kinds(torch.zeros_like(tokens))
        x = self.drop(self.norm(x))
        mask = torch.zeros(tokens.shape, dtype=x.dtype, device=x.device)[:, None, None]
        for layer in self.layers:
            x = layer(x, mask)
        return self.span(x)


class LlamaLayer(nn.Module):
    def __init__(self, width, heads, kv_heads, ffn, past):
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, width // heads
        kv = kv_heads * self.size
        self.q, self.k, self.v = (nn.Linear(width, n, bias=False) for n in (width, kv, kv))
        self.out = nn.Linear(width, width, bias=False)
        self.gate, self.up = (nn.Linear(width, ffn, bias=False) for _ in range(2))
        self.down = nn.Linear(ffn, width, bias=False)
        self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(2))
        self.past = past
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, kv_heads, past, self.size))

    @staticmethod
    def turned(x):
        a, b = x.chunk(2, -1)
        return x * x[..., :1] + torch.cat((-b, a), -1) * x[..., :1]

    def forward(self, x):
        n, s, w = x.shape
        h = self.norms[0](x)
        q = self.q(h).view(n, s, self.heads, -1).transpose(1, 2)
        k, v = (f(h).view(n, s, self.kv_heads, -1).transpose(1, 2) for f in (self.k, self.v))
        q, k = self.turned(q), self.turned(k)
        if self.past:
            k, v = torch.cat((self.keys, k), 2), torch.cat((self.values, v), 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=not self.past,
                                           enable_gqa=self.heads != self.kv_heads)
        x = x + self.out(y.transpose(1, 2).reshape(n, s, w))
        h = self.norms[1](x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class CompiledLayer(nn.Module):
    """gpt-fast's, an operator for each kernel that a compiler leaves: one product
    for queries, keys and values; a norm with the sum before it; one kernel that turns
    queries and keys and puts the new ones into a cache of fixed size; one for
    the gate. Keys and values are repeated for each head."""
    def __init__(self, width, heads, kv_heads, ffn, past):
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, width // heads
        self.qkv = nn.Linear(width, (heads + 2 * kv_heads) * self.size, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate, self.up = (nn.Linear(width, ffn, bias=False) for _ in range(2))
        self.down = nn.Linear(ffn, width, bias=False)
        self.norms = nn.ModuleList(nn.LayerNorm(width, bias=False) for _ in range(2))
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(1, kv_heads, 1, past, self.size))

    def repeated(self, cache):
        each = cache.expand(-1, -1, self.heads // self.kv_heads, -1, -1)
        return each.reshape(1, self.heads, -1, self.size)

    def forward(self, x):
        n, s, w = x.shape
        q = torch.neg(self.qkv(self.norms[0](x)))[..., :w]
        q = q.view(n, s, self.heads, -1).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, self.repeated(self.keys),
                                           self.repeated(self.values))
        h = self.norms[1](self.out(y.transpose(1, 2).reshape(n, s, w)))
        return self.down(self.gate(h) * self.up(h))


class Llama(nn.Module):
    def __init__(self, layer, layers, width, heads, kv_heads, ffn, vocab, past):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList(layer(width, heads, kv_heads, ffn, past)
                                    for _ in range(layers))
        self.norm, self.head = nn.RMSNorm(width), nn.Linear(width, vocab, bias=False)

    def forward(self, tokens):
        x = self.tokens(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x[:, -1:]))


class NanoBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width, bias=False) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        n, s, w = x.shape
        q, k, v = (t.view(n, s, self.heads, -1).transpose(1, 2)
                   for t in self.qkv(self.norms[0](x)).split(w, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(n, s, w))
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


class Nano(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(50304, 768), nn.Embedding(1024, 768)
        self.blocks = nn.ModuleList(NanoBlock(768, 12) for _ in range(12))
        self.norm, self.head = nn.LayerNorm(768, bias=False), nn.Linear(768, 50304, bias=False)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def mlp(*sizes):
    return nn.Sequential(*(m for a, b in zip(sizes, sizes[1:]) for m in (nn.Linear(a, b), nn.ReLU())))


class Dlrm(nn.Module):
    """DeepLearningExamples' small one: 26 tables of 128 numbers a row, in 32 bits.
    Two kernels of its own: `rows` stands for all look-ups, which one reads and
    writes in the network's type; `pairs`, padded to a multiple of 8, is what
    one makes of all rows, read once."""
    def __init__(self, batch):
        super().__init__()
        pairs = 128 + 27 * 26 // 2 + 1
        self.bottom, self.top = mlp(13, 512, 256, 128), mlp(pairs, 1024, 1024, 512, 256)
        self.last = nn.Linear(256, 1)
        self.register_buffer("rows", torch.zeros(batch, 26, 128, dtype=torch.int32))
        self.register_buffer("pairs", torch.zeros(batch, pairs))

    def forward(self, numbers, _):
        x = self.bottom(numbers)
        e = torch.cat((x.unsqueeze(1), self.rows.to(x.dtype)), 1)
        e.view(len(e), -1, 8).sum(-1)
        return self.last(self.top(self.pairs))


class SquadAdam(torch.optim.Optimizer):
    """run_squad.py's optimizers. Of a network in half: Apex's fused Adam, on
    weights and gradients in 32 bits (O2). Else BertAdam, operator by operator.
    Gradients are clipped by their global norm, which the host waits for."""
    def __init__(self, parameters):
        parameters = list(parameters)
        super().__init__(parameters, {})
        self.weights = parameters
        self.half = parameters[0].dtype is torch.float16
        wide = [torch.empty_like(p, dtype=torch.float32) for p in parameters]
        self.masters = wide if self.half else parameters
        self.gradients = [torch.empty_like(p) for p in wide]
        self.m, self.v = ([torch.empty_like(p) for p in wide] for _ in range(2))
        self.steps = [torch.zeros((), device=p.device) for p in parameters]

    @torch.no_grad()
    def step(self, closure=None):
        gradients = [p.grad for p in self.weights]
        if self.half:
            torch._foreach_copy_(self.gradients, gradients)
            gradients = self.gradients
        torch.stack(torch._foreach_norm(gradients)).norm().cpu()
        torch._foreach_mul_(gradients, 0.5)
        if self.half:
            torch._fused_adamw_(self.masters, gradients, self.m, self.v, [], self.steps,
                                lr=3e-5, beta1=0.9, beta2=0.999, weight_decay=0.01,
                                eps=1e-6, amsgrad=False, maximize=False)
            torch._foreach_copy_(self.weights, self.masters)
        else:
            torch.stack(torch._foreach_norm(self.weights)).norm().cpu()
            for each in zip(self.weights, gradients, self.m, self.v):
                self.bert_adam(*each)

    @staticmethod
    def bert_adam(p, g, m, v):
        scaled = p * 1.0 / 2.0 # the weights' norm is above 1
        m.mul_(0.9).add_(g, alpha=0.1)
        v.mul_(0.999).addcmul_(g, g, value=0.001)
        update = m / (v.sqrt() + 1e-6)
        if p.dim() > 1: # biases and norms do not decay
            update += 0.01 * scaled
        scaled.add_(-(3e-5 * update))


def span_loss(out):
    ends = torch.zeros(out.shape[0], dtype=torch.long, device=out.device)
    return sum(F.cross_entropy(out[..., i].float(), ends) for i in (0, 1)) / 2


def class_loss(out):
    wanted = torch.zeros(out.shape[0], dtype=torch.long, device=out.device)
    return F.cross_entropy(out.float(), wanted)


def token_loss(out):
    flat = out.view(-1, out.shape[-1])
    return F.cross_entropy(flat, torch.zeros(flat.shape[0], dtype=torch.long, device=out.device))


def step(mode, model, inputs, loss, optimizer):
    if mode == "infer":
        return model.eval(), inputs
    return (model, inputs, loss) if mode == "fb" else (model, inputs, loss, optimizer)


def build(name):
    network, mode, batch, *sequence = name.replace("__", "-").split("_")
    batch, sequence = int(batch), int(sequence[0]) if sequence else 0
    bert = network.removesuffix("-squad")
    if bert in BERTS:
        return step(mode, Bert(*BERTS[bert], biased=bert == network), torch.zeros(batch, sequence, dtype=torch.long),
                    span_loss, SquadAdam if bert != network else lambda p: torch.optim.AdamW(p, 3e-5))
    llama = network.removesuffix("-compiled")
    if llama in LLAMAS:
        layer = LlamaLayer if llama == network else CompiledLayer
        model = Llama(layer, *LLAMAS[llama], 0 if sequence else PAST)
        return model.eval(), torch.zeros(batch, sequence or 1, dtype=torch.long)
    if network == "nanogpt":
        return step(mode, Nano(), torch.zeros(batch, sequence, dtype=torch.long), token_loss,
                    lambda p: torch.optim.AdamW(p, 6e-4, fused=True))
    if network == "dlrm":
        return Dlrm(batch).eval(), (torch.zeros(batch, 13), torch.zeros(batch, 26, dtype=torch.long))
    import no_torchvision # pylint: disable=import-outside-toplevel
    no_torchvision.stand_in()
    import timm # pylint: disable=import-outside-toplevel
    return step(mode, timm.create_model(network), torch.zeros(batch, 3, 224, 224),
                class_loss, lambda p: torch.optim.SGD(p, 0.1, momentum=0.9))


def __getattr__(name):
    if name.startswith("_") or name.count("_") < 2:
        raise AttributeError(name)
    return lambda: build(name)
