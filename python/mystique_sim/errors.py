"""What the program refuses, as exceptions: one class an exit code."""

from __future__ import annotations

from typing import Sequence

__all__ = [
    "CheckFailed", "InputError", "InternalError", "MystiqueError", "ProgramNotFound",
    "TimedOut", "UsageError",
]


class MystiqueError(Exception):
    """The program gave no answer; the text is its sentence.

    code      exit code of the program (1 to 4); 0 where it did not run to its end
    messages  all it wrote to standard error, a line each, without its name
    """

    def __init__(self, text: str, code: int = 0, messages: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.code = code
        self.messages = list(messages)


class CheckFailed(MystiqueError):
    """Exit code 1: a check failed, such as a limit that is not met."""


class UsageError(MystiqueError):
    """Exit code 2: an option, options that do not go together, or a name (of a
    GPU, a host, a model) that is not known."""


class InputError(MystiqueError):
    """Exit code 3: a file that cannot be read, or is not what it should be."""


class InternalError(MystiqueError):
    """Exit code 4, or a signal: a fault of the program or of the machine."""


class TimedOut(MystiqueError):
    """The run took longer than its `timeout`, and was ended."""


class ProgramNotFound(MystiqueError):
    """There is no program ``mystique-sim`` where it is looked for."""


BY_CODE = {1: CheckFailed, 2: UsageError, 3: InputError, 4: InternalError}


def of_run(code: int, stderr: str) -> MystiqueError:
    """The exception for a run that ended with `code`; negative: by a signal."""
    name = "mystique-sim: "
    lines = [line[len(name) :] if line.startswith(name) else line
             for line in stderr.splitlines()]
    # The sentence comes last; what stands before it are notes and warnings.
    said = [line for line in lines if not line.startswith(("warning: ", "note: "))]
    text = said[-1] if said else f"mystique-sim ended with code {code}"
    return BY_CODE.get(code, InternalError)(text, code, lines)
