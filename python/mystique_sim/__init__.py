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

from . import errors, recording, results, verbs
from .errors import *  # noqa: F403
from .recording import *  # noqa: F403
from .results import *  # noqa: F403
from .samples import *  # noqa: F403
from .samples import __all__ as _samples
from .verbs import *  # noqa: F403

# What each module offers is said there, once.
__all__ = errors.__all__ + recording.__all__ + results.__all__ + _samples + verbs.__all__
