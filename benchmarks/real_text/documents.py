"""The documents that are asked: pages of eleven Debian packages of manuals, and 28 papers as they lie."""

from __future__ import annotations

import gzip
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import CACHE, DATA
from thresher.documents.read import parse
from thresher.documents.sources import Item
from thresher.documents.sources import fetch as fetched
from thresher.types import Document

FOLDER = CACHE / "real_text"
MANUALS = FOLDER / "manuals"
PAGES = Path(__file__).with_name("pages.txt")
"""One page a line: the package, and the path in it. A `.txt` that a package has as `.gz` is unpacked beside it."""

PACKAGES = (  # bash-doc, git-doc and sqlite3-doc for the typed questions of `benchmarks.quality` alone
    "apache2-doc",
    "bash-doc",
    "debian-policy",
    "developers-reference",
    "exim4-doc-html",
    "gimp-help-en",
    "git-doc",
    "libreoffice-help-en-us",
    "miscfiles",
    "octave-doc",
    "postgresql-doc-15",
    "python-django-doc",
    "python3.11-doc",
    "sqlite3-doc",
)

PAPERS = (
    "1502.03167",
    "2004.04906",
    "2005.11401",
    "2007.01282",
    "2010.11929",
    "2104.08663",
    "2210.11610",
    "2301.11305",
    "2302.00083",
    "Adam_-_A_Method_for_Stochastic_Optimization",
    "BERT",
    "DeepSeek-V2_-_A_Strong_Economical_and_Efficient_Mixture-of-Experts_Language_Model",
    "ELMo",
    "Efficient_Memory_Management_for_Large_Language_Model_Serving_with_PagedAttention",
    "GPT1",
    "GaLore_-_Memory-Efficient_LLM_Training_by_Gradient_Low-Rank_Projection",
    "Is_Cosine-Similarity_of_Embeddings_Really_About_Similarity",
    "Jasper_and_Stella_-_distillation_of_SOTA_embedding_models",
    "Longformer_-_The_Long-Document_Transformer",
    "Mixed_Precision_Training",
    "Mixtral_of_Experts",
    "NV-Embed_-_Improved_Techniques_for_Training_LLMs_as_Generalist_Embedding_Models",
    "OLMo_-_Accelerating_the_Science_of_Language_Models",
    "Recitation-Augmented_Language_Models",
    "Scaling_Instruction-Finetuned_Language_Models",
    "Switch_Transformers_-_Scaling_to_Trillion_Parameter_Models_with_Simple_and_Efficient_Sparsity",
    "Train_Short_Test_Long_-_Attention_with_Linear_Biases_Enables_Input_Length_Extrapolation",
    "XLNet",
)
"""Of the folder `papers` of the data."""


class CannotFetch(RuntimeError):
    """A package that could not be downloaded or unpacked."""


def fetch(manuals: Path = MANUALS) -> None:
    """Download the packages that are missing and unpack them, each below a folder of its name."""
    manuals.mkdir(parents=True, exist_ok=True)
    for package in PACKAGES:
        if not (manuals / package).is_dir():
            _run("apt-get", "download", package, folder=manuals)
            for archive in manuals.glob(f"{package}_*.deb"):
                _run("dpkg-deb", "-x", archive.name, f"{package}.part", folder=manuals)
                archive.unlink()
            (manuals / f"{package}.part").rename(manuals / package)
    for page in pages(manuals):
        packed = page.with_suffix(".gz")
        if page.suffix == ".txt" and packed.is_file():
            page.write_bytes(gzip.decompress(packed.read_bytes()))
    if missing := [page for page in pages(manuals) if not page.is_file()]:
        raise CannotFetch(
            f"{len(missing)} of {len(pages(manuals))} pages are not in the packages, e.g. {missing[0]}: "
            "the packages of another Debian release than 12 have other pages"
        )


def pages(manuals: Path = MANUALS, listed: Path = PAGES) -> list[Path]:
    """The pages of the manuals that a file lists as PAGES does."""
    lines = listed.read_text(encoding="utf-8").splitlines()
    return [manuals.joinpath(*line.split(" ", 1)) for line in lines]


def sources(manuals: Path = MANUALS, papers: Path = DATA / "papers") -> Sequence[Path]:
    """What is indexed."""
    return [*pages(manuals), *(papers / f"{name}.pdf" for name in PAPERS)]


def texts() -> dict[str, str]:
    """What is read of each document, by its path."""
    read = {}
    for path in sources():
        item = Item(source=str(path), root=str(path.parent), path=path)
        data, hints = fetched(item)
        read[str(path)] = "\n\n".join(one.text for one in parse(item, data, hints) if isinstance(one, Document))
    return read


def _run(*command: str, folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CannotFetch(f"{command[0]} cannot be run ({error}): the packages come from Debian 12") from error
    if done.returncode:
        raise CannotFetch(
            f"{' '.join(command)} failed: {done.stderr.strip() or done.stdout.strip()}; "
            "run `apt-get update` on a Debian 12 with its package lists"
        )
