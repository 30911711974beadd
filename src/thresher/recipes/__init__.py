"""The recipes. `names` and `get` cost nothing: settings and parts are imported when a recipe is looked into or run."""

from thresher.recipes.registry import DEFAULT, configured, get, names, settings_keys

__all__ = ["DEFAULT", "configured", "get", "names", "settings_keys"]
