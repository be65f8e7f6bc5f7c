"""k-anonymous releases of tables about people: a frame in, a verified frame out.

>>> import lookalike as la
>>> import pandas as pd
>>> people = pd.DataFrame({"age": [34, 36, 51, 58], "sex": ["f", "f", "m", "m"]})
>>> out = la.anonymize(people, k=2, quasi=["age", "sex"])
>>> out.frame
       age sex
0  [34-36]   f
1  [34-36]   f
2  [51-58]   m
3  [51-58]   m

What is handed out was audited by code that had no part in making it. docs/python.md has ten tasks.
"""

TYPE_CHECKING = False  # as in typing, which takes as long to import as the rest of this file
if TYPE_CHECKING:
    from ._api import (
        anonymize,
        apply,
        check,
        compare,
        explain,
        plan,
        query,
        report,
        suggest,
        verify,
    )
    from ._config import Config, Rules, rules
    from ._errors import (
        ConfigError,
        DataError,
        Exhausted,
        FileError,
        HierarchyError,
        Infeasible,
        LookalikeError,
        LookalikeWarning,
        NotVerified,
        RuleBroken,
    )
    from ._hierarchies import Hierarchy, dates, hierarchy, intervals, prefix
    from ._progress import Progress
    from ._results import (
        Answers,
        Bound,
        Comparison,
        Explanation,
        Loss,
        Plan,
        Plot,
        Release,
        Report,
        Risk,
        Rule,
        Verdict,
        Workload,
    )

    __version__: str

_MODULES = {
    "anonymize": "_api",
    "apply": "_api",
    "check": "_api",
    "compare": "_api",
    "explain": "_api",
    "plan": "_api",
    "query": "_api",
    "report": "_api",
    "suggest": "_api",
    "verify": "_api",
    "Config": "_config",
    "Rules": "_config",
    "rules": "_config",
    "ConfigError": "_errors",
    "DataError": "_errors",
    "Exhausted": "_errors",
    "FileError": "_errors",
    "HierarchyError": "_errors",
    "Infeasible": "_errors",
    "LookalikeError": "_errors",
    "LookalikeWarning": "_errors",
    "NotVerified": "_errors",
    "RuleBroken": "_errors",
    "Hierarchy": "_hierarchies",
    "dates": "_hierarchies",
    "hierarchy": "_hierarchies",
    "intervals": "_hierarchies",
    "prefix": "_hierarchies",
    "Progress": "_progress",
    "Answers": "_results",
    "Bound": "_results",
    "Comparison": "_results",
    "Explanation": "_results",
    "Loss": "_results",
    "Plan": "_results",
    "Plot": "_results",
    "Release": "_results",
    "Report": "_results",
    "Risk": "_results",
    "Rule": "_results",
    "Verdict": "_results",
    "Workload": "_results",
}
"""The module of each public name; it is loaded when the name is used for the first time."""

__all__ = [
    "Answers",
    "Bound",
    "Comparison",
    "Config",
    "ConfigError",
    "DataError",
    "Exhausted",
    "Explanation",
    "FileError",
    "Hierarchy",
    "HierarchyError",
    "Infeasible",
    "LookalikeError",
    "LookalikeWarning",
    "Loss",
    "NotVerified",
    "Plan",
    "Plot",
    "Progress",
    "Release",
    "Report",
    "Risk",
    "Rule",
    "RuleBroken",
    "Rules",
    "Verdict",
    "Workload",
    "anonymize",
    "apply",
    "check",
    "compare",
    "dates",
    "explain",
    "hierarchy",
    "intervals",
    "plan",
    "prefix",
    "query",
    "report",
    "rules",
    "suggest",
    "verify",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        from ._lookalike import version

        value: object = version()
    elif name == "engine":
        from importlib import import_module

        value = import_module(".engine", __name__)
    elif name in _MODULES:
        from importlib import import_module

        value = getattr(import_module(f".{_MODULES[name]}", __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "engine", "__version__", "__doc__"])
