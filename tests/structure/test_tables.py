"""What a table answers: a cell, rows with the names of their columns, the highest, the lowest, a sum; and what not."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.structure.test_grid import grid
from thresher.structure.answers import answered

RESULTS = grid(
    "Results by quarter\n\nAll amounts in million euros.\n\n",
    """| Quarter | Revenue | Costs | Employees |
| Q1 | 14.2 | 11.0 | 210 |
| Q2 | 15.8 | 11.9 | 214 |
| Q3 | 17.9 | 12.1 | 220 |
| Total | 47.9 | 35.0 | |""",
)
BRANCHES = grid(
    "Branches\n\nFigures in thousand US dollars.\n\n",
    """| Branch | Manager | City | Revenue 2022 | Revenue 2023 |
| North | Ines Cole | Stonebridge | 410 | 455 |
| South | Tom Reed | Oakridge | 520 | 498 |""",
)
LITRES = grid("", "| Plant | Litres a week |\n| Tomato | 7 |\n| Basil | 2 |")
MEASURES = grid("", "| Measure | 2022 | 2023 |\n| Revenue (EUR) | 5 | 6 |\n| Visitors | 70 | 80 |")
CLAIMS = grid(
    "Claims of March\n\n",
    """| name | city | age | claim |
| Ada | Paris | 36 | stolen bike |
| Bruno | Lyon | 41 | water damage |
| Clara | Oslo | 29 | broken window |""",
)
RATES = grid(
    "Fine-tuning of deep transformers\n\n",
    "| Batch size | Learning rate (Adam) | Epochs |\n| 16, 32 | 5e-5, 3e-5, 2e-5 | 2, 3, 4 |",
)
WINS = grid("Wins by method\n\n", "| Measure | DPO | SFT |\n| Respondents | 272 | 122 |\n| Wins in % | 47 | 27 |")
ALLOWANCES = grid(
    "Travel\n\nTable 1: Daily allowances by country, in euros\n\n",
    """| Country | Full day | Half day | Hotel limit |
| Denmark | 58 | 39 | 190 |
| Estonia | 31 | 21 | 110 |
| Norway | 64 | 43 | 205 |""",
)
PARTS = grid(
    "Parts in the store\n\n",
    """| Part | Description | Price in euros | In stock | Shelf |
| HM-1 | bilge pump 24 V | 189.0 | 12 | B3 |
| HM-2 | bilge pump 12 V | 164.5 | 4 | B3 |
| HM-3 | anchor chain 10 mm | 9.8 | 300 | C1 |""",
)
CODES = grid("Error codes\n\n", "| Code | Meaning |\n| E1 | motor too hot |\n| E2 | oil level low |")
SEGMENTS = grid(
    "Revenue by segment, in million euros\n\n",
    """| Segment | Q3 2023 | Q2 2024 | Q3 2024 |
| New boats | 9.8 | 11.2 | 12.6 |
| Refit and repair | 4.1 | 3.9 | 3.7 |
| Charter | 2.9 | 2.2 | 2.8 |""",
)
PHONES = grid(
    "Phones\n\n",
    """| Name | Department | Extension |
| Anna Berg | Finance | 4410 |
| Anna Bergh | Legal | 4419 |
| John Smith | Sales | 3301 |
| John Smith | Purchasing | 3377 |""",
)
PRICES = grid(
    "Prices\n\n", "| Product | Price 2023 | Price net | Price gross |\n| Lamp | 12 | 9 | 11 |\n| Chair | 44 | 36 | 43 |"
)
FORM = grid(
    "Settings of the relay\n\nHoldOpen Setting\n\n",
    """| Description: | Set timeout values for the handshake, the headers and the body that a client sends to a relay |
| Default: | HoldOpen Off |
| Context: | gate, yard |""",
)
TICKETS = grid(
    "",
    """| Ticket | Status | Owner | Hours |
| T-101 | open | Anna Berg | 4 |
| T-102 | closed | Ola Lund | 2.5 |
| T-103 | open | Mia Dahl | 7 |
| T-104 | waiting | Anna Berg | 1 |""",
)
ENERGY = grid(
    "Energy 2023\n\nFigures in MWh.\n\n",
    "| Site | January | February |\n| Plant A | 120 | 111 |\n| Plant B | 80 | 85 |",
)
SALES = grid(
    "Sales\n\n",
    "| Region | Sales |\n| Europe | |\n| North | 10 |\n| South | 20 |\n| Asia | |\n| North | 33 |\n| Total | 63 |",
    is_exact=False,
)
ASSETS = grid(
    "",
    """| Asset | Site | Installed | Serviced |
| A-1 | Hull | 2014-03-02 | in the yard |
| A-2 | Leeds | 2016-07-01 | at the maker |""",
)
TOURS = grid("", "| Tour | Guide | Starts |\n| Old town | Ann | 3 May 2021 |\n| Harbour | Joe | 12 June 2022 |")
PROSE = "Parking costs 25 euros a night. The spa costs 40 euros, the towel 2 euros.\n\n"
ROOMS = grid(PROSE, "| Room | Price |\n| Oak | 145 |\n| Elm | 69 |")
NORWAY = "Norway: Full day 64 euros, Half day 43 euros, Hotel limit 205 euros"
TABLES = {
    **{"results": RESULTS, "branches": BRANCHES, "litres": LITRES, "measures": MEASURES, "claims": CLAIMS},
    **{"rates": RATES, "wins": WINS, "allowances": ALLOWANCES, "parts": PARTS, "codes": CODES, "segments": SEGMENTS},
    **{"phones": PHONES, "prices": PRICES, "tickets": TICKETS, "energy": ENERGY, "sales": SALES},
    "form": FORM,
    "idle": grid("IdleTime\n\n", "| Description: | Hold open time of idle links |\n| Default: | IdleTime 300 |"),
    "taxed": grid("", "| Lamp | Price | VAT rate |\n|---|---|---|\n| Oak | 30 | 9 |\n| Reed | 12 | 20 |"),
    **{"assets": ASSETS, "tours": TOURS},
    **{"rooms": ROOMS, "models": grid("", "| Model | Layers |\n| ViT-Base | 12 |\n| ViT-Huge | 32 |")},
}


@pytest.mark.parametrize(
    ("table", "question", "answer"),
    [
        # a cell by its row and column
        ("results", "What was revenue in Q3?", "17.9 million euros"),
        ("results", "How many employees were there in Q1?", "210"),
        ("results", "What was the total revenue?", "47.9 million euros"),
        ("measures", "What was the revenue in 2023?", "6 EUR"),
        ("codes", "What is E1?", "motor too hot"),
        ("codes", "What does E2 mean?", "oil level low"),
        # persons, places and ages by the words of the question
        ("branches", "Who manages the North branch?", "Ines Cole"),
        ("branches", "What was South's revenue in 2023?", "498 thousand US dollars"),
        ("branches", "Which branch is in Oakridge?", "South"),
        ("claims", "What is Ada's city?", "Paris"),
        ("claims", "Where does Bruno live?", "Lyon"),
        ("claims", "How old is Ada?", "36"),
        # a day is no place, though its column is named
        ("assets", "When was A-2 installed?", "2016-07-01"),
        ("assets", "Where is A-2 serviced?", "at the maker"),
        ("claims", "Which customer had a stolen bike?", "Ada"),
        ("claims", "Which customer is 29 years old?", "Clara"),
        # rows without one column
        ("allowances", "What is the daily allowance for Norway?", NORWAY),
        ("allowances", "What are the allowances for Estonia and Norway?",
         f"Estonia: Full day 31 euros, Half day 21 euros, Hotel limit 110 euros; {NORWAY}"),
        ("allowances", "and what about Norway?", NORWAY),
        ("segments", "Revenue of the refit segment in Q3?",
         "Refit and repair: Q3 2023 4.1 million euros, Q3 2024 3.7 million euros"),
        ("parts", "How much does a bilge pump cost?", "bilge pump 24 V: 189.0 euros; bilge pump 12 V: 164.5 euros"),
        ("parts", "How many bilge pumps are in stock?", "bilge pump 24 V: 12; bilge pump 12 V: 4"),
        # look-alikes, each with what tells it apart
        ("phones", "What is the extension of Anna Berg?", "4410"),
        ("phones", "What is the extension of John Smith?", "John Smith Sales: 3301; John Smith Purchasing: 3377"),
        ("phones", "What is the extension of John Smith in Purchasing?", "3377"),
        ("prices", "What is the price of the lamp?", "Lamp: Price 2023 12, Price net 9, Price gross 11"),
        ("prices", "What is the gross price of the lamp?", "11"),
        ("sales", "What are the sales in the north of Asia?", "33"),
        ("sales", "What are the sales in the North?", "Europe North: 10; Asia North: 33"),
        ("sales", "What are the total sales?", "63"),
        # the highest and the lowest, sums; rows of totals are not counted in
        ("segments", "In which quarter was charter revenue lowest?", "Q2 2024: 2.2 million euros"),
        ("parts", "Which part is the most expensive?", "HM-1: 189.0 euros"),
        ("taxed", "Which lamp is the cheapest?", "Reed: 12"),
        ("results", "Which quarter had the highest revenue?", "Q3: 17.9 million euros"),
        ("results", "What were the lowest costs?", "Q1: 11.0 million euros"),
        ("results", "How many employees were there in all quarters together?", "210 + 214 + 220 = 644"),
        ("results", "What are the total costs of Q1 and Q2?", "11.0 + 11.9 = 22.9 million euros"),
        ("tickets", "How many hours do the open tickets have in total?", "4 + 7 = 11"),
        ("tickets", "Which ticket has the most hours?", "T-103: 7"),
        # rows and columns exchanged
        ("branches", "Which branch had the highest revenue in 2023?", "South: 498 thousand US dollars"),
        ("energy", "In which month did Plant A use the most energy?", "January: 120 MWh"),
        ("energy", "What is the total energy use of Plant A?", "120 + 111 = 231 MWh"),
    ],
)  # fmt: skip
def test_a_table_answers_what_it_says(table: str, question: str, answer: str) -> None:
    found = answered(TABLES[table], question)
    assert found is not None
    assert found.text == answer


@pytest.mark.parametrize(
    ("table", "question"),
    [
        # another period, subject or condition
        ("results", "What was revenue in Q5?"),
        ("results", "What was the profit in Q3?"),
        ("results", "What was revenue in may?"),
        ("segments", "What was charter revenue of may?"),
        ("results", "What were the marketing costs in Q3?"),
        ("results", "What was the revenue of Bolt in Q3?"),
        ("results", "What was revenue before Q3?"),
        ("results", "What was revenue in Q3 of 2019?"),
        ("results", "What was revenue?"),
        ("branches", "Who is in charge of South?"),
        ("branches", "What was South's revenue in 2021?"),
        ("claims", "Who lives in Berlin?"),
        ("claims", "How tall is Ada?"),
        ("claims", "How old is Dora?"),
        ("claims", "Which doctor lives in Paris?"),
        ("claims", "Who does not live in Paris?"),
        ("allowances", "What is the meal allowance in Norway?"),
        ("allowances", "What is the daily allowance for Sweden?"),
        ("allowances", "What is Norway?"),
        ("allowances", "Who pays the allowance in Norway?"),
        ("parts", "How much is the bilge pump 48 V?"),
        ("parts", "How much does a fire pump cost?"),
        ("parts", "Which parts are on shelf B4?"),
        ("segments", "What did the new boats cost?"),
        ("segments", "What was the profit of Charter?"),
        ("segments", "Revenue of the refit segment in Q3 2021?"),
        # of a word in the text beside a label, and what a value does
        ("form", "timeout default"),
        ("idle", "hold open default"),
        ("form", "What does HoldOpen Off do?"),
        # what no table says: yes or no, steps, reasons, definitions
        ("allowances", "Is the hotel limit in Norway more than 100?"),
        ("litres", "How do I plant tomatoes?"),
        ("litres", "What is a tomato?"),
        ("litres", "Why does basil need litres?"),
        ("rates", "What is a transformer in deep learning?"),
        ("wins", "What is DPO?"),
        # nothing to compute
        ("results", "Which quarter had the highest profit?"),
        ("results", "Which quarter had the second highest revenue?"),
        ("results", "What was the total in Q3?"),
        ("results", "Which quarter had the highest revenue of Bolt?"),
        ("results", "How much more revenue was there in Q5 than in Q3?"),
        ("tickets", "How many tickets are blocked?"),
        ("tickets", "How many tickets are not open?"),
        ("tickets", "What are the opening hours?"),
        ("tickets", "Who has the most tickets?"),
        ("branches", "Which branch has the fewest employees?"),
        ("branches", "Who is the oldest manager?"),
        ("tours", "Where does the Harbour tour start?"),
        ("assets", "Who installed A-2?"),
        # a sentence above a table names no row of it
        ("rooms", "How much does the spa cost?"),
        ("rooms", "Towel price?"),
    ],
)
def test_a_table_does_not_answer_what_it_does_not_say(table: str, question: str) -> None:
    assert answered(TABLES[table], question) is None


@given(some.lists(some.decimals(0, 10**6, places=2), min_size=2, max_size=8, unique=True))
def test_the_highest_and_the_sum_are_those_of_the_numbers(values: list[Decimal]) -> None:
    rows = "\n".join(f"| Item{number} | {value} |" for number, value in enumerate(values, start=1))
    table = grid("", f"| Article | Weight |\n{rows}")
    highest, added = (answered(table, one) for one in ("Which article has the highest weight?", "The total weight?"))
    assert highest is not None
    assert added is not None
    assert highest.text.endswith(f": {max(values)}")
    assert added.text.endswith(f" = {sum(values)}")
