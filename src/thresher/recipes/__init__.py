"""The recipes. `names` and `get` cost nothing: settings and parts are imported when a recipe is looked into or run."""

from thresher.recipes.registry import (
    DEFAULT,
    Recipe,
    configured,
    derive,
    front,
    front_origins,
    get,
    names,
    register,
    settings_keys,
)

__all__ = [
    "DEFAULT",
    "Recipe",
    "configured",
    "derive",
    "front",
    "front_origins",
    "get",
    "names",
    "register",
    "settings_keys",
]
