from __future__ import annotations

from collections.abc import Callable

import onnxruntime
import pytest

from thresher.collection import Collection
from thresher.errors import UsageError
from thresher.models.cross_encoders import BundledJudge
from thresher.models.encoders import BundledEncoder
from thresher.models.fastembed_models import FastembedCrossEncoder, FastembedEncoder
from thresher.models.onnx import CPU, ON_CPU, check_providers
from thresher.recipes.components import Models
from thresher.recipes.settings import EncoderSettings

NOT_HERE = "TensorrtExecutionProvider"
OTHERS = [name for name in onnxruntime.get_available_providers() if name != CPU]

pytestmark = pytest.mark.skipif(NOT_HERE in OTHERS, reason="this machine has every provider")


@pytest.mark.parametrize(
    "use",
    [
        BundledEncoder(providers=[NOT_HERE]).warm_up,
        BundledJudge(providers=[NOT_HERE, CPU]).warm_up,
        FastembedEncoder("sentence-transformers/all-MiniLM-L6-v2", providers=[NOT_HERE]).warm_up,
        lambda: FastembedCrossEncoder("any/name", (NOT_HERE,))("question", ["text"]),
    ],
)
def test_a_provider_that_is_not_there_is_told_with_those_that_are(use: Callable[[], object]) -> None:
    with pytest.raises(UsageError, match=f"{NOT_HERE}.*{CPU}.*onnxruntime-gpu"):
        use()


def test_a_provider_that_is_there_and_does_not_start_is_told_too() -> None:
    check_providers(["CUDAExecutionProvider", CPU], ["CUDAExecutionProvider", CPU])
    with pytest.raises(UsageError, match="CUDAExecutionProvider: does not start"):
        check_providers(["CUDAExecutionProvider", CPU], [CPU])


def test_models_are_one_for_each_set_of_providers() -> None:
    models = Models()
    assert models.on(ON_CPU) is models.on(()) is models
    other = models.on((NOT_HERE, CPU))
    assert other is models.on((NOT_HERE, CPU)) is not models
    assert other.providers == (NOT_HERE, CPU)
    assert other.judge() is not models.judge()
    assert other.encoder("bundled", EncoderSettings()) is not models.encoder("bundled", EncoderSettings())


@pytest.mark.slow
def test_the_setting_reaches_the_models_of_a_question(collection: Collection) -> None:
    with pytest.raises(UsageError, match=f"`onnx_providers` {NOT_HERE}"):
        collection.ask("When was it built?", settings={"onnx_providers": [NOT_HERE, CPU]})
