"""The recipes by name, as data: summary, settings, presets. A recipe's parts are imported when it is run.

Adding a recipe is a file with a docstring (Follows / Departs / Left open), `index_config` and `pipeline`, its settings
in `recipes.settings`, and a line in `RECIPES`. Our `index_config`s are in `cuts`, which imports no part of a question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from thresher.errors import MisplacedSetting, UnknownSetting, UsageError, check_type
from thresher.plugins import load_plugins

if TYPE_CHECKING:
    from types import ModuleType

    from thresher.home.places import Home
    from thresher.indexing.index_config import IndexConfig
    from thresher.pipeline import Pipeline
    from thresher.recipes.components import Components
    from thresher.recipes.settings import FrontSettings, RecipeSettings
    from thresher.settings import Layer

DEFAULT = "corrective"


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


def _preset(of: Recipe, name: str, summary: str, model: str, preset: Mapping[str, Any]) -> Recipe:
    return replace(of, name=name, summary=summary, model=model, preset_of=of.name, preset=preset)


_HYBRID = Recipe(
    "hybrid", "dense + BM25, fused by reciprocal ranks, reranked, two dense hits protected", "hybrid", "HybridSettings"
)
_CRAG = Recipe(
    "crag",
    "retrieval judged, refined strip by strip, corrected from outside",
    "crag",
    "CragSettings",
    corrects=True,
    bounds=("lower", "upper"),
)
_ECRAG = Recipe(
    "ecrag",
    "chunk summaries first, then their subchunks; a confidence of cosine and BM25 routes",
    "ecrag",
    "EcragSettings",
    corrects=True,
    bounds=("kdm.external", "kdm.internal"),
)
_CHUNKRAG = Recipe(
    "chunkrag",
    "every chunk scored, reconsidered and criticised; cut where the scores say",
    "chunkrag",
    "ChunkragSettings",
    bounds=("score_floor",),
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
    _preset(
        _HYBRID,
        "hybrid-literal",
        "the hybrid report as printed: fixed depths 8 and 4, five results, the cross-encoder alone orders",
        "HybridLiteralSettings",
        {"fuse.method": "rrf"},
    ),
    _CRAG,
    _preset(
        _CRAG,
        "crag-paper",
        "the CRAG paper's scale, bounds and keywords",
        "PrintedCragSettings",
        {
            "upper": 0.59,
            "lower": -0.99,
            "bounds": "paper",
            "refine.top_k": 5,
            "refine.min_score": -0.5,
            "search.style": "keywords3",
        },
    ),
    _preset(
        _CRAG,
        "crag-code",
        "the CRAG repository's run script: whole chunks as strips, the best three",
        "PrintedCragSettings",
        {
            "upper": 0.592,
            "lower": -0.995,
            "bounds": "code",
            "decompose": "selection",
            "refine.top_k": 3,
            "refine.min_score": -1.0,
            "refine.order": "score",
            "search.style": "keywords3",
            "web.sites": "wikipedia.org",
        },
    ),
    _ECRAG,
    _preset(
        replace(_ECRAG, bounds=None),
        "ecrag-literal",
        "the thesis's code as printed, with its defects",
        "EcragLiteralSettings",
        {
            "subchunk.tail": "literal",
            "kdm.combine": "sum",
            "kdm.nonzero_rule": "normalized",
            "kdm.fit": "retrieved",
            "kdm.idf": "okapi",
            "kdm.route": "survivors",
        },
    ),
    _CHUNKRAG,
    _preset(
        replace(_CHUNKRAG, bounds=None),
        "chunkrag-v1",
        "the first version: TF-IDF, an independent critic, a threshold from the model",
        "ChunkragV1Settings",
        {"chunk.theta": 0.7, "dedup.vectors": "tfidf", "critic.sees_scores": False, "threshold": "llm"},
    ),
    Recipe(
        "no-retrieval", "the generator alone, without evidence", "no_retrieval", "NoRetrievalSettings", needs_llm=True
    ),
)

RECIPES: dict[str, Recipe] = {recipe.name: recipe for recipe in _RECIPES}


def names() -> list[str]:
    """All recipes and presets."""
    load_plugins()
    return list(RECIPES)


def get(name: str | Recipe) -> Recipe:
    """The recipe or preset of that name; a recipe is itself. Raises UnknownSetting, naming the nearest."""
    if isinstance(name, Recipe):
        return name
    check_type("recipe", name, str, "the name of a recipe, or one that `recipes.derive` made")
    if name not in names():
        raise UnknownSetting(name, RECIPES, kind="recipe")
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
    """Make a recipe known by its name, for the command line, `eval compare` and `replay`; one of ours stays ours."""
    if RECIPES.get(recipe.name) in _RECIPES:
        raise UsageError("is a recipe of Thresher's", subject=recipe.name, next_step="give it another `name`")
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
    from thresher.settings import check_known, dotted, keys, own

    found = [get(name) for name in chosen]
    values = dict(dotted(given))
    _check_here(values, found)
    check_known(values, {key for recipe in found for key in keys(recipe.settings)})
    return [(recipe, recipe.configured(own(recipe.settings, values), home=home, around=around)) for recipe in found]


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
    from thresher.settings import Layer, ambient, own

    return [Layer(one.origin, own(FrontSettings, one.values)) for one in ambient(settings_keys(), home)]


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
        owners = [name for name, recipe in RECIPES.items() if key in keys(recipe.settings)]
        if owners:
            names = ", ".join(recipe.name for recipe in chosen)
            raise MisplacedSetting(key, f"is no setting of {names}", f"it is one of {', '.join(owners)}")


def settings_keys() -> set[str]:
    """The dotted keys of the settings that a collection, with the tables of distributions, or any recipe has."""
    from thresher.recipes.settings import FrontSettings
    from thresher.settings import Frozen, collection_model, keys

    of_recipes = {RECIPES[name].settings for name in names()}
    models: list[type[Frozen]] = [collection_model(), FrontSettings, *of_recipes]
    return {key for model in models for key in keys(model)}
