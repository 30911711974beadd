"""Documents of a harbour town that does not exist, for the page's tests and its pictures in docs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer

Pages = Sequence[tuple[str, Sequence[str]]]
"""A heading and paragraphs for each page."""

HANDBOOK: Pages = (
    (
        "Fernby Harbour Handbook",
        (
            "This handbook is for skippers, passengers and neighbours of Fernby harbour. It is issued by the harbour "
            "office and replaces the edition of 2021. The harbour master is Ida Brandt, who took office in 2019.",
            "The office stands at the head of the east quay. It is open on weekdays from 08:00 to 16:30, and on "
            "Saturdays in summer from 09:00 to noon.",
        ),
    ),
    (
        "Ferries",
        (
            "The first ferry to Gull Island leaves at 06:40 from the east quay. The crossing takes 35 minutes in calm "
            "weather and up to 50 minutes in a strong westerly wind.",
            "There are seven crossings a day from April to October and four from November to March. The last ferry "
            "back from Gull Island leaves at 19:15, on Fridays at 21:00.",
            "A single ticket costs 4.80, a return 8.20. Children under six and bicycles travel free of charge. Dogs "
            "need a muzzle and a ticket for half the price.",
        ),
    ),
    (
        "Tides and depths",
        (
            "The tide at Fernby rises by 4.2 metres at springs and by 2.3 metres at neaps. At low water springs the "
            "fairway is 1.9 metres deep, which is too little for boats of more than 1.5 metres draught.",
            "Boats of more than 1.5 metres draught enter within two hours of high water. The harbour gate closes when "
            "a storm surge of more than 1.2 metres is forecast.",
        ),
    ),
    (
        "Moorings and fees",
        (
            "A visitor's berth costs 2.10 for each metre of length and night, water and showers included. Electricity "
            "is paid at the meter. A berth for the year costs 145 for each metre and is let by the harbour office.",
            "The waiting list for a yearly berth has about sixty names. Berths on the west quay are kept for fishing "
            "boats until 10:00 in the morning.",
        ),
    ),
    (
        "Safety",
        (
            "The speed limit inside the breakwaters is four knots. Life jackets are worn by everybody on deck of an "
            "open boat. The lifeboat station is manned day and night and answers on channel 16.",
            "Swimming is allowed from the south beach only. Nobody may swim or dive between the breakwaters or within "
            "fifty metres of the ferry berth.",
        ),
    ),
)

LIGHTHOUSE: Pages = (
    (
        "The lighthouse of Fernby",
        (
            "The lighthouse of Fernby was built in 1849 by the engineer Tobias Rehn. It stands on the Skerry, a rock "
            "that is dry at low water, and is 31 metres high.",
            "The tower replaced a coal fire that had burned on the headland since 1764. Its granite came by barge "
            "from the quarry at Harrow.",
        ),
    ),
    (
        "Lamp and keepers",
        (
            "The lamp was rebuilt in 1902 by Ada Holm, who put in a lens of the first order. Since then the light is "
            "seen at 19 nautical miles. It shows two white flashes every fifteen seconds.",
            "Eleven keepers lived in the tower between 1849 and 1976, when the light was made automatic. The last of "
            "them, Jonas Feld, kept a diary that is in the town museum.",
        ),
    ),
)

NOTES = {
    "railway.md": "# The railway\n\nThe railway from Fernby to Harrow was opened in 1871. It is 24 kilometres long and "
    "has five stations. Trains run every hour from 05:30 to 22:30.\n\nThe line was electrified in 1988. A journey from "
    "end to end takes 31 minutes.\n",
    "museum.md": "# The town museum\n\nThe museum in the old customs house is open from Tuesday to Sunday, 10:00 to "
    "17:00. Entry is free on the first Sunday of a month.\n\nIts largest exhibit is the lens of 1849, which the "
    "lighthouse gave up when its lamp was rebuilt.\n",
    "council-2025-03.md": "# Town council, 11 March 2025\n\nThe council resolved to dredge the fairway in autumn 2025. "
    "The work will cost about 1.4 million and take ten weeks.\n\nThe harbour office expects that ferries may be "
    "delayed by up to twenty minutes while the dredger works.\n",
    "council-2025-09.md": "# Town council, 9 September 2025\n\nThe dredging of the fairway was put off until spring "
    "2026, because no dredger could be had for the autumn. The cost is now put at 1.6 million.\n",
    "bathing-water.md": "# Bathing water\n\nThe water at the south beach was tested eleven times in summer 2025. It "
    "was excellent ten times and good once, after the heavy rain of 3 August.\n",
    "library.md": "# The library\n\nThe public library lends books for four weeks. A library card costs nothing for "
    "people who live in Fernby. The reading room has a view of the ferry berth.\n",
    "gull-island.md": "# Gull Island\n\nGull Island has 212 inhabitants, a school, a shop and an inn. No cars are "
    "allowed on the island. The path around it is nine kilometres long.\n\nThe northern third is a bird reserve, which "
    "nobody may enter from March to July.\n",
    "market.md": "# The market\n\nThe fish market is held on the west quay on Wednesdays and Saturdays from 07:00. The "
    "boats land herring from May to August and mackerel until October.\n",
}

ARCHIVE = {
    "storms.md": "# Storms in the chronicle\n\nThe storm of 12 February 1883 broke the west breakwater in two places "
    "and sank nine boats. It was rebuilt by 1886.\n",
    "names.md": "# Names of places\n\nThe Skerry was called Priest's Rock until 1790.\n",
}


def pdf(file: Path, title: str, pages: Pages) -> Path:
    """A PDF with a heading and paragraphs on each page."""
    styles = getSampleStyleSheet()
    flow = []
    for heading, paragraphs in pages:
        flow.append(Paragraph(heading, styles["Heading1"]))
        for text in paragraphs:
            flow += [Paragraph(text, styles["BodyText"]), Spacer(1, 8)]
        flow.append(PageBreak())
    SimpleDocTemplate(str(file), pagesize=A4, title=title).build(flow)
    return file


def write_town(folder: Path) -> list[Path]:
    """Every document of the town, in a folder."""
    made = [
        pdf(folder / "harbour-handbook.pdf", "Fernby Harbour Handbook", HANDBOOK),
        pdf(folder / "lighthouse.pdf", "The lighthouse of Fernby", LIGHTHOUSE),
    ]
    return made + write_notes(folder, NOTES)


def write_notes(folder: Path, notes: dict[str, str]) -> list[Path]:
    """Notes by the names of their files, in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in notes.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in notes]
