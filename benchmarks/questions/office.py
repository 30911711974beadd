"""Twelve office files of one invented company, Harwick Marine, with tables, lists, notes and sections."""

from __future__ import annotations

from benchmarks.questions import writers
from benchmarks.questions.writers import Grid, Heading, Items, Paper

HANDBOOK = Paper(
    "Harwick Marine Staff Handbook",
    [
        "This handbook applies to all employees of Harwick Marine from 1 February 2025. It replaces the edition of "
        "2021. "
        "Contractors and apprentices have agreements of their own.",
        Heading("1. Probation and notice"),
        "New employees are on probation for four months. During probation either side may end the contract with two "
        "weeks' notice. After probation the notice period is eight weeks; for managers it is three months.",
        Heading("2. Holidays"),
        "Every full-time employee has 27 days of paid holiday a year. Up to five days may be carried over, and must be "
        "taken by 31 March. Requests of more than ten days in a row are approved by the managing director, all others "
        "by the team leader.",
        "Dock crew may not take holiday in the last two weeks of May, because the yard is relaunching charter boats "
        "then.",
        Heading("3. Working from home and abroad"),
        "Office staff may work from home up to two days a week. The days are agreed with the team leader each month.",
        "Working from abroad is allowed for at most 15 days a year, only within the European Union, and has to be "
        "requested six weeks ahead, since the payroll office must register the stay with the insurer.",
        Heading("4. Travel and expenses"),
        "Trips are booked through the travel desk. Receipts are handed in within 30 days; later claims are not paid.",
        Grid(
            "Table 1: Daily allowances by country, in euros",
            [
                ("Country", "Full day", "Half day", "Hotel limit"),
                ("Denmark", 58, 39, 190),
                ("Estonia", 31, 21, 110),
                ("Ireland", 52, 35, 175),
                ("Norway", 64, 43, 205),
                ("Portugal", 34, 23, 120),
            ],
        ),
        Heading("5. Accidents at work"),
        Items(
            "Whoever sees an accident follows these steps in this order:",
            [
                "Secure the place and switch off running machines.",
                "Call the first-aider on duty, extension 411.",
                "Move the injured person only if there is danger of fire or drowning.",
                "Write down the names of witnesses.",
                "Fill in form A-7 and hand it to Ottilie Brandt on the same day.",
            ],
            numbered=True,
        ),
        Heading("6. Company vans"),
        Items(
            "The following rules hold for company vans:",
            [
                "Private trips are not allowed.",
                "The driver has held a licence for at least three years.",
                "Smoking and animals are forbidden.",
                "The tank is at least half full when the van is returned.",
            ],
        ),
        "Fines are paid by the driver. Damage is reported to the workshop within 24 hours.",
        Heading("7. Sick leave"),
        "Sickness is reported by telephone before 8:30 on the first day. A doctor's note is needed from the third day "
        "on.",
        Heading("8. Training"),
        "Each employee has a training budget of 900 euros a year. It lapses at the end of December. Language courses "
        "are "
        "paid only where the job needs the language.",
    ],
    author="Ottilie Brandt",
)

BUDGET = [
    (
        "Budget 2025",
        Grid(
            "Budget 2025 by department, in thousand euros",
            [
                ("Department", "Q1", "Q2", "Q3", "Q4"),
                ("Boatyard", 412, 455, 398, 371),
                ("Charter", 188, 264, 291, 140),
                ("Engineering", 226, 231, 240, 252),
                ("Marketing", 64, 97, 58, 49),
                ("Administration", 105, 104, 107, 110),
            ],
        ),
    ),
    (
        "Headcount",
        Grid(
            "Headcount on 1 January 2025, in full-time equivalents",
            [
                ("Department", "Employees", "Apprentices", "Open positions"),
                ("Boatyard", 38.5, 6, 3),
                ("Charter", 14, 0, 2),
                ("Engineering", 21.5, 2, 4),
                ("Marketing", 5, 1, 0),
                ("Administration", 9, 1, 1),
            ],
        ),
    ),
]

RESULTS = Paper(
    "Harwick Marine: results of the third quarter of 2024",
    [
        Heading("Third quarter at a glance"),
        Items(
            "What mattered between July and September:",
            [
                "Revenue rose by 6.4 percent on the year before",
                "Two hybrid ferries were handed over to the island authority",
                "The order of the pilot boat Skua is eleven weeks late",
            ],
        ),
        Heading("Revenue by segment"),
        Grid(
            "Revenue by segment, in million euros",
            [
                ("Segment", "Q3 2023", "Q2 2024", "Q3 2024"),
                ("New boats", 9.8, 11.2, 12.6),
                ("Refit and repair", 4.1, 3.9, 3.7),
                ("Charter", 2.9, 2.2, 2.8),
                ("Spare parts", 1.5, 1.4, 1.6),
            ],
        ),
        Heading("Outlook"),
        "For the whole of 2024 we expect revenue of 71 million euros and an operating margin of 7.5 percent. The order "
        "book stands at 48 million euros and reaches into spring 2026.",
        Heading("Risks"),
        Items(
            "We watch three risks closely:",
            [
                "Prices of marine aluminium",
                "A shortage of certified welders",
                "The licence of the slipway ends in June 2026",
            ],
        ),
    ],
    author="Casimir Holt",
)
NOTES = [
    "Greet the works council. Point out that the ferries were handed over on 19 August and 23 September.",
    "Refit fell because the dry dock was closed for 17 days in August: its gate had to be welded.",
    "The outlook was raised in July from 68 million. Nobody should promise a dividend today.",
    "The Skua is late because the gearbox supplier in Turku went bankrupt; the replacement comes from Gdansk.",
]

TIMETABLE = Paper(
    "Summer timetable of the Harwick island ferries",
    [
        "Valid from 10 May to 28 September 2025. Outside these dates the winter timetable applies. Operated by Harwick "
        "Marine for the island authority.",
        Heading("Departures"),
        Grid(
            "Departures from Harwick quay on weekdays",
            [
                ("Route", "First boat", "Last boat", "Crossing in minutes", "Boats a day"),
                ("Skerry Island", "06:40", "21:15", 35, 14),
                ("Gannet Rock", "08:10", "18:30", 55, 6),
                ("St Olan", "07:25", "20:00", 80, 8),
                ("Little Mew", "09:00", "17:45", 20, 5),
            ],
        ),
        "On Saturdays the last boat to St Olan leaves at 22:30. On Sundays there is no service to Little Mew.",
        Heading("Fares"),
        Grid(
            "Fares for one way, in euros",
            [
                ("Route", "Adult", "Child 4 to 14", "Bicycle", "Car"),
                ("Skerry Island", 7.5, 3.5, 2, 24),
                ("Gannet Rock", 11, 5.5, 3, 36),
                ("St Olan", 14, 7, 4, 48),
                ("Little Mew", 5, 2.5, 2, "not carried"),
            ],
        ),
        Heading("Good to know"),
        Items(
            "On board the following holds:",
            [
                "Dogs travel free, on a lead, and stay on the outer deck.",
                "Bicycles are loaded last and cannot be booked.",
                "Cars must be at the quay 25 minutes before departure.",
                "Tickets can be returned until one hour before departure for a fee of 2 euros.",
            ],
        ),
        "In winds above force 9 the boats to Gannet Rock do not sail, because the landing stage there is open to the "
        "west. "
        "Passengers are then taken to Skerry Island and may return free of charge.",
        "Lost property is kept for six weeks at the quay office, telephone 555 0142.",
    ],
)

PARTS: list[writers.Row] = [
    ("part", "description", "supplier", "price in euros", "in stock", "reorder at", "shelf"),
    ("HM-1040", "bilge pump 24 V", "Tidewell", 189.0, 12, 6, "B3"),
    ("HM-1041", "bilge pump 12 V", "Tidewell", 164.5, 4, 6, "B3"),
    ("HM-2210", "propeller bronze 18 in", "Corvane", 742.0, 3, 2, "D1"),
    ("HM-2215", "propeller bronze 20 in", "Corvane", 818.0, 1, 2, "D1"),
    ("HM-3302", "navigation light green", "Lumenor", 46.9, 31, 10, "A2"),
    ("HM-3303", "navigation light red", "Lumenor", 46.9, 27, 10, "A2"),
    ("HM-4118", "anchor chain 10 mm, per metre", "Corvane", 9.8, 240, 100, "yard"),
    ("HM-5007", "fuel filter twin", "Tidewell", 97.25, 9, 5, "B4"),
    ("HM-6120", "life raft 8 persons", "Safebay", 2350.0, 2, 1, "C1"),
    ("HM-6121", "life raft 12 persons", "Safebay", 3120.0, 1, 1, "C1"),
]

MAIL = """Dear all,

thank you for coming to the kick-off of project Heron on Tuesday. Here is what we agreed.

Heron is the electric harbour tug for the port of Lisle. The contract was signed on 14 January 2025 and is worth
4.35 million euros. The keel is laid on 5 May 2025, sea trials begin on 2 February 2026 and the hand-over is on
30 April 2026. For every week of delay we owe 0.5 percent of the price, at most 6 percent.

Who does what:
- Priya Nandakumar leads the project.
- Joss Wetherby designs the hull.
- Mirela Stanciu is responsible for the batteries.
- Tomas Lindqvist talks to the class society.

Decisions:
1. The battery has 1,900 kWh, not 1,600 as in the offer.
2. We use lithium iron phosphate cells, because the port insists on cells that cannot burn through.
3. The wheelhouse comes from the Kestrel, to save six weeks of drawing.

Open questions: who pays for the charging pier, and whether the crew of Lisle is trained by us.

The next meeting is on 11 March at 10:00 in the model room. Please send your risks to me by 6 March.

Best regards
Priya
"""

GUIDE = [
    Paper(
        "Chapter 1: Gulls of the harbour",
        [
            "Three gulls breed in Harwick harbour. The herring gull is the largest of them, with pink legs and a "
            "yellow "
            "bill with a red spot. The common gull is smaller, has greenish legs and a round head. The black-headed "
            "gull "
            "wears its brown hood only from March to July.",
            "Herring gulls lay three eggs in May and brood for 28 days. Both parents feed the young, which fly after "
            "about 40 days. In 2023 the warden counted 212 pairs on the old mole, in 2024 only 175, because mink had "
            "come over the new causeway.",
        ],
    ),
    Paper(
        "Chapter 2: Terns",
        [
            "The arctic tern is lighter than the common tern and has a bill without a black tip. It arrives around 3 "
            "May and "
            "leaves by the middle of August. Terns nest on bare gravel; that is why the gravel roofs of the ferry "
            "terminal "
            "were fenced in 2022.",
            Grid(
                "Breeding pairs of terns on the terminal roofs",
                [
                    ("Year", "Arctic tern", "Common tern"),
                    (2022, 14, 31),
                    (2023, 22, 29),
                    (2024, 37, 26),
                ],
            ),
            Items(
                "Visitors are asked to keep to these rules near the colony:",
                [
                    "Stay behind the rope.",
                    "Keep dogs on a lead.",
                    "Do not fly drones.",
                    "Leave at once when terns dive at you.",
                ],
            ),
        ],
    ),
    Paper(
        "Chapter 3: How to ring a bird",
        [
            Items(
                "Ringing takes two people and goes like this:",
                [
                    "Take the bird out of the net with the head between your fingers.",
                    "Read the old ring, if there is one, aloud twice.",
                    "Close the new ring around the right leg with the pliers.",
                    "Measure the wing and weigh the bird in the bag.",
                    "Let it go from the ground, against the wind.",
                ],
                numbered=True,
            ),
            "A bird is held for no more than three minutes. In rain no birds are ringed.",
        ],
    ),
]

STATIONS = {
    "network": "Harwick harbour weather stations",
    "maintained_by": "Tomas Lindqvist",
    "stations": [
        {"name": "Old Mole", "installed": "2017-04-12", "height_m": 8.5, "sensor": "Vega 3", "status": "in service"},
        {
            "name": "North Beacon",
            "installed": "2019-09-30",
            "height_m": 22.0,
            "sensor": "Vega 5",
            "status": "in service",
        },
        {
            "name": "Slipway",
            "installed": "2021-06-01",
            "height_m": 4.0,
            "sensor": "Vega 3",
            "status": "out of service",
            "remark": "struck by lightning on 9 November 2024",
        },
        {
            "name": "Gannet Rock",
            "installed": "2022-03-18",
            "height_m": 31.0,
            "sensor": "Orrin X",
            "status": "in service",
        },
    ],
    "highest_gusts_2024_kmh": {"Old Mole": 118, "North Beacon": 141, "Gannet Rock": 156},
}

RELEASES = Paper(
    "Lantern route planner: release notes",
    [
        "Lantern is the program with which our skippers plan passages. These are the changes of the last three "
        "releases.",
        Heading("Lantern 5.2 (17 February 2025)"),
        Items(
            "New in this release:",
            [
                "Tide streams for the Gannet Sound",
                "Export of routes to GPX",
                "Warnings when the draught exceeds the depth",
            ],
        ),
        "Fixed: the program no longer crashes when two waypoints have the same name.",
        Heading("Lantern 5.1 (4 October 2024)"),
        Items(
            "New in this release:", ["A night mode", "Search for harbours by name", "Fuel estimates for twin engines"]
        ),
        "Known problem: printing a route cuts off the last waypoint. It will be fixed in 5.3.",
        Heading("Lantern 5.0 (22 May 2024)"),
        "This release moves all charts to the new S-101 format. Charts of version 4 cannot be opened any more; "
        "convert them "
        "with the tool chartlift first. Windows 8 is no longer supported.",
        Heading("Limits"),
        Grid(
            "Limits of the two editions",
            [
                ("", "Crew edition", "Fleet edition"),
                ("Routes", 200, 5000),
                ("Waypoints per route", 150, 400),
                ("Boats", 1, 60),
                ("Price a year in euros", 85, 1400),
            ],
        ),
    ],
    author="Wilhelmina Sorley",
)

MINUTES = Paper(
    "Minutes of the works council of Harwick Marine, 12 November 2024",
    [
        "Present: Aurelio Pinto (chair), Hedda Strand, Joss Wetherby, Kofi Mensah. Absent: Ragna Quist, who was ill. "
        "Place: "
        "model room. Start 14:00, end 16:20.",
        Heading("1. Canteen"),
        "The price of lunch rises from 4.80 to 5.60 euros on 1 January 2025, because the caterer's contract was tied "
        "to "
        "food prices. Hedda Strand asked for a vegetarian dish every day; the caterer agreed to four days a week.",
        Heading("2. Shift plan of the dock"),
        "The four-shift plan was tried from June to October. Overtime fell from 620 to 410 hours a month, and sick "
        "leave did "
        "not change. The council voted for keeping it, three votes to one. Kofi Mensah voted against, since night "
        "shifts of "
        "ten hours are too long for crane drivers.",
        Heading("3. Noise in hall 2"),
        "The measurement of 28 October gave 91 decibels at the plate cutter, 6 above the limit. Until the cutter is "
        "housed "
        "in, work there is limited to four hours a day and person.",
        Heading("4. Tasks"),
        Items(
            "Until the next meeting on 14 January 2025:",
            [
                "Hedda Strand writes to the caterer.",
                "Joss Wetherby gets three offers for the housing of the plate cutter.",
                "Kofi Mensah asks the crane drivers what they think of nine-hour nights.",
            ],
        ),
    ],
    author="Hedda Strand",
)

MANUAL = Paper(
    "Brisa 400 compressor: operating instructions",
    [
        "The Brisa 400 supplies compressed air for tools in the boatyard. It weighs 96 kg, works at 10 bar and "
        "delivers 400 "
        "litres a minute. It may only be run on 400 V three-phase current.",
        Heading("Starting"),
        Items(
            "To start the compressor:",
            [
                "Check the oil level at the sight glass.",
                "Open the drain valve for five seconds and close it again.",
                "Turn the main switch to I.",
                "Wait until the gauge shows 8 bar before you connect tools.",
            ],
            numbered=True,
        ),
        Heading("Maintenance"),
        "Drain the water from the tank every day. Change the oil after the first 100 hours and then every 500 hours, "
        "or once "
        "a year. Use only oil of grade VDL 100: thinner oil foams and blocks the valve. The air filter is blown out "
        "every "
        "week and replaced every 1,000 hours.",
        Heading("Error codes"),
        Grid(
            "Table 2: Error codes of the display",
            [
                ("Code", "Meaning", "What to do"),
                ("E1", "motor too hot", "let it cool for 30 minutes"),
                ("E2", "oil level low", "top up with VDL 100"),
                ("E3", "pressure sensor broken", "call the workshop"),
                ("E4", "wrong phase order", "have an electrician swap two phases"),
            ],
        ),
        Heading("Noise and warranty"),
        "At full load the compressor makes 78 decibels at a distance of seven metres. The warranty runs for 24 "
        "months, and "
        "for 36 months if the machine was registered within four weeks.",
    ],
)

FAQ = Paper(
    "Charter guests: questions and answers",
    [
        Heading("What is a skipper's deposit?"),
        "The deposit is a sum that is blocked on your credit card while the boat is with you. It is 1,500 euros for "
        "boats up "
        "to ten metres and 2,500 euros for longer ones, and it is released within five working days after the return.",
        Heading("How does the return work?"),
        "Boats are returned by 17:00 on the last day, with a full tank. Our staff and you walk through the check list "
        "together; a diver looks at the hull if it has touched ground.",
        Heading("Which licence do I need?"),
        "For motor boats with more than 15 horsepower you need the coastal licence. Sailing boats of the Wren class "
        "may be "
        "sailed without any licence inside the harbour.",
        Heading("What is the difference between the Wren and the Tern?"),
        "The Wren is a day boat of 6.2 metres without cabin, for four persons. The Tern is 9.4 metres long, sleeps "
        "five and "
        "has a heater and a diesel engine of 21 horsepower.",
        Heading("Can I cancel?"),
        Items(
            "What you pay when you cancel depends on how long before the start you tell us:",
            [
                "more than 60 days: 10 percent",
                "60 to 30 days: 40 percent",
                "less than 30 days: 80 percent",
                "no show: the whole price",
            ],
        ),
    ],
)


def files() -> dict[str, bytes]:
    """Name to content."""
    return {
        "staff-handbook.docx": writers.word(HANDBOOK),
        "budget-2025.xlsx": writers.workbook(BUDGET),
        "results-q3-2024.pptx": writers.slides(RESULTS, NOTES),
        "ferry-timetable.html": writers.html(TIMETABLE),
        "spare-parts.csv": writers.separated(PARTS),
        "project-heron.eml": writers.mail(
            "Priya Nandakumar <priya@harwick.example>",
            "Project team <heron@harwick.example>",
            "Project Heron: what we agreed at the kick-off",
            "Wed, 19 Feb 2025 16:12:00 +0000",
            MAIL,
        ),
        "harbour-birds.epub": writers.book("Birds of Harwick Harbour", "Leontyne Ferrar", GUIDE),
        "weather-stations.json": writers.records(STATIONS),
        "lantern-releases.md": writers.markdown(RELEASES),
        "works-council-2024-11.txt": writers.text(MINUTES),
        "compressor-manual.docx": writers.word(MANUAL),
        "charter-questions.html": writers.html(FAQ),
    }
