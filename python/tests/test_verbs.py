"""Answers of the program as objects."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import mystique_sim as ms
from mystique_sim import program as runner

ROOT = Path(__file__).resolve().parents[2]


def test_predict_has_the_programs_figures(gpt2):
    p = ms.predict(gpt2, platform="a100", costs="model")
    done = subprocess.run(
        [str(runner.find()), "--platform", "a100", "--costs", "model", "--json", gpt2],
        capture_output=True, text=True, check=True)
    assert p.data == json.loads(done.stdout)
    assert p.period_us.low <= p.period_us.predicted <= p.period_us.high
    # docs/json.md: the five classes sum to the iteration.
    assert sum(p.breakdown_us.values()) == pytest.approx(p.iteration_us.predicted)
    rows = p.rows("ops")
    assert sum(r["predicted_us"] for r in rows if not r["communication"]) == (
        pytest.approx(p.kernel_us.predicted))
    assert "a100" in repr(p) and "ms" in repr(p)
    metrics = p.metrics()
    assert metrics["period_us.predicted"] == p.period_us.predicted
    assert all(type(value) is float for value in metrics.values())


def test_scale_is_repeated_and_platforms_are_one_value(gpt2):
    half = ms.predict(gpt2, platform="a100", scale=["kernels=0.5", "host=0.5"])
    assert half["scenario"]["options"][-4:] == [
        "--scale", "kernels=0.5", "--scale", "host=0.5"]
    several = ms.predict(gpt2, platform=["a100", "h100"])
    assert isinstance(several, ms.Predictions)
    assert [one.platform for one in several] == ["h100", "a100"]
    assert several.best.platform == "h100" and len(several) == 2
    assert [several[i].platform for i in (0, 1, -1)] == ["h100", "a100", "a100"]
    assert several["a100"].period_us == several[1].period_us
    assert several["ratios_to_best"] == several.data["ratios_to_best"]
    assert repr(several) == (f"<Predictions: h100 {several[0].period_us.predicted / 1000:,.3f} ms, "
                             f"a100 {several[1].period_us.predicted / 1000:,.3f} ms>")
    with pytest.raises(KeyError, match="no platform"):
        several["v100"]
    with pytest.raises(IndexError):
        several[2]
    assert several.rows()[0]["ratio_to_best"] == 1


def test_whatif_is_scale(gpt2):
    half = {"scale": {"select": "kernels", "factor": 0.5}}
    w = ms.whatif(gpt2, {"half": half, "h100, half": [half, {"gpu": "h100"}]},
                  platform="a100")
    p = ms.predict(gpt2, platform="a100", scale="kernels=0.5")
    assert w.ratio("half").predicted == pytest.approx(p["scenario"]["ratio"])
    assert [row["name"] for row in w.rows()] == ["half", "h100, half"]
    assert w.rows()[0]["period_us.predicted"] == pytest.approx(p.period_us.predicted)
    with pytest.raises(KeyError, match="no scenario 'x', there are: half, h100, half"):
        w.ratio("x")


def test_forms_of_changes_are_one(gpt2, tmp_path):
    change = {"gpu": "h100"}
    file = tmp_path / "scenarios.json"
    file.write_text(json.dumps({"scenarios": [{"name": "x", "changes": [change]}]}))
    ratios = {
        ms.whatif(gpt2, form, platform="a100").data["scenarios"][0]["ratio"]["predicted"]
        for form in ({"x": change}, [change], file, json.loads(file.read_text()),
                     ms.grid(gpu=["h100"]))}
    assert len(ratios) == 1


def test_grid_is_all_combinations(gpt2):
    w = ms.whatif(gpt2, ms.grid(kernels=[1, 0.5], gpu=["a100", "h100"]), platform="a100")
    assert [row["name"] for row in w.rows()] == [
        "kernels 1, gpu a100", "kernels 1, gpu h100",
        "kernels 0.5, gpu a100", "kernels 0.5, gpu h100"]
    assert [(row["grid.kernels"], row["grid.gpu"]) for row in w.rows()] == [
        (1, "a100"), (1, "h100"), (0.5, "a100"), (0.5, "h100")]
    assert w.ratio("kernels 0.5, gpu a100").predicted < 0.6


def test_an_axis_may_be_one_value():
    change = {"from": 2, "to": 8}
    assert ms.grid(gpu="h100", batch=8, sequence=change, kernels=(k for k in (1, 2))) == {
        "grid": {"gpu": ["h100"], "batch": [8], "sequence": [change], "kernels": [1, 2]}}


def test_numbers_of_arrays_are_numbers(gpt2):
    class Scalar:  # as numpy's and PyTorch's
        def __init__(self, value): self.value = value
        def tolist(self): return self.value

    axis = [Scalar(1), Scalar(0.5)]
    w = ms.whatif(gpt2, ms.grid(kernels=axis), platform="a100")
    assert [row["grid.kernels"] for row in w.rows()] == [1, 0.5]
    for wrong in (object(), float("nan")):
        with pytest.raises(ms.UsageError, match="cannot be written as JSON"):
            ms.whatif(gpt2, ms.grid(kernels=[wrong]), platform="a100")


def test_compare_takes_traces_and_predictions(gpt2):
    a = ms.predict(gpt2, platform="a100")
    b = ms.predict(gpt2, platform="h100")
    c = ms.compare(a, b)
    assert c.ratio == pytest.approx(b.period_us.predicted / a.period_us.predicted)
    assert c.rows("families")
    assert f"{a.period_us.predicted / 1000:.3f} ms to" in repr(c)
    # Two traces on two GPUs; slower by more than is allowed is no exception.
    slower = ms.compare(gpt2, gpt2, platform=("h100", "a100"), fail_above="5%")
    assert slower.failed
    assert not ms.compare(gpt2, gpt2, platform=("a100", "h100"), fail_above="5%").failed


def test_info_and_platforms(gpt2):
    files = ms.info(gpt2).rows()
    assert {row["format"] for row in files} <= {"et", "kineto"}
    assert "h100" in ms.platforms().names
    assert ms.platforms("h100")["name"] == "h100"


def test_explain_is_an_answer_of_its_own(gpt2):
    why = ms.predict(gpt2, platform="a100", explain="aten::linear")
    assert isinstance(why, ms.Explanation)
    assert repr(why) == "<Explanation of aten::linear on a100: 5 shapes>"
    assert why.rows()[0]["predicted_us"] > 0


def test_answers_without_an_answer_are_answers():
    """The program ends with 1 then; each row and scenario says why."""
    rows = ms.op([{"m": 0, "n": 8, "k": 8, "dtype": "fp16"}], "a100")
    assert "whole number" in rows.rows()[0]["reason"]
    assert any("0 of 1 rows" in line for line in rows.messages)
    scenarios = ms.whatif(ms.sample("gpt2"), {"odd": [{"parallel": {"tp": 3}}]}, platform="a100")
    assert scenarios["scenarios"][0]["reason"]


def test_op_takes_rows(tmp_path):
    rows = [{"m": 1024, "n": 1024, "k": 1024, "dtype": "bf16"},
            {"m": 1024, "n": 1024, "k": 0, "dtype": "bf16"}]
    answer = ms.op(rows, "a100")
    first, second = answer.rows()
    assert first["m"] == "1024" and first["predicted_us"] > 0
    assert first["model"] == "gemm" and first["reason"] is None
    assert second["predicted_us"] is None and "k is '0'" in second["reason"]
    file = tmp_path / "rows.csv"
    file.write_text("m,n,k,dtype\n1024,1024,1024,bf16\n")
    assert ms.op(file, platform="a100").rows()[0] == first
    kept = ms.op([{"m": 8, "n": 8, "k": 8, "dtype": "bf16", "note": "=x"}], "a100").rows()[0]
    assert kept["note"] == "=x"
    assert list(kept) == ["m", "n", "k", "dtype", "note", "predicted_us", "low_us", "high_us",
                          "model", "source", "emulated", "guards", "reason"]


def test_plan_and_serve_take_dicts():
    app = json.loads((ROOT / "data/apps/rag.json").read_text())
    from_dict = ms.serve(app, num_requests=200)
    assert from_dict.schema == "mystique-sim/serving/1"
    assert from_dict.rows()
    p = ms.plan({"model": "llama3-8b", "tokens": 1e9, "sequence": 4096,
                 "global_batch": 64, "gpus": [8],
                 "platforms": ["h100"], "limits": {"days": 365}})
    assert p.recommended["platform"] == "h100"
    assert p.rows("frontier")


def test_a_plan_of_nothing_is_an_answer():
    p = ms.plan({"model": "llama3-70b", "platforms": ["h100"], "gpus": [1],
                 "global_batch": 64})
    assert p.recommended is None and p["feasible"] == 0
    assert "nothing is feasible" in repr(p)
    assert ["input: check failed: nothing is recommended, no way is feasible"] == p.messages
    assert repr(ms.Plan({"recommended": {"platform": "l4", "gpus": 2}})) == "<Plan: 2 x l4>"


def test_a_described_model_has_a_strategy():
    w = ms.whatif("llama3-8b", [{"gpu": "h200"}], platform="h100",
                  strategy={"gpus": 8, "dp": 8, "zero": 3, "precision": "bf16"})
    assert w.ratio('{"gpu": "h200"}').predicted < 1


def test_json_comes_back(gpt2, tmp_path):
    p = ms.predict(gpt2, platform="a100")
    file = tmp_path / "p.json"
    assert json.loads(p.to_json(file)) == p.data
    assert json.loads(file.read_text()) == p.data
    assert "ops" in p.tables()
    with pytest.raises(KeyError, match="no table 'nothing'"):
        p.rows("nothing")


def test_df_is_pandas(gpt2):
    pytest.importorskip("pandas")
    frame = ms.predict(gpt2, platform="a100").df("ops")
    assert frame["predicted_us"].sum() > 0
    again = ms.op(ms.op([{"m": 64, "n": 64, "k": 64, "dtype": "fp16"}], "t4").df()
                  [["m", "n", "k", "dtype"]], "t4")
    assert len(again) == 1


def test_df_says_what_is_missing(gpt2, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        ms.predict(gpt2, platform="a100").df()


def test_version_has_a_number():
    assert ms.version().startswith("mystique-sim ")


def test_samples_are_there():
    assert "gpt2" in ms.samples()
    with pytest.raises(KeyError, match="no sample 'x', there are: bert"):
        ms.sample("x")


def test_import_needs_nothing():
    code = ("import sys; sys.path.insert(0, %r); import mystique_sim; "
            "assert not {'pandas', 'torch', 'numpy'} & set(sys.modules)"
            % str(ROOT / "python"))
    subprocess.run([sys.executable, "-c", code], check=True)
