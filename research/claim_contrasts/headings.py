"""Questions as headings and as lines of contents: they state nothing; what stands below them may."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator

from research.checker_data import CONTRADICTED, MONTHS, READING, SUPPORTED, UNVERIFIED, statement
from research.claim_contrasts.base import MOST_CHARACTERS, Made, Passage, large
from research.contrasts import content
from research.train.groups import rows as lines

FILES = ("squad_train_slices", "squadshifts_new_wiki", "qed_nq_train", "policyqa", "covidqa", "doc2dial")
FAQ = ("rel_debdocs_faq", "rel_ghdocs", "rel_medquad")
YES = re.compile(
    r"^(Can|Could|Should|Must|May|Do|Will|Is|Are|Was|Were|Has|Have) (I|you|we|it|they|there|users|people|he|she)"
    r" (.{8,110}?) ?\?$"
)
ASKED = re.compile(r"^(?:(?:who|what) (?:is|was|are|were) |who \w+(?:ed|s) |(?:when|where) (?:is|was|are|were) )", re.I)
NO_STATEMENT = re.compile(
    r"\b(?:for|of|by|to|in|on|from|with|at|about|as|like)$|\b(?:used|called|named|known|considered|said|thought|allowed)\b"
    r"|^what (?:is|was|are|were) .*\b\w+ed\b$|.\b(?:when|while|after|before|if)\b",
    re.I,
)
"""Questions of which `statement` makes none that is well formed."""
SAID = re.compile(r"^(Yes|No)\b[,.!:;]? +")
PERSONS = {"i": "you", "me": "you", "my": "your", "we": "you", "our": "your", "us": "you"}
EACH = 6_000


class Headings:
    """Makes claims of questions."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw

    def of(self) -> Iterator[Made]:
        """Of reading questions and of FAQs."""
        for name in FILES:
            assert name in READING
            yield from self.reading(f"reader_{name}")
        for name in FAQ:
            yield from self.faq(name)

    def reading(self, name: str) -> Iterator[Made]:
        """The answer as a statement, over its question and sentence, and over its question with other sentences."""
        every = lines(name)
        asked: dict[str, list[str]] = defaultdict(list)
        for row in every:
            asked[row["title"] or row["passage"]].append(row["question"])
        answered = [row for row in every if row["answerable"]]
        for row in self.draw.sample(answered, min(EACH, len(answered))):
            passage = Passage(name, row["title"], row["passage"])
            answer, question = row["answers"][0], large(row["question"].strip().rstrip("?").strip()) + "?"
            claim = statement(question, answer, self.draw)
            claim = re.sub(rf"\bin (?=\d{{1,2}} [A-Z]|(?:{'|'.join(MONTHS)}) \d{{1,2}}\b(?! *\d))", "on ", claim)
            shown = [at for at, one in enumerate(passage.sentences) if answer.lower() in one.lower()]
            if not ASKED.match(row["question"]) or NO_STATEMENT.search(row["question"].rstrip(" ?")):
                continue
            if (
                re.search(r"\b(?:did|does|do)\b", claim)
                or "?" in claim
                or re.search(r"[:(]", claim)
                or len(shown) != 1
                or len(answer) > 60
            ):
                continue
            wanted = content(question) - content(passage.title)
            others = [one for one in passage.sentences if answer.lower() not in one.lower() and len(one) > 30]
            others = [one for one in others if len(content(one) & wanted) <= len(wanted) / 2]
            if not others or not content(passage.sentences[shown[0]]) & wanted:
                continue
            near = self.draw.sample(others, min(len(others), self.draw.randint(1, 3)))
            at = self.draw.randrange(len(near) + 1)
            right = " ".join([*near[:at], passage.sentences[shown[0]], *near[at:]])
            if self.draw.random() < 0.4:
                listed = [
                    large(one)
                    for one in dict.fromkeys(asked[row["title"] or row["passage"]])
                    if answer.lower() not in one.lower()
                ]
                listed = [one for one in listed if one.lower() != question.lower()]
                listed = [*self.draw.sample(listed, min(3, len(listed))), question]
                self.draw.shuffle(listed)
                wrong = "\n".join(listed) + ("\n" + " ".join(near) if self.draw.random() < 0.4 else "")
            else:
                wrong = f"{question}\n{' '.join(near)}"
            headed = f"{question}\n{right}" if self.draw.random() < 0.6 else right
            if max(len(headed), len(wrong)) < 1.2 * MOST_CHARACTERS:
                yield Made("heading", passage, "", (), ((claim, headed, SUPPORTED), (claim, wrong, UNVERIFIED)))

    def faq(self, name: str) -> Iterator[Made]:
        """Questions of yes or no as statements, labelled by what stands below them."""
        for row in lines(name):
            match, said = YES.match(row["question"].strip()), SAID.match(row["passage"])
            if not match or not row["label"]:
                continue
            passage = Passage(name, "", row["passage"])
            true, false = stated(*match.groups())
            claims = [(true, f"{row['question']}\n", UNVERIFIED), (false, f"{row['question']}\n", UNVERIFIED)]
            below = " ".join(passage.sentences[:4])[:700]
            if said:
                yes = said[1] == "Yes"
                told = f"{row['question']}\n{below}"
                claims = [
                    (true, told, SUPPORTED if yes else CONTRADICTED),
                    (false, told, CONTRADICTED if yes else SUPPORTED),
                ]
                claims.append((self.draw.choice((true, false)), f"{row['question']}", UNVERIFIED))
                yield Made(
                    "yes or no", passage, "", (), tuple((one, text.strip(), label) for one, text, label in claims)
                )


def stated(verb: str, who: str, what: str) -> tuple[str, str]:
    """A question of yes or no as a statement and as its denial."""
    what = re.sub(r"\b(I|me|my|we|our|us)\b", lambda match: PERSONS[match[0].lower()], what)
    subject = large(PERSONS.get(who.lower(), who))
    verb = {"is": "is", "are": "are"}.get(verb.lower(), verb.lower())
    if subject == "You" and verb in ("is", "was"):
        verb = "are"
    if verb == "do":
        return f"{subject} {what}.", f"{subject} do not {what}."
    return f"{subject} {verb} {what}.", f"{subject} {verb} not {what}."
