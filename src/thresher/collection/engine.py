"""What answers for a whole home: its models loaded once, its collections opened by name.

with thresher.Engine("notes") as engine:
    print(engine.collection("papers").ask("How many layers has BERT-base?").text)
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

from thresher import recipes
from thresher.collection import Collection
from thresher.home.places import Home, home_of
from thresher.recipes.components import Models

if TYPE_CHECKING:
    from thresher.home.collections import Collections
    from thresher.protocols import Encoder


class Engine:
    """The models and the open collections of a home; cheap to make, safe to use from several threads.

    `encoder` is one of your own for all collections; `completing` is called with documents done and in total while the
    index of a recipe is made for a question. Results and filters use the names that `source_name` gives to sources.
    """

    def __init__(
        self,
        home: str | Home = ".thresher",
        *,
        encoder: Encoder | None = None,
        completing: Callable[[int, int], None] | None = None,
        source_name: Callable[[str], str] | None = None,
    ) -> None:
        self.home = home_of(home)
        self.models = Models(own_encoder=encoder)
        self._completing = completing
        self._source_name = source_name
        self._open: dict[tuple[str, str | None], Collection] = {}
        self._lock = Lock()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def collections(self) -> Collections:
        """Those of the home, to be listed and changed; `forget` one before it is renamed or dropped."""
        from thresher.home.collections import Collections

        return Collections(self.home)

    def collection(self, name: str = "default", *, within: str | None = None) -> Collection:
        """The collection of that name, the same one for every caller until it is forgotten. UsageError for no name.

        `within` is a filter: documents that it does not hold for are as if they were not there, and nothing is changed.
        """
        with self._lock:
            if (name, within) not in self._open:
                self._open[name, within] = Collection(
                    self.home,
                    name,
                    completing=self._completing,
                    models=self.models,
                    source_name=self._source_name,
                    within=within,
                )
            return self._open[name, within]

    def forget(self, name: str) -> None:
        """Close a collection, whose folder is about to change its name or to go."""
        with self._lock:
            gone = [self._open.pop(key) for key in list(self._open) if key[0] == name]
        for one in gone:
            one.close()

    def warm_up(self) -> None:
        """Load the models that a question needs here, so that the first one does not wait. Raises ModelError."""
        front = recipes.front(self.home)
        settings = recipes.get(front.recipe).configured({}, home=self.home)
        models = self.models
        encoder = models.own_encoder or models.encoder(settings.encoder, settings.embeddings)
        for model in (encoder, models.judge(), models.checker()):
            model.warm_up()

    def close(self) -> None:
        """Close every collection and let go of the models."""
        with self._lock:
            opened, self._open = list(self._open.values()), {}
        for collection in opened:
            collection.close()
        self.models = Models(own_encoder=self.models.own_encoder)
