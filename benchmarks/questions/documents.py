"""The five collections that are asked: 25 papers as they lie, and four folders of documents made here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.questions import lookalikes, office
from benchmarks.questions.writers import written

MADE = {
    "office": office.files,
    "reports": lookalikes.reports,
    "invoices": lookalikes.invoices,
    "records": lookalikes.suppliers,
}
COLLECTIONS = ("papers", *MADE)

PAPERS = (
    "1502.03167",
    "1512.03385",
    "2002.08909",
    "2004.04906",
    "2005.11401",
    "2007.01282",
    "2010.11929",
    "2104.08663",
    "Adam_-_A_Method_for_Stochastic_Optimization",
    "Attention_Is_All_You_Need",
    "BERT",
    "DeepSeek-V2_-_A_Strong_Economical_and_Efficient_Mixture-of-Experts_Language_Model",
    "DeepSeek_R1",
    "Direct_Preference_Optimization_-_Your_Language_Model_is_Secretly_a_Reward_Model",
    "ELMo",
    "Fast_Inference_from_Transformers_via_Speculative_Decoding",
    "GPT1",
    "GPT2",
    "GaLore_-_Memory-Efficient_LLM_Training_by_Gradient_Low-Rank_Projection",
    "Medusa_-_Simple_LLM_Inference_Acceleration_Framework_with_Multiple_Decoding_Heads",
    "Mixtral_of_Experts",
    "Training_language_models_to_follow_instructions_with_human_feedback",
    "XLNet",
    "YaRN_-_Efficient_Context_Window_Extension_of_Large_Language_Models",
    "ZeRO_-_Memory_Optimizations_Toward_Training_Trillion_Parameter_Models",
)
"""Of the folder `papers` of the data: families whose members are easily mistaken for each other."""


def make(folder: Path) -> None:
    """Write the four made collections below a folder; the same bytes every time."""
    for name, files in MADE.items():
        written(folder / name, files())


def sources(collection: str, made: Path, papers: Path) -> Sequence[Path]:
    """What is indexed for a collection."""
    if collection == "papers":
        return [papers / f"{name}.pdf" for name in PAPERS]
    return [made / collection]
