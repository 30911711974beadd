"""German and French questions over German and French documents: what finds the paragraph that answers.

    python -m benchmarks.languages [--encoder NAME]

Sixteen paragraphs and a question about each in both languages, written for this; a question has another form of its
words than the paragraph. Counted are the questions whose paragraph comes first by BM25 with English stems alone, by
BM25 as it is indexed, by the encoder, and the answers of `corrective` that hold the right words.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import thresher
from thresher.text.terms import chunk_terms, index_terms, query_terms

GERMAN = (
    (
        "Die Werkstatt öffnet montags bis freitags um sieben Uhr und ist am Samstag geschlossen.",
        "Wann wird die Werkstatt am Montag geöffnet?",
        "sieben Uhr",
    ),
    (
        "Jeder Mitarbeiter hat nach der Probezeit Anspruch auf dreißig Tage Urlaub im Jahr.",
        "Wie viele Urlaubstage haben die Mitarbeiter?",
        "dreißig",
    ),
    (
        "Die Häuser auf dem Werksgelände wurden zwischen 1921 und 1924 von Otto Brandt gebaut.",
        "Wer hat das Haus auf dem Werksgelände gebaut?",
        "Otto Brandt",
    ),
    (
        "Für Maschinen, die älter als zehn Jahre sind, wird die Prüfung alle sechs Monate verlangt.",
        "Wie oft muss eine alte Maschine geprüft werden?",
        "sechs Monate",
    ),
    (
        "Das Lager in Lübeck fasst 4.200 Paletten, das in Bremen nur 1.800.",
        "Wie viele Paletten passen in das Lager von Lübeck?",
        "4.200",
    ),
    (
        "Verletzungen sind am selben Tag der Sicherheitsbeauftragten Jana Kühn zu melden.",
        "Wem muss ich eine Verletzung melden?",
        "Jana Kühn",
    ),
    (
        "Die Kosten der Bahnfahrt werden gegen Vorlage der Fahrkarte erstattet, die einer Taxifahrt nicht.",
        "Was ist vorzulegen, damit die Bahnfahrt erstattet wird?",
        "Fahrkarte",
    ),
    (
        "Der Umsatz des Jahres 2023 betrug 18,4 Millionen Euro, ein Zehntel mehr als zuvor.",
        "Wie hoch war der Umsatz im Jahr 2023?",
        "18,4",
    ),
    (
        "Passwörter haben mindestens vierzehn Zeichen und werden nicht weitergegeben.",
        "Wie lang muss ein Passwort sein?",
        "vierzehn",
    ),
    (
        "Der Betriebsrat wird alle vier Jahre im Mai gewählt und hat sieben Mitglieder.",
        "Wann findet die Wahl des Betriebsrats statt?",
        "Mai",
    ),
    (
        "Lieferanten werden innerhalb von vierzehn Tagen bezahlt, wenn die Rechnung fehlerfrei ist.",
        "Wann bekommt der Lieferant sein Geld bezahlt?",
        "vierzehn Tagen",
    ),
    (
        "Das Öl der Presse wird nach 2.000 Stunden gewechselt, der Filter nach 500.",
        "Nach wie vielen Stunden muss ich den Filter der Presse wechseln?",
        "500",
    ),
    (
        "Gäste melden sich am Empfang an und tragen im Werk einen gelben Helm.",
        "Welche Farbe hat der Helm eines Gastes?",
        "gelb",
    ),
    (
        "Die Lehrlinge besuchen mittwochs die Berufsschule in Kiel.",
        "Wo ist die Berufsschule, die ein Lehrling besucht?",
        "Kiel",
    ),
    (
        "Strom bezieht das Werk seit 2022 aus eigenen Solarzellen, Wärme aus dem Fernnetz.",
        "Woher kommt der Strom, den das Werk bezieht?",
        "Solarzellen",
    ),
    (
        "Bei Feuer ist der Sammelplatz hinter Halle drei aufzusuchen.",
        "Wo sammeln sich die Leute, wenn es ein Feuer gibt?",
        "Halle drei",
    ),
)
FRENCH = (
    (
        "La bibliothèque ouvre à neuf heures du mardi au samedi et reste fermée le lundi.",
        "À quelle heure les bibliothèques sont-elles ouvertes le mardi?",
        "neuf heures",
    ),
    (
        "Les lecteurs peuvent emprunter huit livres pour une durée de trois semaines.",
        "Combien de livres un lecteur peut-il emprunter?",
        "huit",
    ),
    ("Les retards coûtent vingt centimes par jour et par ouvrage.", "Combien coûte un retard?", "vingt centimes"),
    (
        "Le bâtiment principal fut dessiné en 1932 par Hélène Garnier.",
        "Qui a dessiné les bâtiments principaux?",
        "Hélène Garnier",
    ),
    (
        "Les ordinateurs publics sont réservés à l'accueil pour une heure au plus.",
        "Où faut-il réserver un ordinateur public?",
        "accueil",
    ),
    (
        "Les chevaux de l'ancienne écurie municipale ont été vendus en 1951.",
        "En quelle année a-t-on vendu le cheval de l'écurie?",
        "1951",
    ),
    (
        "Une carte perdue est remplacée contre un paiement de cinq euros.",
        "Quel est le prix pour remplacer les cartes perdues?",
        "cinq euros",
    ),
    (
        "Les archives nationales de la région conservent les journaux depuis 1848.",
        "Depuis quand le journal est-il conservé dans l'archive nationale?",
        "1848",
    ),
    (
        "La salle de lecture compte soixante places, dont quatre pour les fauteuils roulants.",
        "Combien y a-t-il de places dans les salles de lecture?",
        "soixante",
    ),
    ("Les dons de livres sont acceptés le premier jeudi du mois.", "Quand peut-on donner un livre?", "jeudi"),
    (
        "Le conteur Malik Sarr vient chaque mercredi raconter des histoires aux enfants.",
        "Qui raconte une histoire à l'enfant le mercredi?",
        "Malik Sarr",
    ),
    (
        "Les photographies se commandent par écrit et sont livrées sous dix jours.",
        "En combien de jours la photographie commandée est-elle livrée?",
        "dix jours",
    ),
    (
        "La municipalité a versé 240 000 euros pour la réparation du toit.",
        "Combien la municipalité a-t-elle versé pour réparer le toit?",
        "240 000",
    ),
    (
        "Les boissons sont interdites près des manuscrits, les crayons y sont permis.",
        "Qu'est-ce qui est permis à côté d'un manuscrit?",
        "crayons",
    ),
    (
        "Les employées travaillent trente-cinq heures par semaine, le directeur davantage.",
        "Combien d'heures travaille une employée?",
        "trente-cinq",
    ),
    (
        "En cas d'incendie, les visiteurs sortent par la porte du jardin.",
        "Par où sort un visiteur pendant un incendie?",
        "porte du jardin",
    ),
)
SETS = {"German": GERMAN, "French": FRENCH}
K1, B = 1.2, 0.75
Told = Sequence[tuple[str, str, str]]
"""A paragraph, a question about it, and words of the right answer."""


def own_terms(text: str) -> list[str]:
    """The terms of a text as they are indexed."""
    return chunk_terms("", text)


def first_by_words(texts: Sequence[list[str]], asked: Sequence[str]) -> int:
    """The text with the highest BM25."""
    average = sum(map(len, texts)) / len(texts)
    holding = Counter(term for text in texts for term in set(text))

    def score(text: list[str]) -> float:
        counts = Counter(text)
        long = K1 * (1 - B + B * len(text) / average)
        idf = {term: math.log(1 + (len(texts) - holding[term] + 0.5) / (holding[term] + 0.5)) for term in asked}
        return sum(idf[term] * counts[term] * (K1 + 1) / (counts[term] + long) for term in asked)

    return max(range(len(texts)), key=lambda at: score(texts[at]))


def by_words(told: Told, of_text: Callable[[str], list[str]], of_question: Callable[[str], list[str]]) -> int:
    """How many questions find their own paragraph by BM25 over these terms."""
    texts = [of_text(text) for text, _, _ in told]
    return sum(first_by_words(texts, of_question(question)) == at for at, (_, question, _) in enumerate(told))


def by_search(told: Told, collection: thresher.Collection, recipe: str, settings: Mapping[str, str]) -> int:
    """How many questions find their own paragraph by what a recipe retrieves first."""
    found = [collection.search(question, recipe=recipe, limit=1, settings=settings).hits for _, question, _ in told]
    return sum(bool(hits) and int(Path(hits[0].chunk.source).stem) == at for at, hits in enumerate(found))


def main() -> None:
    """Print a row for each language."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoder", default="", help="as the setting `encoder` has it; the bundled one otherwise")
    encoder_name = parser.parse_args().encoder
    print(
        f"encoder {encoder_name or 'bundled'}; questions whose paragraph comes first, and answers with the right words"
    )
    settings = {"encoder": encoder_name} if encoder_name else {}
    for language, told in SETS.items():
        by_english, by_language = by_words(told, index_terms, index_terms), by_words(told, own_terms, query_terms)
        with tempfile.TemporaryDirectory() as folder, thresher.open(home=Path(folder) / "home") as collection:
            for at, (text, _, _) in enumerate(told):
                (Path(folder) / f"{at:02d}.txt").write_text(text, encoding="utf-8")
            collection.add(Path(folder), include="*.txt", recipe=("rag", "hybrid", "corrective"), settings=settings)
            by_vector, both = (by_search(told, collection, recipe, settings) for recipe in ("rag", "hybrid"))
            answers = [collection.ask(question, settings=settings) for _, question, _ in told]
        said = sum(words in answer.text for (_, _, words), answer in zip(told, answers, strict=True))
        refused = sum(answer.abstained for answer in answers)
        print(
            f"{language}: {len(told)} questions; BM25 with English stems {by_english}, as indexed {by_language}; "
            f"encoder {by_vector}; hybrid {both}; corrective: {said} right, {refused} refused"
        )


if __name__ == "__main__":
    main()
