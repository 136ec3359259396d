"""What goes wrong is an exception with the program's sentence; nothing that is
given is ever an option, a command of a shell, or HTML."""

import pytest

import mystique_sim as ms
from mystique_sim import errors, html, program as runner

HOSTILE = "<script>alert(1)</script>"


def test_the_sentence_is_the_programs(tmp_path):
    with pytest.raises(ms.UsageError, match="option '--costs' is 'x', want") as usage:
        ms.predict(tmp_path, costs="x")
    assert usage.value.code == 2
    with pytest.raises(ms.InputError) as missing:
        ms.predict(tmp_path / "none.json", platform="a100")
    assert missing.value.code == 3
    assert "none.json" in str(missing.value)
    assert not str(missing.value).startswith("mystique-sim:")
    with pytest.raises(ms.UsageError, match="did you mean 'a10'. known are: a10, "):
        ms.predict(tmp_path, platform="h10")


def test_a_dict_is_no_file_of_the_callers(gpt2):
    with pytest.raises(ms.InputError, match="^input: scenarios.*speedd is not known"):
        ms.whatif(gpt2, {"x": {"speedd": 2}}, platform="a100")
    p = ms.predict(gpt2, platform="a100")
    with pytest.raises(ms.UsageError) as unknown:
        ms.compare(p, gpt2, platform="a1000")
    assert not any("mystique-sim-" in text for text in unknown.value.messages)
    assert "mystique-sim-" not in ms.compare(p, p).to_json()


def test_an_unknown_keyword_is_a_usage_error(gpt2):
    with pytest.raises(ms.UsageError, match="platfrom"):
        ms.predict(gpt2, platfrom="a100")


def test_a_signal_is_internal(program):
    program("kill -9 $$")
    with pytest.raises(ms.InternalError) as ended:
        ms.info("x")
    assert ended.value.code == -9


def test_there_may_be_no_program(monkeypatch, tmp_path):
    monkeypatch.setenv("MYSTIQUE_SIM", str(tmp_path / "none"))
    with pytest.raises(ms.ProgramNotFound, match="MYSTIQUE_SIM is '.*none', which is no"):
        ms.info("x")
    monkeypatch.setattr(runner, "_places", lambda: iter(()))
    monkeypatch.delenv("MYSTIQUE_SIM")
    with pytest.raises(ms.ProgramNotFound, match="scripts/build_wheel.sh"):
        ms.info("x")


def test_a_text_is_no_answer(gpt2):
    """Of options that ask for another answer."""
    for options in ({"help": True}, {"version": True}):
        with pytest.raises(ms.UsageError, match="a text and no JSON.*began: '"):
            ms.predict(gpt2, platform="a100", **options)


def test_a_check_without_an_answer_failed(program):
    program("echo 'mystique-sim: no' >&2; exit 1")
    with pytest.raises(ms.CheckFailed, match="^no$"):
        ms.plan({})


def test_no_shell_and_no_option(program, tmp_path):
    """Names are one argument each, behind `--`; values are one word with theirs."""
    program("printf '%s\\n' \"$@\" >\"${0%/*}/args\"; echo '{\"schema\": \"x/info/1\"}'")
    ms.info("--platform", "$(touch owned); `id`", salvage=True)
    assert (tmp_path / "args").read_text().splitlines() == [
        "info", "--salvage", "--json", "--", "--platform", "$(touch owned); `id`"]
    assert runner.arguments({"platform": "--x", "scale": ["a=1", "b=2"], "o": "d",
                             "host": None, "strict": False}) == [
        "--platform=--x", "--scale=a=1", "--scale=b=2", "-o", "d"]


def test_messages_are_kept(program):
    program("echo 'mystique-sim: warning: a' >&2; echo 'mystique-sim: b' >&2; exit 2")
    with pytest.raises(ms.UsageError, match="^b$") as both:
        ms.info("x")
    assert both.value.messages == ["warning: a", "b"]
    assert str(errors.of_run(4, "")) == "mystique-sim ended with code 4"


def test_html_is_escaped():
    ops = [{"name": HOSTILE, "calls": 1, "predicted_us": 2.0, "model": HOSTILE,
            "limit": None}] * 40
    figure = {"predicted": 1.0, "low": 1.0, "high": 1.0, "measured": None}
    p = ms.Prediction({"platform": HOSTILE, "verdict": HOSTILE, "ops": ops,
                       "costs": HOSTILE, "warnings": [HOSTILE], "period_us": figure,
                       "iteration_us": figure, "kernel_us": figure,
                       "breakdown_us": {HOSTILE: 1.0}})
    row = {"name": HOSTILE, "period_us": figure, "ratio": figure, "reason": HOSTILE}
    w = ms.WhatIf({"base": row, "scenarios": [row], "warnings": [HOSTILE]})
    i = ms.Info({"files": [{"path": HOSTILE}], "missing": [HOSTILE]})
    for shown in (p, w, i):
        text = shown._repr_html_()
        assert "<script" not in text
        assert "&lt;script&gt;" in text
    assert "and 10 more rows" in p._repr_html_()
    assert 'x"' not in html.table([{'a"': 'x"'}]).replace('style="', "")


def test_what_is_shown_is_plain():
    """No escape of a terminal, no writing turned around, no half of a pair."""
    wild = "\x1b[2J\u202ea\u2028\udcff"
    for shown in (
        ms.Prediction({"platform": wild, "ops": [{"name": wild}], "warnings": [wild]}),
        ms.Predictions({"platforms": [{"platform": wild}], "ratios_to_best": [{}]}),
        ms.Serving({"classes": {wild: {}}}),
        ms.Plan({"recommended": {"platform": wild, "gpus": 1}}),
        ms.Platforms({"name": wild}),
        ms.Result({wild: 1}),
    ):
        for text in (repr(shown), shown._repr_html_()):
            assert "?[2J?a??" in text
            assert text.isprintable() and text.encode("utf-8")


def test_unknown_is_none():
    p = ms.Prediction({"schema": "mystique-sim/prediction/1", "ops": []})
    assert p.period_us == ms.Figure(None, None, None, None)
    assert "not known" in repr(p)
    assert p._repr_html_()


def test_a_run_may_take_no_longer_than_its_timeout(tmp_path, monkeypatch):
    slow = tmp_path / "mystique-sim"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("MYSTIQUE_SIM", str(slow))
    with pytest.raises(ms.TimedOut, match="'info' took longer than its timeout of 0.2 s"):
        ms.info("run", timeout=0.2)
    for wrong in (0, -1, "10", True, float("nan")):
        with pytest.raises(ms.UsageError, match="want seconds above 0"):
            ms.info("run", timeout=wrong)


def test_a_timeout_is_no_option_of_the_program(gpt2):
    assert ms.info(gpt2, timeout=300).rows()
    for endless in (float("inf"), 1e300, 10**400):
        assert ms.info(gpt2, timeout=endless).rows()


def test_what_is_offered_is_there():
    assert len(ms.__all__) == len(set(ms.__all__))
    assert all(hasattr(ms, name) for name in ms.__all__)
    assert callable(ms.samples)
