"""LaTeX sources: what they would print, and nothing of how."""

from __future__ import annotations

import pytest

from tests.documents.making import parse_bytes, within
from thresher.errors import DocumentError
from thresher.types import Document
from thresher_formats.latex import inline

PREAMBLE = r"""
\documentclass{article}
\newcommand{\boat}{Petrel} % the price is 999 euros
\newcommand{\price}[2][euros]{#2 #1}
\def\yard#1{yard of #1}
\title{Survey of the \boat}
\author{Ada Kask \and Piet Maas}
\date{3 May 2022}
"""


def read(body: str, *, before: str = PREAMBLE) -> Document:
    (document,) = parse_bytes(
        f"{before}\\begin{{document}}\n{body}\n\\end{{document}}\nleft over".encode(), name="a.tex"
    )
    assert isinstance(document, Document)
    return document


def test_macros_are_expanded_and_comments_are_gone() -> None:
    document = read(
        "The \\boat\\ of the \\yard{Hull} costs \\price{4,200}. % draft: sank\n\n\\price[pounds]{30} more, 5\\% off."
    )
    assert document.text.startswith("The Petrel of the yard of Hull costs 4,200 euros.\n\n30 pounds more, 5% off.")
    assert (document.title, document.date, document.kind) == ("Survey of the Petrel", "2022-05-03", "latex")
    assert document.metadata["author"] == "Ada Kask, Piet Maas"


def test_sections_are_headings_and_tabulars_are_tables() -> None:
    document = read(
        "\\section{Spare parts}\\label{sec:parts}\n\\begin{table}[ht]\\caption{In the store}\\centering\n"
        "\\begin{tabular}{lr}\\toprule Part & Price \\\\ \\midrule Anchor \\& chain & 140 \\\\[2pt] Pump & 85 \\\\"
        "\\bottomrule\\end{tabular}\\end{table}"
    )
    assert [(mark.kind, mark.name) for mark in document.marks if mark.kind == "heading"] == [("heading", "Spare parts")]
    (table,) = document.tables
    rows = [document.text[start:end] for start, end in table.rows]
    assert rows == ["| Part | Price |", "| Anchor & chain | 140 |", "| Pump | 85 |"]
    assert "In the store" in document.text
    assert "sec:parts" not in document.text


def test_lists_code_and_references_are_read() -> None:
    document = read(
        "\\begin{enumerate}\\item Paint\\item Oil:\\begin{itemize}\\item engine\\end{itemize}\\end{enumerate}\n"
        "\\begin{verbatim}\nmake % all\n\\end{verbatim}\n"
        "\\begin{thebibliography}{9}\\bibitem{s20} J. Smith. 2020.\\end{thebibliography}"
    )
    assert "1. Paint\n2. Oil:\n  - engine" in document.text
    assert "make % all" in document.text
    assert "[s20] J. Smith. 2020." in document.text


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (r"Caf\'e na\"{\i}ve \emph{Stra\ss e} \v{S}koda", "Café naïve Straße Škoda"),
        (r"\SI{4.5}{\bar} and \qty{3}{\kilo\gram}", "4.5 bar and 3 kilogram"),
        (r"$\alpha\leq 5$ at 10\,\% --- ``so''", "α≤5 at 10 % — “so”"),
        (r"\href{https://x.org}{the page} and \footnote{cast in 1987}", "the page (https://x.org) and  (cast in 1987)"),
        (r"20\$ of A\_B \textbf{1 \& 2}", "20$ of A_B 1 & 2"),
    ],
)
def test_commands_within_a_line_are_what_they_print(written: str, shown: str) -> None:
    assert inline(written).replace("\u2009", " ") == shown


def test_a_file_that_is_included_is_named() -> None:
    assert read("Hello.\n\\input{chapters/rig}").metadata["includes"] == "chapters/rig"


@pytest.mark.parametrize("body", ["{" * 50_000, r"\begin{a}" * 20_000, r"\item" * 50_000, "\\'" * 20_000])
def test_a_hostile_file_ends_soon(body: str) -> None:
    with within():
        assert read(f"Words. {body}").text.startswith("Words.")


def test_macros_that_call_themselves_are_refused() -> None:
    with within(), pytest.raises(DocumentError, match="its macros have no end"):
        read(r"\x", before=r"\newcommand{\x}{\x\x\x\x\x\x\x\x\x\x}")
