"""The examples that the sources tell, with their questions: the blog's library of trees, the report's ten papers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import thresher
from benchmarks import machine
from benchmarks.commands import HOME
from benchmarks.seeds.hallucinations import Inventing
from benchmarks.seeds.rows import Measured, Provenance
from benchmarks.speakers.questions import Question as Sentences
from benchmarks.studies import retrieved as ecrag
from thresher.answer import Answer
from thresher.collection import Collection
from thresher.types import Hit
from thresher_evals.dataset import Question
from thresher_evals.datasets.registry import load
from thresher_testing.llm_server import ScriptedServer

LIBRARY = {
    "decision-trees": "A decision tree splits the training data at the threshold of one feature. Gini impurity "
    "measures how mixed the labels of a node are, and the split that lowers it most is taken. Pruning removes branches "
    "that do not help on held-out data.",
    "random-forests": "A random forest grows many decision trees on bootstrap samples of the data and lets them vote. "
    "Each tree sees only a few of the features, so that the trees err in different places.",
    "xgboost": "XGBoost adds decision trees one after the other. Each new tree is fitted to the gradient of the loss "
    "of those before it, and a penalty on the number of leaves keeps the trees small.",
    "overview": "Machine learning fits a model to examples. Linear models, decision trees and neural networks are "
    "models; a loss function says how far a model is from the labels, and training lowers it.",
}
"""What the blog's library holds: classical machine learning, a word of neural networks, nothing of transformers."""

ELSEWHERE = {
    "transformer": "A transformer is a neural network for sequences that is built on self-attention: each position "
    "weighs every other position of its input. It was introduced in 2017 for machine translation."
}
"""The second collection, in the place of the blog's web search."""

NEWS = {
    "news": "In October 2026 two laboratories published language models that state their sources. The news of last "
    "month in AI was that both may be used without a fee."
}
"""Beside the text on transformers, for the blog's second question."""

BLOG = "What is a transformer in deep learning?"
CONTROL = "What does pruning remove from a decision tree?"
"""The blog has no question that its library answers; a system that refuses everything would pass without one."""
RECENT = "recent AI news"

SPOKEN = (
    Sentences(
        "transformer",
        "",
        BLOG,
        gold="A transformer is a neural network for sequences that is built on self-attention.",
        paraphrase="A transformer is an ensemble of neural networks whose layers vote like the trees of a forest.",
        holds=(("self-attention",),),
    ),
    Sentences(
        "news",
        "",
        RECENT,
        gold="Two laboratories published language models that state their sources.",
        paraphrase="A new version of XGBoost was the news.",
        holds=(("two laboratories",),),
    ),
)
"""What the scripted model says: the first sentence where its evidence holds it, else the second, of its own making."""

WITH_A_MODEL = (("rag", False), ("crag", False), ("crag", True), ("corrective", False), ("corrective", True))
"""Recipe, and whether it looks outside: the order of the blog's tale, then ours."""

ASKED = ("rag", "hybrid", "ecrag", "chunkrag", "crag", "corrective")
ABROAD = "blog-elsewhere"

PAPERS = (
    "Attention_Is_All_You_Need.pdf",
    "BERT.pdf",
    "GPT1.pdf",
    "GPT2.pdf",
    "ELMo.pdf",
    "XLNet.pdf",
    "2005.11401.pdf",
    "2002.08909.pdf",
    "2004.04906.pdf",
    "2007.01282.pdf",
)
"""Ten, as in the report, which names Transformer, BERT, GPT-3, RAG and LoRA; GPT-3 and LoRA are not among ours."""

REPORT = (
    "What is the difference between RAG-Sequence and RAG-Token?",
    "What was the exact percentage improvement in BLEU score reported in the original Transformer paper?",
    "In which season do we get mangoes?",
)
"""Two that the report prints, and the negative control of its repository."""

SEARCHED = ("rag", "hybrid-literal", "hybrid", "corrective")
LIMIT = 5
TEN = "seeds-papers"


def blog() -> Measured:
    """The blog's question put to its library, alone and with somewhere else to look."""
    with TemporaryDirectory(prefix="thresher-seeds-") as folder:
        home = Path(folder) / "home"
        taken_in(Path(folder), home, ABROAD, {**ELSEWHERE, **NEWS})
        library = taken_in(Path(folder), home, "blog", LIBRARY)
        found = [
            {"recipe": recipe, "question": question, "outside": outside, **shown(answer)}
            for question in (BLOG, CONTROL)
            for outside in ("none", f"collection:{ABROAD}")
            for recipe in ASKED
            for answer in (library.ask(question, recipe=recipe, outside=outside),)
        ]
        found += with_a_model(library)
    settings = (
        "a library of four texts on decision trees, random forests, XGBoost and models at large; no chat model, and, "
        "where it is named, a scripted one that makes up what its evidence does not hold"
    )
    return Measured("blog", Provenance.now(), settings, found=found)


def with_a_model(library: Collection) -> Iterator[dict[str, Any]]:
    """Both questions of the blog with the scripted model: what is answered, and what was searched for outside."""
    with ScriptedServer(Inventing(SPOKEN)) as server:
        model = {"llm.base_url": server.base_url, "llm.model": "scripted"}
        for question in (BLOG, RECENT):
            for recipe, looks in WITH_A_MODEL:
                outside = f"collection:{ABROAD}" if looks else "none"
                answer = library.ask(question, recipe=recipe, outside=outside, settings=model)
                words = next(step.detail.get("words") for step in answer.steps if step.name == "correct")
                told = {"recipe": recipe, "question": question, "outside": outside, **shown(answer)}
                yield {**told, "by a model": True, "searched for": words}


def taken_in(folder: Path, home: Path, name: str, texts: Mapping[str, str]) -> Collection:
    """A collection of texts, for every recipe that is asked."""
    for title, text in texts.items():
        (folder / f"{title}.txt").write_text(text, encoding="utf-8")
    collection = thresher.open(home, collection=name)
    collection.add(*(folder / f"{title}.txt" for title in texts), recipe=ASKED)
    return collection


def shown(answer: Answer) -> dict[str, Any]:
    """What is kept of an answer."""
    return {
        "verdict": str(answer.verdict) if answer.verdict else None,
        "refused": answer.abstained,
        "answer": answer.text,
        "handed on": sorted({f"{Path(one.hit.chunk.source).stem} ({one.hit.origin})" for one in answer.evidence}),
    }


def report() -> Measured:
    """What the baseline and hybrid recipes find for the report's questions, and which of it holds the answer."""
    collection = papers(*SEARCHED)
    found = []
    for question in printed():
        for recipe in SEARCHED:
            hits = collection.search(question.question, recipe=recipe, limit=LIMIT).hits
            answer = collection.ask(question.question, recipe=recipe)
            found.append(
                {
                    "recipe": recipe,
                    "question": question.question,
                    "hits": [described(hit, question) for hit in hits],
                    "refused": answer.abstained,
                    "answer": answer.text,
                }
            )
    settings = f"ten papers: {', '.join(Path(name).stem for name in PAPERS)}; no chat model"
    return Measured("report", Provenance.now(), settings, found=found)


def papers(*recipes: str) -> Collection:
    """The ten papers, taken in for some recipes."""
    collection = thresher.open(HOME, collection=TEN)
    collection.add(*(machine.DATA / "papers" / name for name in PAPERS), recipe=recipes)
    return collection


def printed() -> Iterator[Question]:
    """The report's questions, with the pages and answers that our set of papers gives them."""
    known = {question.question: question for question in load("papers").questions}
    yield from (known[text] for text in REPORT)


def described(hit: Hit, question: Question) -> dict[str, Any]:
    """Where a passage is from, whether it is of a gold page, and whether a gold answer stands in it."""
    source = Path(hit.chunk.source).name
    gold = any(place.source == source and place.page in (None, hit.chunk.page) for place in question.gold)
    held = any(answer.lower() in hit.chunk.text.lower() for answer in question.answers)
    return {"source": Path(source).stem, "page": hit.chunk.page, "gold page": gold, "holds an answer": held}


def figure_7() -> Measured:
    """ECRAG's chunks and subchunks for one question, with their distances, as its Figure 7 plots them."""
    papers(ecrag.RECIPE)
    asked = replace(load("papers"), questions=tuple(printed())[:1])
    materials = ecrag.STUDY.prepare(asked, {}, home=HOME, collection=TEN, seed=0)
    found = [plotted(chunk) for row in ecrag.measure(materials, set()) for chunk in row["chunks"]]
    return Measured("figure-7", Provenance.now(), f"“{REPORT[0]}” asked of the ten papers", found=found)


def plotted(chunk: Mapping[str, Any]) -> dict[str, Any]:
    """What the figure shows of a chunk and of the subchunks below it: no texts, no folders."""
    below = [
        {
            "label": one["label"],
            "paper": Path(one["source"]).stem,
            "page": one["page"],
            "distance": one["distance"],
            "confidence": one["scores"]["confidence"],
            "kept": one["kept"],
        }
        for one in chunk["subchunks"]
    ]
    return {"label": chunk["label"], "distance": chunk["distance"], "subchunks": below}
