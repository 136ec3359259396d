"""How long a PyTorch job takes on a GPU, and why, from its execution traces.

    import mystique_sim as ms

    p = ms.predict("run", platform="h100")
    p.period_us.predicted        # microseconds, with .low and .high (90 %)
    p.df("ops")                  # a pandas DataFrame; rows("ops") needs no pandas
    ms.whatif("run", {"h200": {"gpu": "h200"}}, platform="h100").df()

Every function runs the program ``mystique-sim`` once, without a shell; options
of its command line are keyword arguments here (``--per-iteration 32`` is
``per_iteration=32``). What the program refuses is an exception with its
sentence. Nothing but the standard library is imported; pandas and torch are
where they are used (``df``; ``record`` and ``on_trace_ready``).
"""

from .errors import (
    CheckFailed,
    InputError,
    InternalError,
    MystiqueError,
    ProgramNotFound,
    UsageError,
)
from .recording import TraceReady, on_trace_ready, record
from .results import (
    Comparison,
    Explanation,
    Figure,
    Info,
    OpTable,
    Plan,
    Platforms,
    Prediction,
    Predictions,
    Result,
    Serving,
    WhatIf,
)
from .samples import sample, samples
from .verbs import (
    compare,
    grid,
    info,
    op,
    plan,
    platforms,
    predict,
    serve,
    version,
    whatif,
)

__all__ = [
    "CheckFailed",
    "Comparison",
    "Explanation",
    "Figure",
    "Info",
    "InputError",
    "InternalError",
    "MystiqueError",
    "OpTable",
    "Plan",
    "Platforms",
    "Prediction",
    "Predictions",
    "ProgramNotFound",
    "Result",
    "Serving",
    "TraceReady",
    "UsageError",
    "WhatIf",
    "compare",
    "grid",
    "info",
    "on_trace_ready",
    "op",
    "plan",
    "platforms",
    "predict",
    "record",
    "sample",
    "samples",
    "serve",
    "version",
    "whatif",
]
