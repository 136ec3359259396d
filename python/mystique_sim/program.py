"""The program ``mystique-sim``: where it is, and one run of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import threading
from importlib import metadata
from pathlib import Path
from typing import Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from .errors import ProgramNotFound, TimedOut, UsageError, of_run

NAME = "mystique-sim"

# What an option may be: True is a flag, None leaves it out, a list repeats it.
Option = Union[None, bool, int, float, str, "os.PathLike[str]",
               Sequence[Union[int, float, str]]]
PathLike = Union[str, "os.PathLike[str]"]

# Options whose lists are one value with commas, not the option again.
ONE_VALUE = frozenset({"platform", "price", "power", "iteration", "clock"})


def _places() -> Iterator[Path]:
    """Where the program may be, the likeliest first."""
    chosen = os.environ.get("MYSTIQUE_SIM")
    if chosen:
        yield Path(chosen)
        return
    try:  # the wheel says where it put it, whatever scheme pip had
        for file in metadata.files(NAME) or []:
            if file.name == NAME and "bin" in Path(file).parts[-2:]:
                yield Path(str(file.locate())).resolve()
    except metadata.PackageNotFoundError:
        pass
    yield Path(sysconfig.get_path("scripts")) / NAME
    yield Path(sys.executable).parent / NAME
    yield Path(__file__).resolve().parents[2] / "build" / NAME  # a source tree
    found = shutil.which(NAME)
    if found:
        yield Path(found)


def find() -> Path:
    """The program: $MYSTIQUE_SIM, that of the wheel, of a source tree's build/,
    or on the PATH. ProgramNotFound where there is none."""
    for place in _places():
        if place.is_file() and os.access(place, os.X_OK):
            return place
    chosen = os.environ.get("MYSTIQUE_SIM")
    if chosen:
        raise ProgramNotFound(
            f"the environment's MYSTIQUE_SIM is '{chosen}', which is no program: want "
            "the path of mystique-sim, or none, for that of the wheel or on the PATH"
        )
    raise ProgramNotFound(
        "no program 'mystique-sim' beside Python or on the PATH: want a wheel "
        "(scripts/build_wheel.sh builds it, pip installs that file), or the program's "
        "path in the environment's MYSTIQUE_SIM"
    )


def arguments(options: Mapping[str, Option]) -> List[str]:
    """Keyword arguments as options of a command line."""
    out: List[str] = []
    for name, value in options.items():
        dashed = ("-" if len(name) == 1 else "--") + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            out.append(dashed)
            continue
        if isinstance(value, (list, tuple)):
            values = [str(one) for one in value]
            if name in ONE_VALUE:
                values = [",".join(values)]
        else:
            values = [os.fspath(value) if isinstance(value, os.PathLike) else str(value)]
        for one in values:
            # In one word: a value that begins with a dash is no option then.
            out.extend([dashed, one] if len(name) == 1 else [f"{dashed}={one}"])
    return out


def _seconds(timeout: Option) -> Optional[float]:
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0:
        raise UsageError(f"timeout is {timeout!r}, want seconds above 0")
    # what is more, infinity too, is no limit: a clock of the system cannot wait so long
    return float(timeout) if timeout <= threading.TIMEOUT_MAX else None


def run(
    verb: str,
    options: Mapping[str, Option],
    operands: Sequence[PathLike] = (),
    stdin: Optional[str] = None,
    allowed: Tuple[int, ...] = (0,),
) -> Tuple[str, List[str], int]:
    """Run a verb without a shell: what it printed, its messages, its exit code.

    Codes that are not `allowed` raise MystiqueError. A name of a file is one
    whatever it looks like: operands stand behind ``--``. `timeout` among the
    options is ours: seconds after which the run is ended, and TimedOut raised.
    """
    given = dict(options)
    seconds = _seconds(given.pop("timeout", None))
    command = [str(find()), verb, *arguments(given)]
    if operands:
        command += ["--", *(os.fspath(path) for path in operands)]
    try:
        done = subprocess.run(
            command,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            check=False,
            timeout=seconds,
            # predict's `model` is recorded by the PyTorch of this Python
            env={"PYTHON": sys.executable, **os.environ},
        )
    except subprocess.TimeoutExpired:
        raise TimedOut(f"'{verb}' took longer than its timeout of {seconds:g} s") from None
    # a check that failed has an answer, or there was another reason
    if done.returncode not in allowed or (done.returncode and not done.stdout):
        raise of_run(done.returncode, done.stderr)
    messages = [line.split(": ", 1)[-1] if line.startswith(NAME) else line
                for line in done.stderr.splitlines()]
    return done.stdout, messages, done.returncode
