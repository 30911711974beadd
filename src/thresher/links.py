"""Addresses of spans and names of sources, for programs beside the engine: see `thresher.collection.links`."""

from thresher.collection.links import LinkedPlace, Links, address, file_name, place_of, renamed

__all__ = ["LinkedPlace", "Links", "address", "file_name", "place_of", "renamed"]
