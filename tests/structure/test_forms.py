from __future__ import annotations

import pytest

from thresher.structure.answers import answered, form_near, grids_near
from thresher.structure.forms import records_of
from thresher.structure.grid import Grid
from thresher.types import Document

ORDER = """ORDER K-12

Skerrow Hire, Boathouse 4. Open daily.

Customer: Foss Scout Group

Order number: K-12

Order date: 6 May 2024

Delivered on: 9 May 2024

Equipment, prices in euros per week
Item    Number  Price   Amount
tent    12      18.00   216.00
stove   6       7.00    42.00

Discount: 12 percent

Deposit: 80.00

Please pay by 23 May 2024. Thank you."""


def filled(question: str, text: str = ORDER) -> str | None:
    document = Document("d", "d", "Order K-12", text, "text")
    form = form_near(document, 0, len(text))
    found = None if form is None else answered(form, question)
    return None if found is None else found.text


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What did the Foss Scout Group hire?", "tent, stove"),
        ("What is the due date of order K-12?", "23 May 2024"),
        ("How many tents did Foss Scout Group order in May?", "12"),
        ("What does one stove cost on K-12?", "7.00 euros"),
        ("When were the goods of K-12 delivered?", "9 May 2024"),
        ("Which customer ordered a tent?", "Foss Scout Group"),
        ("on which order are the stoves", "K-12"),
        ("Which items are on K-12?", "tent, stove"),
        ("What discount did Lindgren Events get?", None),  # another customer
        ("How many tents did Foss Scout Group order in June?", None),
        ("Why was K-12 late?", None),
        ("Is order K-12 due?", None),
    ],
)
def test_a_question_finds_its_field_item_or_cell_where_the_form_says_all_its_words(
    question: str, answer: str | None
) -> None:
    assert filled(question) == answer


BILL = """Invoice 1042

Customer: Harbour Ltd
Date: 3 March 2025

Pump: 400.00 EUR
Subtotal: 400.00 EUR
Total: 484.00 EUR
Due date: 2 April 2025"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("By when must Harbour Ltd pay?", "2 April 2025"),
        ("What must Lindgren Events pay?", None),
        ("What must Harbour Ltd pay for the hose?", None),
        ("What did Harbour Ltd pay in May?", None),
    ],
)
def test_a_form_answers_for_its_own_customer_and_items(question: str, answer: str | None) -> None:
    assert filled(question, BILL) == answer


WARRANTY = """Capacity: 300 litres
Power: 3 kW
Weight: 84 kg

The warranty does not cover damage by limescale, frost or water of more than 20 degrees of hardness."""


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When is it?", "Note: bring a coat.\n\nThe walk begins at nine."),
        ("Does the warranty cover damage by frost?", WARRANTY),
        ("What does the warranty cover damage by?", WARRANTY),
    ],
)
def test_few_fields_are_no_form_and_a_field_says_neither_whether_nor_by_what(question: str, text: str) -> None:
    assert filled(question, text) is None


def test_aligned_lines_of_plain_text_are_a_table() -> None:
    document = Document("d", "d", "Order K-12", ORDER, "text")
    grid = next(grid for grid in grids_near(document, 0, len(ORDER)) if len(grid.rows) == 2)
    assert [cell.text for cell in grid.header] == ["Item", "Number", "Price", "Amount"]
    assert grid.around[0].text.startswith("Equipment")
    assert all(ORDER[cell.start : cell.end] == cell.text for row in grid.rows for cell in row)


NO_TABLES = {
    "a drawing": """
      e---f      |
     /           v
a---b---c---d    branch
""",
    "boxes": "  +------+    +------+\n  |      |    |      |\n  |      |    |      |\n  +------+    +------+",
    "halves of lines": """
working index HEAD target   working index HEAD
----------------------------------------------
 A       B     C    D  --soft   A       B     D
                       --mixed  A       D     D
                       --hard   D       D     D
                       --merge (disallowed)
""",
    "a menu": " 1: clean     2: filter    3: select\n 4: ask each  5: quit      6: help",
    "notes": "$ boat list           <1>\n$ boat list --all     <2>\n$ boat hire heron     <3>",
    "bullets": "  •   no boats on Sunday\n\n  •   no dogs\n\n  •   no fires",
    "running text": "The desk is open.  It shuts at five when\nit is dark.  In June it shuts at nine\nor at ten.  Ask.",
    "justified": "The  desk  of the  harbour lends\nboats  of two kinds  to those  who\nhave  paid the  fee at  home.",
}


@pytest.mark.parametrize("text", NO_TABLES.values(), ids=NO_TABLES)
def test_drawings_lists_and_running_text_are_no_table(text: str) -> None:
    assert not list(grids_near(Document("d", "d", "Boats", text, "text"), 0, len(text)))


@pytest.mark.parametrize(
    ("text", "headers"),
    [
        (
            "Item      Qty     Price\nChair         4     25.00\nTable         1    120.50\nLamp         12      8.75",
            ["Item"],
        ),
        ("Day      From   To\nMonday   09:00  17:00\n\nTeam   Lead      Phone\nNorth  Ada Holm  301", ["Day", "Team"]),
        ("b   bytes\n\nk   kilobytes\n\nm   megabytes", ["b"]),
        ("Name\tAge\tTown\nAnna Maria Lopez\t12\tTartu\nJo\t40\tNarva", ["Name"]),
        ("Room\t\tBeds\nHeron room\t3\nTeal\t\t12", ["Room"]),
        ("Berth  Boat\n1      Heron\n2      Teal\n3      Swan", ["Berth"]),
    ],
)
def test_cells_may_end_or_begin_alike_and_a_blank_line_may_part_rows_or_tables(text: str, headers: list[str]) -> None:
    grids = grids_near(Document("d", "d", "Lists", text, "text"), 0, len(text))
    assert [grid.header[0].text for grid in grids] == headers


def test_aligned_lines_of_source_code_are_no_table() -> None:
    rows = ["id,          -- Key", "minX, maxX,  -- Least and most X", "minY, maxY   -- Least and most Y"]
    code = "\n  ".join(["CREATE TABLE box(", *rows]) + "\n);"
    comments = "x = 1    # the boats\ny = 22   # the oars\nz = 3    # the men"
    for text in (code, comments, "id      INTEGER,\nname    TEXT,\nage     INTEGER"):
        assert not list(grids_near(Document("d", "d", "Boxes", text, "text"), 0, len(text)))


@pytest.mark.parametrize(
    "table",
    [
        "Room   # of beds   Price\nOak    3           80\nElm    2           60\nAsh    1           --",
        "Name        Hall   Phone\nDoe, Jane   3      12\nSmith,      4      13\nRoe, Ann    5      14",
        "Order    Qty   Rank\n#AX12    3     # 3\n#BX9     4     # 1\n#CX7     4     # 2",
        "Option       Meaning\n--home DIR   where it is kept\n--json       prints JSON\n--help       prints help",
        "Name,   Age,   Town\nAnna,   12,    Tartu\nJaan,   40,    Narva\nMari,   7,     Tartu",
    ],
)
def test_commas_hashes_and_dashes_make_no_source_code(table: str) -> None:
    (grid,) = grids_near(Document("d", "d", "Table", table, "text"), 0, len(table))
    assert len(grid.rows) == 3


# --- lines read as tables ---------------------------------------------------------------------------------------------

INVOICE = """Invoice HX-17

Harbour Supply, 3 Kiln Road.

Customer: Fernhill Clinic

Invoice number: HX-17

Invoice date: 9 January 2024

Net amount: 476.80 euros

Value added tax 20 percent: 95.36 euros

Total to pay: 572.16 euros

Thank you for your order."""
STATIONS = """stations.0.name: North Beacon
stations.0.highest_gust_kmh: 141
stations.1.name: Slipway
stations.1.highest_gust_kmh: 97"""


def records(text: str, title: str) -> list[Grid]:
    return list(records_of(Document("d", "d", title, text, "text"), 0, len(text)))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the total of invoice HX-17?", "572.16 euros"),
        ("Who is the customer of HX-17?", "Fernhill Clinic"),
        ("What is the invoice date of HX-17?", "9 January 2024"),
        ("What is the total of invoice HX-18?", None),
        ("What is the discount of HX-17?", None),
        ("When was HX-17 paid?", None),
    ],
)
def test_a_form_is_a_table_of_one_row(question: str, answer: str | None) -> None:
    (form,) = records(INVOICE, "Invoice HX-17")
    found = answered(form, question)
    assert (found and found.text) == answer
    assert all(INVOICE[cell.start : cell.end] == cell.text for cell in (*form.header, *form.rows[0]))


def test_numbered_paths_are_rows() -> None:
    (table,) = records(STATIONS, "stations")
    assert [cell.text for cell in table.header] == ["name", "highest gust kmh"]
    found = answered(table, "What is the highest gust of Slipway?")
    assert found is not None
    assert found.text == "97"


def test_a_colon_or_two_make_no_form() -> None:
    assert records("Note: it rains.\n\nIt was late. He said: go.\n\nWarning: wet.", "x") == []


def test_records_around_a_place_of_a_long_data_file_answer_a_look_up_and_no_superlative() -> None:
    text = "".join(f"staff.{at}.name: Ada{at}x\nstaff.{at}.price: {at}\n" for at in range(10_000))
    document = Document("d", "d", "Staff", text, "json")
    start = text.index("staff.5000.")
    (grid,) = grids_near(document, start, start + 200)
    assert not grid.whole
    assert len(grid.rows) < 500
    assert answered(grid, "Who has the highest price?") is None
    found = answered(grid, "What is the price of Ada5001x?")
    assert found is not None
    assert found.text == "5001"
