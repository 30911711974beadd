"""Which hits a scorer could not score because it failed, as opposed to replies that could not be read."""

from __future__ import annotations

from thresher.types import Scored


def failed(scored: Scored) -> list[int]:
    """Positions of the hits that have no score because the scorer failed.

    A scorer lists them as `failed` in its detail; one that says only that it is degraded failed wherever it gave
    nothing.
    """
    if "degraded" not in scored.detail:
        return []
    nothing = [at for at, score in enumerate(scored.scores) if score is None]
    named = scored.detail.get("failed", nothing)
    return [at for at in nothing if at in named]
