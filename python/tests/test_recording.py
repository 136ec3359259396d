"""Traces recorded by PyTorch on a CPU, and predicted from."""

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch")

import mystique_sim as ms  # noqa: E402


def step(net, optimizer):
    net(torch.ones(8, 16)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()


def make():
    net = torch.nn.Linear(16, 4)
    return net, torch.optim.SGD(net.parameters(), lr=0.1)


def test_record_and_predict(tmp_path):
    job = make()
    with ms.record(tmp_path / "run", wait=1, warmup=1, active=2) as prof:
        for _ in range(4):
            step(*job)
            prof.step()
    files = ms.info(tmp_path / "run").rows()
    assert {row["format"] for row in files} == {"et", "kineto"}
    assert {row["steps"] for row in files if row["format"] == "kineto"} == {2}
    assert ms.predict(tmp_path / "run", platform="h100").period_us.predicted > 0
    assert not list((tmp_path / "run").glob("*.part"))


def test_a_job_that_ends_early_says_so(tmp_path):
    job = make()
    with pytest.raises(RuntimeError, match="recorded 1 iterations .* at least 9"):
        with ms.record(tmp_path / "run") as prof:
            step(*job)
            prof.step()


def test_modules_are_regions(tmp_path):
    net = torch.nn.Sequential(torch.nn.Linear(16, 8), torch.nn.ReLU())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with ms.record(tmp_path / "run", wait=0, warmup=1, active=1, modules=net) as prof:
        for _ in range(2):
            step(net, optimizer)
            prof.step()
    regions = {r["name"] for r in ms.predict(tmp_path / "run", platform="h100").rows("regions")}
    assert {"0 (Linear)", "1 (ReLU)"} <= regions
    assert not net[0]._forward_pre_hooks and not net[0]._forward_hooks
    with pytest.raises(TypeError, match="modules is a list, want one torch.nn.Module"):
        with ms.record(tmp_path / "none", modules=[net]):
            pass


def test_on_trace_ready(tmp_path, monkeypatch):
    monkeypatch.setenv("RANK", "3")
    ready = ms.on_trace_ready(tmp_path / "run")
    job = make()
    with torch.profiler.profile(record_shapes=True, on_trace_ready=ready,
                                execution_trace_observer=ready.observer):
        step(*job)
    assert ready.written
    assert ready.et.name == "rank-3.et.json" and ready.et.stat().st_size > 0
    assert ready.kineto.name == "rank-3.kineto.json"
    assert {row["rank"] for row in ms.info(tmp_path / "run").rows()} == {3}


def test_a_module_is_recorded_by_this_python(tmp_path, monkeypatch):
    """Without a PYTHON of the environment, on whose PATH none need be."""
    monkeypatch.delenv("PYTHON", raising=False)
    (tmp_path / "net.py").write_text(
        "import torch\n"
        "def make():\n"
        "    return torch.nn.Linear(16, 4), (torch.ones(8, 16),)\n")
    p = ms.predict(model=f"{tmp_path}/net.py:make", platform="h100")
    assert p.rows("ops")[0]["model"] == "gemm"
