"""Short documents whose subject stands in one paragraph and its values in others, and the questions to them.

Letters, hire agreements, minutes and tickets as an office keeps them, 40 in all, drawn from lists with a seed. All is
invented. Three questions to each of 34, and 14 questions that no document answers.
"""

# ruff: noqa: E501
from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.questions.rules import Question

SEED = 20261128

PEOPLE = (
    *("Marta Lindqvist", "Yusuf Demir", "Carol Whitby", "Jonas Feld", "Priya Raman", "Owen Pritchard", "Lena Aubert"),
    *("Tomasz Gorski", "Helen Okafor", "Stefan Brandt", "Nadia Haddad", "Peter Vance", "Ruth Salazar", "Igor Novak"),
    *("Alice Thornbury", "Manuel Ortega", "Freya Nilsen", "David Achebe", "Sofia Conti", "Karl Wessel"),
)
INSURED = ("kitchen ceiling", "garden wall", "conservatory roof", "cellar floor", "chimney", "garage door",
           "bathroom tiles", "front window", "boiler", "fence")  # fmt: skip
FIRMS = ("Ostrow Roofing", "Halden Events", "Mirabel Catering", "Quayside Films", "Penrose Farms", "Tallis Joinery",
         "Brookmere School", "Vantry Cycles", "Lorne Theatre", "Sable Press")  # fmt: skip
MACHINES = ("Kessel 40 excavator", "Brandt scissor lift", "Norvik generator", "Talon wood chipper", "Orbis marquee",
            "Delta floor sander", "Ruhr compressor", "Avon projector", "Pike water pump", "Lyra stage lights")  # fmt: skip
CLUBS = ("Harrow Lane Allotment Society", "Westbury Chess Club", "Millbrook Choir", "Ferncliff Rowing Club",
         "Oakdene Residents' Group", "Northgate Film Circle", "Larkfield Cricket Club", "Denholm Book Club",
         "Saltmarsh Sailing School", "Kirkby Walkers")  # fmt: skip
BOUGHT = ("water butts", "folding tables", "music stands", "life vests", "notice boards", "loudspeakers",
          "practice nets", "reading lamps", "buoys", "first aid kits")  # fmt: skip
DEVICES = ("label printer", "card reader", "projector", "scanner", "desk phone", "thin client", "barcode gun",
           "router", "receipt printer", "tablet")  # fmt: skip
FAULTS = (("a torn ribbon", "the ribbon"), ("a loose cable", "the cable"), ("a worn roller", "the roller"),
          ("a swollen battery", "the battery"), ("a cracked lens", "the lens"), ("a failed fan", "the fan"),
          ("a bent contact", "the contact"), ("a dead power brick", "the power brick"), ("a scratched glass", "the glass"),
          ("a blocked vent", "the vent"))  # fmt: skip
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October")
NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve")


class Document(NamedTuple):
    """A file, and what can be asked of it: question, and the ways in which the answer may be stated."""

    name: str
    text: str
    asked: Sequence[tuple[str, tuple[str, ...]]]
    missing: str = ""
    """A question to its subject that it does not answer."""


def letter(at: int, draw: random.Random) -> Document:
    """An insurer's letter: the person and the damage above, the amounts and dates below."""
    person, damage, handler = PEOPLE[at], INSURED[at], PEOPLE[10 + at]
    excess, paid, day = draw.randrange(75, 400, 25), draw.randrange(600, 4000, 10), draw.randrange(2, 28)
    month, weeks = MONTHS[draw.randrange(10)], NUMBERS[draw.randrange(10)]
    number = f"HC-{draw.randrange(10000, 99999)}"
    text = f"""Corrin Mutual
14 Dock Road, Ellersby

Dear {person},

Thank you for reporting the damage to your {damage}. We have opened file {number} and are sorry for the trouble that it
has caused you. One of our surveyors has now sent us his report.

We accept that the damage was caused by the storm. Your policy therefore responds, and we ask you to keep all invoices
until the work has been finished and paid for.

From what the builder charges we deduct {excess} euros, which you bear yourself. The remaining {paid} euros are
transferred once the builder's estimate has reached us, at the latest by {day} {month}.

Should the repair take longer than {weeks} weeks, please let us know. {handler} looks after your file and can be reached
on weekday mornings.

Yours sincerely,
Corrin Mutual, claims office
"""
    asked = (
        (f"What excess does {person} have to bear?", (f"{excess} euros", str(excess))),
        (f"By when must the estimate for {person}'s {damage} be in?", (f"{day} {month}",)),
        (f"Who looks after {person}'s claim?", (handler,)),
    )
    return Document(f"letter-{number}.txt", text, asked, f"What is {person}'s telephone number?")


def agreement(at: int, draw: random.Random) -> Document:
    """A hire agreement: the parties and the machine above, the conditions below."""
    firm, machine = FIRMS[at], MACHINES[at]
    fee, damage, late = draw.randrange(60, 480, 5), draw.randrange(300, 1500, 50), draw.randrange(15, 60, 5)
    days, hours = draw.randrange(3, 21), NUMBERS[draw.randrange(10)]
    text = f"""# Hire agreement {2026100 + at}

Varn Hire of Ellersby hands over to {firm} one {machine} in working order, together with its manual and a key.

## Period

The hire begins on the day of collection and lasts {days} days. It may be extended by telephone as long as nobody else
has booked.

## Charges

The charge is {fee} euros a day, payable in advance. Fuel is not included. For each hour of late return a further {late}
euros fall due.

## Care

The hirer checks oil and tyres daily and reports a breakdown within {hours} hours. The first {damage} euros of any damage
are borne by the hirer.
"""
    asked = (
        (f"How much does {firm} pay a day for the {machine}?", (f"{fee} euros", str(fee))),
        (f"For how many days has {firm} hired the {machine}?", (f"{days} days", str(days))),
        (f"How much of a damage does {firm} have to bear?", (f"{damage} euros", str(damage))),
    )
    return Document(f"hire-{2026100 + at}.md", text, asked, f"Who delivers the {machine} to {firm}?")


def minutes(at: int, draw: random.Random) -> Document:
    """Minutes of a club: its name above, what was decided in points below."""
    club, thing, chair = CLUBS[at], BOUGHT[at], PEOPLE[at]
    count, price, fee = draw.randrange(4, 24), draw.randrange(18, 120), draw.randrange(20, 95)
    day, month, next_day = draw.randrange(2, 28), MONTHS[at], draw.randrange(2, 28)
    next_month, treasurer = MONTHS[(at + 2) % 10], PEOPLE[19 - at]
    text = f"""# {club}: minutes

Held on {day} {month} in the back room of the Plough. {chair} took the chair; fourteen members had come, three had sent
their regrets.

1. The minutes of the last meeting were read and accepted without a change.

2. {thing.capitalize()}. The old ones are beyond repair. After some discussion it was agreed to order {count} at {price}
euros each.

3. Subscriptions. From next year members pay {fee} euros; those under eighteen pay half.

4. Any other business. The key to the shed has been found. {treasurer} was thanked for keeping the books and goes on
doing so.

The next meeting is on {next_day} {next_month}, at the same place.
"""
    asked = (
        (f"What will the {club} pay for each of the {thing}?", (f"{price} euros", f"{price}\neuros", str(price))),
        (f"What is the subscription of the {club} from next year?", (f"{fee} euros", str(fee))),
        (f"When does the {club} meet next?", (f"{next_day} {next_month}",)),
    )
    return Document(f"minutes-{at + 1:02}.md", text, asked, f"Who is the secretary of the {club}?")


def ticket(at: int, draw: random.Random) -> Document:
    """A ticket of a help desk: who reported what above, what was found and done below."""
    person, device, (fault, part) = PEOPLE[19 - at], DEVICES[at], FAULTS[at]
    number, minutes_taken = 4400 + draw.randrange(90) + 100 * at, draw.randrange(15, 95, 5)
    engineer, day, month = PEOPLE[(at * 3 + 5) % 10], draw.randrange(2, 28), MONTHS[draw.randrange(10)]
    text = f"""Ticket {number}
Reported by: {person}
Device: {device}
Priority: normal

Since this morning it does not do what it should. It was switched off and on again, without any change. A colleague's
runs well on the same socket.

Visited the desk and opened the case. The cause was {fault}. Warranty had ended last winter, so nothing was claimed.

Replaced {part} from our own stock and tried it with ten jobs, all of which came through. It took {minutes_taken} minutes
in all.

Closed on {day} {month} by {engineer}.
"""
    asked = (
        (f"What was the cause of the trouble with {person}'s {device}?", (fault,)),
        (f"How long did the repair of {person}'s {device} take?", (f"{minutes_taken} minutes", str(minutes_taken))),
        (f"Who closed ticket {number}?", (engineer,)),
    )
    return Document(f"ticket-{number}.txt", text, asked, f"What did the new part for {person}'s {device} cost?")


def documents() -> Iterator[Document]:
    """All of them, the same in every run."""
    draw = random.Random(SEED)
    for make in (letter, agreement, minutes, ticket):
        for at in range(10):
            yield make(at, draw)


def write(folder: Path) -> list[Question]:
    """Write the documents to a folder and give the questions to them."""
    folder.mkdir(parents=True, exist_ok=True)
    questions = []
    for at, document in enumerate(documents()):
        (folder / document.name).write_text(document.text, encoding="utf-8")
        kind, stem = document.name.partition("-")[0], Path(document.name).stem
        if at % 7:
            questions += [
                Question(f"{stem}-{number}", "short", kind, asked, answerable=True, expected=(answer,))
                for number, (asked, answer) in enumerate(document.asked, start=1)
            ]
        if at % 3 == 0:
            questions.append(Question(f"{stem}-none", "short", kind, document.missing, answerable=False))
    return questions
