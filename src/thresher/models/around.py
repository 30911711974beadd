"""An encoder around another one: what it does not change is the other one's."""

from __future__ import annotations

from thresher.protocols import Encoder


class EncoderAround:
    """Name, dimension, tokens and weights of `encoder`; what is read, and how, is the subclass's."""

    encoder: Encoder

    @property
    def name(self) -> str:
        """Of the encoder."""
        return self.encoder.name

    @property
    def dimension(self) -> int:
        """Of the encoder."""
        return self.encoder.dimension

    @property
    def max_tokens(self) -> int:
        """Of the encoder."""
        return self.encoder.max_tokens

    def warm_up(self) -> None:
        """Load the weights now instead of at the first use."""
        self.encoder.warm_up()
