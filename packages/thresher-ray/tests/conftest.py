"""What the tests of a cluster share with the engine's."""

from tests.conftest import bundled_models, run

__all__ = ["bundled_models", "run"]
