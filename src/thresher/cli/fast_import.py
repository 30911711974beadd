"""A quicker start of the command: LanceDB without the REST client of remote catalogs.

`import lancedb` imports `lance_namespace_urllib3_client`, whose API classes build a validator for each of hundreds of
endpoints: 0.55 of the 1.95 processor seconds of a question in a fresh process. A local store uses none of them, only
the models of that client. The command line gives the API modules empty classes instead; the library never does.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType

REST_API = "lance_namespace_urllib3_client.api"


class _EmptyModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of the REST API, and gives every name in them an empty class."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """A spec for the modules of the REST API only."""
        if name != REST_API and not name.startswith(REST_API + "."):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=name == REST_API)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing runs; a name gets its class when it is imported."""

        def empty_class(name: str) -> type:
            if name.startswith("__"):
                raise AttributeError(name)
            return type(name, (), {"__module__": module.__name__})

        module.__getattr__ = empty_class  # type: ignore[method-assign]


def without_rest_client() -> None:
    """Make the next `import lancedb` of this process skip its REST client."""
    loaded = "lance_namespace_urllib3_client" in sys.modules
    if not loaded and not any(isinstance(finder, _EmptyModules) for finder in sys.meta_path):
        sys.meta_path.insert(0, _EmptyModules())
