"""Tokens of texts, counted as the bundled encoder cuts words."""

from __future__ import annotations

from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from thresher.models.encoders import BUNDLED
from thresher.models.onnx import encodable, load_tokenizer, weights_file

if TYPE_CHECKING:
    import tokenizers


class TokenCount:
    """Counts the tokens of a text with the bundled tokenizer, that of all-MiniLM-L6-v2 (WordPiece, 30,522 pieces).

    The tokenizers of chat models differ from it by some 10 to 20 % for English prose, by more for code, numbers and
    other languages: leave so much room where a limit is hard. White space always ends a token.
    """

    def __init__(self, folder: Path = BUNDLED) -> None:
        self._folder = folder

    def __call__(self, text: str) -> int:
        """Tokens, without those that mark beginning and end. Raises ModelError where the file cannot be read."""
        return len(self._tokenizer.encode(encodable(text), add_special_tokens=False).ids)

    @cached_property
    def _tokenizer(self) -> tokenizers.Tokenizer:
        return load_tokenizer(weights_file(self._folder, "tokenizer.json", "tools"))


@cache
def token_count() -> TokenCount:
    """One for the process: its file takes a tenth of a second to read."""
    return TokenCount()
