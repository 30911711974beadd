"""The recipes by name, as data: summary, settings, presets. A recipe's parts are imported when it is run.

A recipe is a module with a docstring (Follows / Departs / Left open), `index_config` and `pipeline`, a model of its
settings, and a `Recipe` in `RECIPES` or, as the published methods of `thresher_methods`, under the entry points
`thresher.recipes`. Our `index_config`s are in `cuts`, which imports no part of a question.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from thresher.errors import MisplacedSetting, UnknownSetting, UsageError, check_type
from thresher.plugins import brought, load_plugins, loaded

if TYPE_CHECKING:
    from types import ModuleType

    from thresher.home.places import Home
    from thresher.indexing.index_config import IndexConfig
    from thresher.pipeline import Pipeline
    from thresher.recipes.components import Components
    from thresher.recipes.settings import FrontSettings, RecipeSettings
    from thresher.settings import Layer

DEFAULT = "corrective"

GROUP = "thresher.recipes"
"""The entry points of recipes that distributions bring, each the name of a `Recipe`, imported when it is asked for."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A published method, a preset of one, or our own."""

    name: str
    summary: str
    module: str
    """The file in `recipes/` that names its parts; elsewhere `package:module`, the package empty at the top."""
    model: str
    """The class in `recipes.settings`, or elsewhere as `module:Class`."""
    preset_of: str | None = None
    preset: Mapping[str, Any] = field(default_factory=dict)
    needs_llm: bool = False
    corrects: bool = False
    """Whether it may look outside the collection."""
    parts: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    """Parts that stand in a slot instead of the recipe's own, by slot: see `derive`."""
    bounds: tuple[str, ...] | None = None
    """The settings of its printed lower and upper bound, or of its floor, which `calibrate` learns for a collection."""
    cut: str = ""
    """`module:function` that cuts documents; `index_config` of `module` if empty, which imports what answers too."""

    def variant(self, name: str, summary: str, model: str, preset: Mapping[str, Any]) -> Recipe:
        """A preset of this recipe."""
        return replace(self, name=name, summary=summary, model=model, preset_of=self.name, preset=preset)

    @property
    def settings(self) -> type[RecipeSettings]:
        """The model of its settings; no part is imported for it."""
        module, _, name = self.model.rpartition(":")
        found = import_module(module or "thresher.recipes.settings")
        return cast("type[RecipeSettings]", getattr(found, name))

    def configured(
        self, given: Mapping[str, Any], *, home: Home | None = None, around: Sequence[Layer] | None = None
    ) -> RecipeSettings:
        """The settings it runs with: see `thresher.settings.resolved`. Raises UsageError."""
        from thresher.settings import resolved

        _check_here(given, [self])
        return resolved(self.settings, given, preset=self.preset, home=home, known=settings_keys(), around=around)

    def origins(self, given: Mapping[str, Any], *, home: Home) -> dict[str, str]:
        """Where each setting comes from that does not keep its default, by dotted key."""
        from thresher.settings import layers, origins

        return origins(layers(self.settings, given, preset=self.preset, home=home, known=settings_keys()))

    @property
    def follows(self) -> str:
        """Follows / Departs / Left open, with sections of the source."""
        return self._wiring.__doc__ or ""

    def index_config(self, settings: RecipeSettings, components: Components) -> IndexConfig | None:
        """How the documents must be cut and encoded; None for a recipe that retrieves nothing."""
        from thresher.recipes import cuts

        if self.cut:
            module, _, name = self.cut.partition(":")
            cut = getattr(import_module(module), name)
        else:
            cut = getattr(cuts, self.module, None) or self._wiring.index_config
        return cast("IndexConfig | None", cut(settings, components))

    def pipeline(self, settings: RecipeSettings, components: Components) -> Pipeline:
        """The recipe, ready to run, by the bounds that were learned in this collection where there are any."""
        made = self.wired(settings, components)
        if self.bounds is None or components.sketched:
            return made
        from thresher.recipes.judges import with_learned

        return with_learned(
            made, settings, components, name=self.name, keys=self.bounds, preset=self.preset, wired=self.wired
        )

    def wired(self, settings: RecipeSettings, components: Components) -> Pipeline:
        """The recipe by its settings, without learned bounds."""
        made = cast("Pipeline", self._wiring.pipeline(settings, components, self.name))
        made = replace(made, only_correct=settings.answer.mode == "strict")
        if not self.parts:
            return made
        from thresher.recipes.own_parts import with_parts

        return with_parts(made, self.parts)

    def describe(self, settings: RecipeSettings) -> dict[str, Any]:
        """JSON form of the public contract: descriptions of its parts, and the settings."""
        from thresher.recipes.components import Components
        from thresher.settings import flat

        components = Components.sketch()
        pipeline = self.pipeline(settings, components)
        return {
            "name": self.name,
            "preset_of": self.preset_of,
            "summary": self.summary,
            "slots": pipeline.describe(self.index_config(settings, components)),
            "follows": self.follows,
            "needs_llm": self.needs_llm,
            "settings": flat(settings),
        }

    @property
    def _wiring(self) -> ModuleType:
        package, elsewhere, module = self.module.rpartition(":")
        if elsewhere:
            return import_module(f"{package}.{module}" if package else module)
        return import_module(f"thresher.recipes.{module}")


_HYBRID = Recipe(
    "hybrid", "dense + BM25, fused by reciprocal ranks, reranked, two dense hits protected", "hybrid", "HybridSettings"
)
_RECIPES = (
    Recipe(
        "corrective",
        "our own: calibrated judging, correction, verified answers; the default",
        "corrective",
        "CorrectiveSettings",
        corrects=True,
    ),
    Recipe("rag", "plain RAG: the nearest chunks, trusted as they are", "rag", "RagSettings"),
    _HYBRID,
    _HYBRID.variant(
        "hybrid-literal",
        "the hybrid report as printed: fixed depths 8 and 4, five results, the cross-encoder alone orders",
        "HybridLiteralSettings",
        {"fuse.method": "rrf"},
    ),
    Recipe(
        "no-retrieval", "the generator alone, without evidence", "no_retrieval", "NoRetrievalSettings", needs_llm=True
    ),
)

RECIPES: dict[str, Recipe] = {recipe.name: recipe for recipe in _RECIPES}
"""Those of Thresher, those that were registered, and those of other distributions that were asked for."""


def names() -> list[str]:
    """All recipes and presets; those that other distributions bring are not imported for it."""
    load_plugins()
    installed = sorted(brought(GROUP))
    return [*(name for name in RECIPES if name not in installed), *installed]


def get(name: str | Recipe) -> Recipe:
    """The recipe or preset of that name; a recipe is itself. Raises UnknownSetting, naming the nearest."""
    if isinstance(name, Recipe):
        return name
    check_type("recipe", name, str, "the name of a recipe, or one that `recipes.derive` made")
    load_plugins()
    if name not in RECIPES:
        if name not in brought(GROUP):
            raise UnknownSetting(name, names(), kind="recipe")
        RECIPES[name] = cast("Recipe", loaded(brought(GROUP)[name]))
    return RECIPES[name]


def derive(
    base: str | Recipe,
    *,
    name: str = "",
    summary: str = "",
    settings: Mapping[str, Any] | None = None,
    **parts: Callable[..., Any],
) -> Recipe:
    """A recipe with parts of your own: `derive("corrective", judge=my_judge)`, to be given as `recipe` to a question.

    A part is named by its slot (rewrite, retrieve, judge, decide, correct, refine, generate, verify) and is anything
    callable with the shape of `thresher.protocols`; its result is checked when it runs. `settings` are other defaults;
    `name` is `corrective+judge` and so on where none is given. Raises UsageError for an unknown slot, and for a setting
    or a shape that does not fit.
    """
    from thresher.recipes.own_parts import check_parts
    from thresher.settings import check_known, keys

    found = get(base)
    check_parts(parts)
    derived = replace(
        found,
        name=name or "+".join((found.name, *sorted(parts))),
        summary=summary or f"{found.name} with {', '.join(sorted(parts)) or 'settings'} of its own",
        preset_of=found.name,
        preset={**found.preset, **(settings or {})},
        needs_llm=found.needs_llm and "generate" not in parts,
        corrects=found.corrects or "correct" in parts,
        parts={**found.parts, **parts},
    )
    check_known(settings or {}, keys(found.settings))
    derived.configured({})  # a setting that does not fit is refused here
    return derived


def register(recipe: Recipe) -> Recipe:
    """Make a recipe known by its name, for the command line, `eval compare` and `replay`; installed ones stay."""
    if RECIPES.get(recipe.name) in _RECIPES or recipe.name in brought(GROUP):
        raise UsageError("is an installed recipe", subject=recipe.name, next_step="give it another `name`")
    RECIPES[recipe.name] = recipe
    return recipe


def configured(
    chosen: Sequence[str | Recipe],
    given: Mapping[str, Any],
    *,
    home: Home | None = None,
    around: Sequence[Layer] | None = None,
) -> list[tuple[Recipe, RecipeSettings]]:
    """Several recipes with their settings; a given setting counts for the recipes that have it. Raises UsageError."""
    from thresher.settings import check_known, dotted, keys, known_to

    found = [get(name) for name in chosen]
    values = dict(dotted(given))
    _check_here(values, found)
    check_known(values, {key for recipe in found for key in keys(recipe.settings)})
    return [
        (recipe, recipe.configured(known_to(recipe.settings, values), home=home, around=around)) for recipe in found
    ]


def front(home: Home | None = None) -> FrontSettings:
    """Home, collection, recipe, strictness if no caller names them: of each `thresher.toml` and the environment."""
    from thresher.recipes.settings import FrontSettings
    from thresher.settings import stacked

    found = _front_layers(home)
    front = stacked(FrontSettings, found)
    try:
        get(front.recipe)
    except UnknownSetting as error:
        origin = next(layer.origin for layer in reversed(found) if "recipe" in layer.values)
        error.subject = f"{origin}: {error.subject}"
        raise
    return front


def front_origins(home: Home | None = None) -> dict[str, str]:
    """Where each value of `front` comes from that is not the default."""
    from thresher.settings import origins

    return origins(_front_layers(home))


def _front_layers(home: Home | None) -> list[Layer]:
    from thresher.recipes.settings import FrontSettings
    from thresher.settings import Layer, ambient, known_to

    return [Layer(one.origin, known_to(FrontSettings, one.values)) for one in ambient(settings_keys(), home)]


def _check_here(given: Mapping[str, Any], chosen: Sequence[Recipe]) -> None:
    """Raise MisplacedSetting for a setting that there is, but none of these recipes has."""
    from thresher.recipes.settings import FrontSettings
    from thresher.settings import dotted, keys

    here = {key for recipe in chosen for key in keys(recipe.settings)}
    for key, _ in dotted(given):
        if key in here:
            continue
        if key in FrontSettings.model_fields:
            raise MisplacedSetting(key, "is no setting of a recipe", f"give it by `{key}`")
        owners = [name for name in names() if key in keys(get(name).settings)]
        if owners:
            asked = ", ".join(recipe.name for recipe in chosen)
            raise MisplacedSetting(key, f"is no setting of {asked}", f"it is one of {', '.join(owners)}")


class SettingsKeys(Collection[str]):
    """The dotted keys of the settings that a collection, with the tables of distributions, or any recipe has.

    Recipes of other distributions are imported only for a key that no recipe of Thresher has, or to list all keys.
    """

    def __contains__(self, key: object) -> bool:
        load_plugins()
        return key in _keys_of(list(RECIPES)) or key in _keys_of(names())

    def __iter__(self) -> Iterator[str]:
        return iter(_keys_of(names()))

    def __len__(self) -> int:
        return len(_keys_of(names()))


def settings_keys() -> Collection[str]:
    """The dotted keys that a `thresher.toml`, the environment or a call may set."""
    return SettingsKeys()


def _keys_of(chosen: Sequence[str]) -> set[str]:
    """The keys of the settings of some recipes, of a collection and of the front."""
    from thresher.recipes.settings import FrontSettings
    from thresher.settings import Frozen, collection_model, keys

    models: list[type[Frozen]] = [collection_model(), FrontSettings, *{get(name).settings for name in chosen}]
    return {key for model in models for key in keys(model)}
