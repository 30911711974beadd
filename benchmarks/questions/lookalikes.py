"""Documents that differ in names, numbers and dates only: branch reports, invoices, supplier records."""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.questions import writers
from benchmarks.questions.writers import Grid, Heading, Items, Paper

MAKERS = (("docx", writers.word), ("html", writers.html), ("txt", writers.text))
"""Every third document is of the same format."""


class Branch(NamedTuple):
    """What one branch reports; an empty string is left out of its report."""

    name: str
    manager: str
    before: str
    opened: int
    employees: int
    customers: str
    deposits: str
    loans: tuple[int, int, int, int]
    busiest: str
    event: str
    plan: str


BRANCHES = (
    Branch("Alderton", "Imogen Rusk", "Peter Oyelaran", 1974, 11, "4,310", "61.2", (820, 910, 760, 1040), "Friday",
           "In March a burst pipe flooded the vault, and the branch was closed for six days.",
           "move the counters to the first floor in May 2025"),
    Branch("Brackwell", "Dominic Vale", "Imogen Rusk", 1988, 7, "2,905", "38.7", (410, 395, 520, 480), "Monday",
           "In July the cash machine was blown up by burglars; 41,000 pounds were lost.",
           "open on Saturdays from February 2025"),
    Branch("Coldmere", "Svetlana Ibarra", "Hugh Pemble", 1961, 15, "6,120", "97.5", (1310, 1270, 1195, 1420),
           "Thursday",
           "In January the branch won the bank's prize for the best advice.",
           "hire two advisers for young families in April 2025"),
    Branch("Dunhollow", "Walter Finch-Amery", "", 1995, 6, "2,040", "25.1", (260, 340, 310, 295), "Tuesday",
           "In October a false alarm emptied the building during the savings week.",
           "close on Wednesday afternoons from March 2025"),
    Branch("Eastrigg", "Noor Castellane", "Bram Tilling", 1979, 9, "3,680", "52.4", (690, 730, 705, 655), "Friday",
           "In May the heating failed for nine days, and the staff worked from the library.",
           "install solar panels on the roof in June 2025"),
    Branch("Fernby", "Gideon Marsh", "Noor Castellane", 2003, 5, "1,770", "19.8", (180, 205, 240, 265), "Monday",
           "In August a forged cheque of 12,500 pounds was noticed and reported to the police.",
           "merge with the branch in Eastrigg in December 2025"),
    Branch("Gullane Bay", "Beatrix Osei", "Lorna Whitcombe", 1969, 12, "4,890", "70.3", (905, 880, 990, 1015),
           "Wednesday",
           "In February a storm tore off the roof sign, which damaged two cars.",
           "renew the safe deposit boxes in September 2025"),
    Branch("Hartsfell", "Lorna Whitcombe", "Ansel Dury", 1983, 8, "3,215", "44.9", (540, 575, 515, 600), "Thursday", "",
           "offer video advice in the evening from January 2025"),
    Branch("Inverlyn", "Ansel Dury", "Maud Kessler", 1957, 18, "7,450", "121.6", (1680, 1590, 1725, 1805), "Friday",
           "In June the branch was renovated, and customers were served in a container for five weeks.",
           "train twelve apprentices from September 2025"),
    Branch("Jarrowby", "Cosmo Trent", "Walter Finch-Amery", 1991, 6, "2,260", "29.4", (300, 280, 365, 330), "Tuesday",
           "In November a customer fainted in the queue and was revived by the cashier Ida Moll.",
           ""),
    Branch("Kettlewick", "Maud Kessler", "Cosmo Trent", 1972, 10, "4,055", "58.0", (770, 815, 790, 840), "Monday",
           "In April the computers were down for two days because a digger had cut the line.",
           "replace both cash machines in March 2025"),
    Branch("Lindmoor", "Rosalind Achterberg", "Gideon Marsh", 2008, 4, "1,390", "14.6", (120, 150, 135, 175),
           "Wednesday",
           "In September the branch moved from Mill Lane to Station Square.",
           "open a second counter in October 2025"),
)  # fmt: skip


def report(branch: Branch) -> Paper:
    """A branch report: below the title and the first sentence nothing names the branch."""
    people = f"The manager of the branch is {branch.manager}. "
    if branch.before:
        people += f"Until the end of 2023 {branch.before} held this post. "
    people += f"The branch has {branch.employees} employees and serves {branch.customers} customers."
    quarters = zip(
        ("January to March", "April to June", "July to September", "October to December"), branch.loans, strict=True
    )
    blocks: list[writers.Block] = [
        f"This is the yearly report of the {branch.name} branch of Calder Savings Bank for 2024. The branch was "
        f"opened in "
        f"{branch.opened}.",
        Heading("People"),
        people,
        Heading("Business"),
        f"Deposits stood at {branch.deposits} million pounds at the end of the year. The busiest day of the week is "
        f"{branch.busiest}.",
        Grid("New loans by quarter, in thousand pounds", [("Quarter", "New loans"), *quarters]),
    ]
    if branch.event:
        blocks += [Heading("Events of the year"), branch.event]
    if branch.plan:
        blocks += [Heading("Plans"), f"In the coming year the branch will {branch.plan}."]
    return Paper(f"Branch report 2024: {branch.name}", blocks)


class Invoice(NamedTuple):
    """One invoice of Pellworth Office Supply; lines are (article, number, price of one in cents)."""

    number: str
    customer: str
    date: str
    due: str
    order: str
    lines: tuple[tuple[str, int, int], ...]
    delivered: str
    discount: int
    """Percent off the sum of the lines; 0: none is mentioned."""


INVOICES = (
    Invoice("PW-24-0107", "Ashgrove Dental Practice", "9 January 2024", "8 February 2024", "AD-551",
            (("printer paper, box", 12, 2490), ("toner black", 2, 8900)), "11 January 2024", 0),
    Invoice("PW-24-0311", "Ashgrove Dental Practice", "12 March 2024", "11 April 2024", "AD-563",
            (("printer paper, box", 8, 2490), ("desk lamp", 3, 5400)), "15 March 2024", 0),
    Invoice("PW-24-0926", "Ashgrove Dental Practice", "26 September 2024", "26 October 2024", "AD-602",
            (("waiting room chair", 6, 11900), ("toner black", 1, 9200)), "4 October 2024", 5),
    Invoice("PW-24-0114", "Birchall & Sons Solicitors", "16 January 2024", "15 February 2024", "BS-2201",
            (("archive box", 150, 310), ("label roll", 20, 675)), "18 January 2024", 0),
    Invoice("PW-24-0415", "Birchall & Sons Solicitors", "15 April 2024", "15 May 2024", "BS-2248",
            (("archive box", 90, 310), ("shredder", 1, 38900)), "17 April 2024", 3),
    Invoice("PW-24-1104", "Birchall & Sons Solicitors", "4 November 2024", "4 December 2024", "BS-2297",
            (("desk chair", 4, 24500), ("label roll", 10, 695)), "11 November 2024", 0),
    Invoice("PW-24-0202", "Corrigan Primary School", "2 February 2024", "3 March 2024", "CPS-77",
            (("whiteboard", 5, 14900), ("marker set", 40, 890)), "9 February 2024", 10),
    Invoice("PW-24-0610", "Corrigan Primary School", "10 June 2024", "10 July 2024", "",
            (("exercise book", 600, 85), ("marker set", 25, 890)), "14 June 2024", 10),
    Invoice("PW-24-0830", "Corrigan Primary School", "30 August 2024", "29 September 2024", "CPS-91",
            (("pupil desk", 24, 7900), ("whiteboard", 2, 15400)), "2 September 2024", 10),
    Invoice("PW-24-0305", "Dovecote Travel Agency", "5 March 2024", "4 April 2024", "DT-18",
            (("brochure stand", 2, 16800), ("desk lamp", 5, 5400)), "7 March 2024", 0),
    Invoice("PW-24-0718", "Dovecote Travel Agency", "18 July 2024", "17 August 2024", "DT-25",
            (("brochure stand", 1, 17200), ("printer paper, box", 6, 2550)), "", 0),
    Invoice("PW-24-1212", "Dovecote Travel Agency", "12 December 2024", "11 January 2025", "DT-31",
            (("desk chair", 3, 24500), ("wall map", 1, 9900)), "19 December 2024", 0),
    Invoice("PW-24-0521", "Elmhurst Veterinary Clinic", "21 May 2024", "20 June 2024", "EV-402",
            (("label roll", 30, 675), ("filing cabinet", 2, 32900)), "24 May 2024", 0),
    Invoice("PW-24-0809", "Elmhurst Veterinary Clinic", "9 August 2024", "8 September 2024", "EV-417",
            (("waiting room chair", 10, 11900), ("desk lamp", 2, 5600)), "16 August 2024", 5),
    Invoice("PW-24-1018", "Elmhurst Veterinary Clinic", "18 October 2024", "17 November 2024", "EV-430",
            (("toner black", 3, 9200), ("printer paper, box", 10, 2550)), "21 October 2024", 0),
)  # fmt: skip

TAX_PERCENT = 20


def money(cents: int) -> str:
    """Pounds as invoices show them: 1,234.50."""
    return f"{cents / 100:,.2f}"


def totals(invoice: Invoice) -> tuple[int, int, int]:
    """Net after the discount, tax and total, in cents."""
    net = sum(number * price for _, number, price in invoice.lines)
    net -= round(net * invoice.discount / 100)
    tax = round(net * TAX_PERCENT / 100)
    return net, tax, net + tax


def bill(invoice: Invoice) -> Paper:
    """An invoice: head lines, the articles as a table, the totals."""
    net, tax, total = totals(invoice)
    rows = [(name, number, money(price), money(number * price)) for name, number, price in invoice.lines]
    blocks: list[writers.Block] = [
        "Pellworth Office Supply, 3 Kiln Road, Marsham. Tax number 512 7740 19.",
        f"Customer: {invoice.customer}",
        f"Invoice number: {invoice.number}",
        f"Invoice date: {invoice.date}",
    ]
    if invoice.order:
        blocks.append(f"Your order: {invoice.order}")
    if invoice.delivered:
        blocks.append(f"Delivered on: {invoice.delivered}")
    blocks.append(Grid("Articles, prices in pounds", [("Article", "Number", "Price", "Amount"), *rows]))
    if invoice.discount:
        blocks.append(f"Discount agreed: {invoice.discount} percent")
    blocks += [
        f"Net amount: {money(net)}",
        f"Value added tax {TAX_PERCENT} percent: {money(tax)}",
        f"Total to pay: {money(total)}",
        f"Please pay by {invoice.due}. Thank you for your order.",
    ]
    return Paper(f"Invoice {invoice.number}", blocks)


class Supplier(NamedTuple):
    """One supplier record; an empty string is left out of it."""

    name: str
    goods: str
    town: str
    contact: str
    since: int
    lead_days: int
    minimum: int
    terms: str
    certificate: str
    grade: str


SUPPLIERS = (
    Supplier("Norvane Metals", "steel sheet", "Trondal", "Elif Markham", 2009, 14, 800, "30 days net", "ISO 9001", "A"),
    Supplier(
        "Norvane Plastics",
        "polymer granulate",
        "Trondal",
        "Jude Ferreira",
        2014,
        21,
        500,
        "45 days net",
        "ISO 14001",
        "B",
    ),
    Supplier("Norvane Timber", "plywood", "Askwell", "Petra Lindgren", 2018, 10, 350, "14 days net", "", "A"),
    Supplier(
        "Halden Fasteners", "bolts and screws", "Brunmark", "Oscar Tienda", 2006, 5, 120, "30 days net", "ISO 9001", "A"
    ),
    Supplier("Haldane Fastenings", "rivets", "Corby Vale", "Nadia Ostrom", 2016, 9, 150, "30 days net", "EN 1090", "B"),
    Supplier(
        "Merrow Paints", "two-part varnish", "Elmsund", "Theo Baptiste", 2011, 12, 400, "60 days net", "ISO 14001", "C"
    ),
    Supplier(
        "Merrow Coatings", "antifouling", "Elmsund", "Greta Solheim", 2020, 18, 650, "30 days net", "ISO 9001", "A"
    ),
    Supplier("Quillon Electric", "cable harnesses", "Farrow", "Ines Duarte", 2013, 28, 900, "45 days net", "", "B"),
    Supplier(
        "Quillon Electronics", "sensors", "Farrow", "Magnus Reyle", 2019, 35, 1200, "30 days net", "ISO 9001", "B"
    ),
    Supplier(
        "Tarn Rope Works", "mooring lines", "Gillmouth", "Una Prescott", 2001, 7, 200, "14 days net", "EN 1891", "A"
    ),
    Supplier("Tarn Sail Loft", "sailcloth", "Gillmouth", "Felix Amadi", 2008, 25, 300, "", "ISO 9001", "A"),
    Supplier("Vesper Glass", "portholes", "Holmestad", "Carla Nystrom", 2015, 30, 1000, "60 days net", "EN 12150", "B"),
    Supplier("Vesper Glazing", "window seals", "Holmestad", "Rupert Kane", 2017, 16, 250, "30 days net", "", "C"),
    Supplier("Wickfield Pumps", "bilge pumps", "Ister", "Sanna Hollis", 2010, 11, 450, "45 days net", "ISO 9001", "A"),
    Supplier("Wickham Pumps", "fuel pumps", "Jorvan", "Dario Conte", 2012, 13, 475, "30 days net", "ATEX", "B"),
    Supplier(
        "Yarrow Batteries",
        "traction batteries",
        "Kelder",
        "Mina Ashdown",
        2021,
        42,
        5000,
        "30 days net",
        "UN 38.3",
        "A",
    ),
    Supplier("Yarrow Chargers", "shore chargers", "Kelder", "Ivo Breck", 2022, 38, 2500, "30 days net", "CE", "C"),
    Supplier("Zephyr Air Tools", "air tools", "Lomond", "Hana Kovacs", 2007, 8, 180, "14 days net", "ISO 9001", "B"),
    Supplier("Zephyr Compressors", "compressors", "Lomond", "Leif Garrity", 2005, 20, 1500, "60 days net", "", "A"),
    Supplier("Zethar Filters", "air filters", "Morvil", "Opal Winters", 2023, 6, 90, "30 days net", "ISO 14001", "B"),
)


def record(supplier: Supplier) -> Paper:
    """A supplier record of one page; the sentences after the first one do not name the supplier."""
    terms = f"Invoices are paid {supplier.terms}. " if supplier.terms else ""
    certificate = f"The certificate on file is {supplier.certificate}. " if supplier.certificate else ""
    return Paper(
        f"Supplier record: {supplier.name}",
        [
            f"{supplier.name} has supplied the yard with {supplier.goods} since {supplier.since}. The works are in "
            f"{supplier.town}.",
            Heading("Contact"),
            f"Our contact is {supplier.contact}, who answers within one working day. Orders are sent by e-mail and "
            "confirmed by telephone.",
            Heading("Conditions"),
            f"The delivery time is {supplier.lead_days} days. The smallest order is {supplier.minimum} euros. {terms}"
            "Freight is paid by the supplier.",
            Heading("Quality"),
            f"{certificate}The last assessment gave grade {supplier.grade}. Complaints go to the quality office of "
            f"the yard.",
            Items(
                "Every delivery is checked for three things:",
                ["the number of pieces", "damage of the packing", "the batch number"],
            ),
        ],
    )


def reports() -> dict[str, bytes]:
    """Name of a file to its content."""
    return _files([(f"branch-{branch.name.lower().replace(' ', '-')}", report(branch)) for branch in BRANCHES])


def invoices() -> dict[str, bytes]:
    """Name of a file to its content."""
    return _files([(f"invoice-{invoice.number}", bill(invoice)) for invoice in INVOICES])


def suppliers() -> dict[str, bytes]:
    """Name of a file to its content; all are Markdown."""
    return {f"{one.name.lower().replace(' ', '-')}.md": writers.markdown(record(one)) for one in SUPPLIERS}


def _files(papers: list[tuple[str, Paper]]) -> dict[str, bytes]:
    made = {}
    for at, (name, paper) in enumerate(papers):
        suffix, write = MAKERS[at % len(MAKERS)]
        made[f"{name}.{suffix}"] = write(paper)
    return made
