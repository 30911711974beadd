"""Evidence set between marks that its own text cannot close."""

from __future__ import annotations

from collections.abc import Sequence

from thresher.models.fence import fenced as cannot_close
from thresher.types import Evidence


def evidence_blocks(evidence: Sequence[Evidence]) -> str:
    """The pieces numbered from 1, each in a block that says where it is from."""
    blocks = []
    for number, piece in enumerate(evidence, start=1):
        chunk = piece.hit.chunk
        place = f"{chunk.title or chunk.source}" + (f", page {piece.page}" if piece.page else "")
        blocks.append(f'<evidence number="{number}" from="{fenced(place)}">\n{fenced(piece.text)}\n</evidence>')
    return "\n".join(blocks)


def fenced(text: str) -> str:
    """Text that cannot open or close a block of ours, nor end a quoted attribute of one."""
    return cannot_close(text).replace('"', "”")
