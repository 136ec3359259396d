"""Run the code of docs/traces.md around a training step of a small transformer."""
import pathlib
import re
import sys

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, activation="gelu")
model = nn.Sequential(nn.Embedding(50, 16), layer, nn.Linear(16, 50))
optimizer = torch.optim.AdamW(model.parameters())


def train_step():
    tokens = torch.randint(0, 50, (2, 12))
    loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
recipe = re.search(r"```python\n(.*?ExecutionTraceObserver.*?)```", page, re.DOTALL)
pathlib.Path("run").mkdir()
exec(recipe.group(1))
