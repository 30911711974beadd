"""Tables, headings and code of a text, as people read them."""

from thresher.text.markup import blocks, flat, plain, table

SHEET = "| Model | Price |\n| Oak | 1450 |\n| Pine | 690 |"
PAGE = "# Handbook\n\nWelcome.\n\n## Expenses\n\n| Country | Limit |\n|---|---|\n| Finland | 140 EUR |\nPaid in May."
CODE = "Call it:\n\n```python\n# a comment | not a heading\n| not | a table |\n```\n\nThen wait."


def test_a_text_is_parted_into_prose_headings_tables_and_code() -> None:
    assert [(one.kind, one.text) for one in blocks(PAGE)] == [
        ("heading", "Handbook"),
        ("prose", "Welcome."),
        ("heading", "Expenses"),
        ("table", "| Country | Limit |\n|---|---|\n| Finland | 140 EUR |"),
        ("prose", "Paid in May."),
    ]
    assert [one.kind for one in blocks(CODE)] == ["prose", "code", "prose"]
    assert all(one.text in CODE[one.start : one.end] for one in blocks(CODE))


def test_the_first_row_of_a_table_is_its_header_unless_it_begins_in_its_middle() -> None:
    (sheet,) = blocks(SHEET)
    assert sheet.rows == (("Model", "Price"), ("Oak", "1450"), ("Pine", "690"))
    assert sheet.headed
    assert table(sheet.rows) == "| Model | Price |\n|---|---|\n| Oak | 1450 |\n| Pine | 690 |"
    (middle,) = blocks(table([("Pine", "690")], headed=False))
    assert middle.rows == (("Pine", "690"),)
    assert not middle.headed


def test_plain_text_has_columns_and_no_marks() -> None:
    assert plain(SHEET) == "Model  Price\n─────  ─────\nOak    1450\nPine   690"
    assert plain(PAGE).startswith("Handbook\n\nWelcome.\n\nExpenses\n\nCountry  Limit")
    assert plain(CODE) == "Call it:\n\n    # a comment | not a heading\n    | not | a table |\n\nThen wait."
    assert plain("Nothing to lay out.\nTwo lines.") == "Nothing to lay out.\nTwo lines."


def test_on_one_line_headings_end_in_a_colon_and_dots_part_cells() -> None:
    assert flat("| Finland | 140 EUR | |") == "Finland · 140 EUR"
    assert flat(PAGE) == "Handbook: Welcome. Expenses: Country · Limit; Finland · 140 EUR Paid in May."
    assert flat("# Limits") == "Limits"


def test_a_bar_within_a_cell_stays_with_it() -> None:
    assert blocks(r"| a \| b | c |")[0].rows == ((r"a \| b", "c"),)
    assert flat(r"| a \| b | c |") == "a | b · c"


def test_a_text_may_begin_within_code() -> None:
    assert [one.kind for one in blocks("x = 1\n```\nThen.", within_code=True)] == ["code", "prose"]
