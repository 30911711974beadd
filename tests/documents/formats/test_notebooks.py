from __future__ import annotations

import json
from pathlib import Path

from tests.documents.making import read_one, refusal, rows_of, save
from thresher.structure.locators import locate


def test_a_notebook_is_its_cells_and_what_they_printed_without_pictures(tmp_path: Path) -> None:
    picture = "iVBORw0KGgoAAAANSUhEUg" * 50
    cells = [
        {"cell_type": "markdown", "source": ["# Tide study\n", "\n", "| a | b |\n", "|---|---|\n", "| 1 | 2 |"]},
        {
            "cell_type": "code",
            "source": ["# mean\n", "print(x.mean())"],
            "outputs": [
                {"output_type": "stream", "text": ["3.41\n"]},
                {"output_type": "display_data", "data": {"image/png": picture, "text/plain": ["<Figure>"]}},
            ],
        },
        {"cell_type": "markdown", "source": f"The gauge: ![g](data:image/png;base64,{picture})"},
    ]
    document = read_one(save(tmp_path, "a.ipynb", json.dumps({"cells": cells, "nbformat": 4})))
    assert (document.kind, document.title) == ("ipynb", "Tide study")
    assert rows_of(document) == ["| a | b |", "| 1 | 2 |"]
    assert document.text.endswith("# mean\nprint(x.mean())\n\n3.41\n\n<Figure>\n\nThe gauge: ![g]()")
    at = document.text.index("3.41")
    assert locate(document, at, at + 4).startswith("cell 2")


def test_json_named_ipynb_is_refused(tmp_path: Path) -> None:
    assert "no cells" in refusal(tmp_path, "a.ipynb", "[1, 2]").what
