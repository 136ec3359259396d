"""Execution traces of small steps, each of which a public replayer fails on
(operators refused by name, skipped, or fed with what they cannot take)."""
import torch
from torch.profiler import ExecutionTraceObserver, profile, record_function

torch.manual_seed(0)
torch.set_num_threads(1)


def foreach():
    """All of a fused AdamW step is in operators on lists of tensors."""
    optimizer.zero_grad()
    model(torch.ones(4, 8)).sum().backward()
    optimizer.step()


def embedding_bag():
    """Offsets rise from 0; random ones are refused."""
    bag.zero_grad()
    rows = torch.randint(0, 50, (24,))
    offsets = torch.arange(0, 24, 4)
    bag(rows, offsets).sum().backward()


def index_put():
    """Lists that hold None; memory that Python itself fills."""
    x = torch.zeros(6, 5)
    x[:, torch.tensor([0, 2])] = 1.0
    x.tanh()


def storage():
    """A tensor on memory that comes from elsewhere, as a data loader's does."""
    x = torch.empty(0).set_(memory, 0, (4, 4), (4, 1))
    x.tanh()


def hidden():
    """Backward reads what forward made inside operators that consist of others."""
    for module in conv, norm:
        module.zero_grad()
    y = norm(drop(conv(torch.ones(2, 3, 8, 8))))
    torch.nn.functional.cross_entropy(y.mean((2, 3)), torch.tensor([1, 2])).backward()


def accumulated():
    """Gradients of the step before are added to."""
    again(torch.ones(4, 8)).sum().backward()


def names():
    """Operators whose names are words of Python's own."""
    x = torch.empty(8).random_(0, 5)
    x.logical_not()


model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 2))
optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
bag = torch.nn.EmbeddingBag(50, 8, mode="sum")
conv, drop = torch.nn.Conv2d(3, 4, 3), torch.nn.Dropout(0.5)
norm = torch.nn.BatchNorm2d(4)
again = torch.nn.Linear(8, 2)
memory = torch.zeros(16).untyped_storage()

for step in foreach, embedding_bag, index_put, storage, hidden, accumulated, names:
    step() # state and lazily made tensors
    observer = ExecutionTraceObserver()
    observer.register_callback(f"{step.__name__}.et.json")
    with profile(execution_trace_observer=observer):
        with record_function("ProfilerStep#1"):
            step()
    observer.unregister_callback()
