"""Locations of documents and their files on this machine; only files that the index has read are opened."""

from __future__ import annotations

from pathlib import Path

from thresher.collection import Collection
from thresher.indexing.catalog import Place
from thresher.indexing.store import DocumentStore
from thresher_server.naming import is_there
from thresher_server.problems import Problem
from thresher_server.uploads import Uploads


class Originals:
    """The current locations of a collection's documents."""

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
        """Every location of a document. Raises Problem 404 for an unknown one."""
        if document not in self._places:
            raise missing(document)
        return self._places[document]

    def file(self, document: str) -> Path | None:
        """The first of its files that is on this machine; None if there is none."""
        for place in self.places(document):
            self._uploads.fetch([place.file])
            path = Path(place.file)
            if place.file in self._read and path.is_absolute() and path.is_file():
                return path
        return None


def missing(document: str) -> Problem:
    """The problem of an unknown document."""
    return Problem(404, "is not there", subject=f"document {document}", next_step="see the list of documents")
