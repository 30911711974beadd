"""The five collections that are asked: 25 papers of the data folder, and four folders of documents in `made`.

What the made documents say is invented. They are as the scripts wrote them that stood here until commit 2ebb4b8.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import DATA

FOLDER = Path(__file__).with_name("made")
MADE = ("office", "reports", "invoices", "records")
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


def sources(collection: str, papers: Path = DATA / "papers") -> Sequence[Path]:
    """What is indexed for a collection."""
    return [papers / f"{name}.pdf" for name in PAPERS] if collection == "papers" else [FOLDER / collection]
