"""Where documents come from, by what the index says: their places, and the files among these that are on this machine.

A request names a document, never a path; a file is opened only where the index read it.
"""

from __future__ import annotations

from pathlib import Path

from thresher.collection import Collection
from thresher.indexing.catalog import Place
from thresher.indexing.store import DocumentStore
from thresher_server.naming import is_there
from thresher_server.problems import Problem
from thresher_server.uploads import Uploads


class Originals:
    """The places of a collection's documents as of now."""

    def __init__(self, collection: Collection) -> None:
        self._places: dict[str, tuple[Place, ...]] = {}
        self._read: set[str] = set()
        self._uploads = Uploads(collection.home, collection)
        if is_there(collection):
            store = DocumentStore(collection.folder)
            catalog = store.catalog()
            self._places = {id_: catalog.entry(id_).places for id_ in catalog.ids}
            self._read = set(store.files())

    def places(self, document: str) -> tuple[Place, ...]:
        """Every place of a document. Problem 404 for one that is not there."""
        if document not in self._places:
            raise missing(document)
        return self._places[document]

    def file(self, document: str) -> Path | None:
        """The first of its files that is on this machine; None where there is none, or they are gone."""
        for place in self.places(document):
            self._uploads.fetch([place.file])
            path = Path(place.file)
            if place.file in self._read and path.is_absolute() and path.is_file():
                return path
        return None


def missing(document: str) -> Problem:
    """What is said of a document that is not there."""
    return Problem(404, "is not there", subject=f"document {document}", next_step="see the list of documents")
