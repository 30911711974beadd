"""Whether one sentence denies another, as far as words show it: a negation on the same predicate, an opposite word.

The rules know no world and no syntax. They are right on sentences that are near to each other and say nothing about
the rest; what they catch and what they wrongly accuse is measured in benchmarks/planted_errors.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, pairwise, product
from typing import Literal

from thresher.types import NO_NOTES, Evidence, Notes, Spans, Terms

REACH = 6
"""Content words a negation reaches when no clause ends before: "not associated with a higher risk of renal failure"."""

NEGATIONS = frozenset(
    """not no never none nor neither without cannot lack lacks lacked lacking fail fails failed failing unable absence
    hardly barely scarcely nobody nothing nowhere deny denies denied""".split()  # noqa: SIM905
)
_NO_NEGATION = {
    "not": frozenset("only just merely simply solely entirely until least necessarily".split()),  # noqa: SIM905
    "no": frozenset("doubt later matter less fewer more".split()),  # noqa: SIM905
    "without": frozenset("doubt".split()),  # noqa: SIM905
}
"""Not only, no doubt, without doubt: these deny nothing."""

_BOUNDARIES = frozenset(", ; : ( ) . — but although though whereas while because since".split())  # noqa: SIM905
"""Where a negation ends. Not at "that" or "which": no evidence that X does Y denies Y."""

_OPPOSITES = """
increase increases increased increasing rise rises rising rose grow grows growing grew elevate elevates elevated raise
raises raised high higher highest greater larger more upregulate upregulates upregulated accelerate accelerates
accelerated accelerating strengthen strengthens enhance enhances enhanced enhancing gain gains
/ decrease decreases decreased decreasing decline declines declined declining reduce reduces reduced reducing reduction
lower lowers lowered lowest low fall falls fell falling drop drops dropped diminish diminishes diminished smaller less
fewer downregulate downregulates downregulated slow slows slowed slowing weaken weakens attenuate attenuates attenuated;
promote promotes promoted promoting activate activates activated activation induce induces induced induction stimulate
stimulates stimulated enable enables enabled facilitate facilitates facilitated
/ inhibit inhibits inhibited inhibiting inhibition block blocks blocked prevent prevents prevented preventing suppress
suppresses suppressed suppression impair impairs impaired repress represses deactivate
deactivates deactivated abolish abolishes abolished;
positive positively / negative negatively;
improve improves improved improvement better best benefit benefits beneficial
/ worsen worsens worsened worse worst deteriorate harm harms harmful detrimental;
protect protects protected protective safe safer / endanger endangers dangerous unsafe;
true correct correctly / false wrong wrongly incorrect incorrectly;
win wins won winning winner victory / lose loses lost losing loser defeat;
before prior earlier / after afterwards later;
north northern / south southern; east eastern / west western;
maximum most / minimum least;
hot hotter warm warmer warming / cold colder cool cooler cooling;
male men man boys / female women woman girls;
inside internal / outside external;
allow allows allowed permit permits permitted / forbid forbids forbidden prohibit prohibits prohibited ban banned;
accept accepts accepted approve approved / reject rejects rejected refuse refused;
include includes included including / exclude excludes excluded excluding;
rich / poor; older / younger; majority / minority; stronger strong / weaker weak; first / last; import / export;
support supports supported supporting / oppose opposes opposed opposing;
open opens opened / close closes closed;
begin begins began start starts started / end ends ended finish finished;
present presence / absent;
common frequent / rare uncommon infrequent;
buy bought / sell sold
"""
"""Pairs of groups of opposite words. The first pairs are those on which the training claims of SciFact and
Climate-FEVER turn; the rest are the everyday opposites of encyclopedias and reports."""

_PREFIX = re.compile(r"^(?:in|im|ir|un|non|dis|a)[-]?(?=[a-z]{5})")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*|[,;:().—]")


@dataclass(slots=True)
class _Read:
    """A sentence as signs: for each term how often it is said (True) and how often denied (False)."""

    signs: dict[str, set[bool]] = field(default_factory=dict)
    opposites: list[str] = field(default_factory=list)
    """Terms that stand for a pair of opposites."""
    scopes: list[list[str]] = field(default_factory=list)
    """For each negation the terms it reaches, nearest first."""
    cues: list[str] = field(default_factory=list)


def contradiction(claim: str, sentence: str, *, terms: Terms) -> str:
    """Why `sentence` denies `claim`, in words; "" when nothing shows that it does."""
    one, other = _read(claim, terms), _read(sentence, terms)
    _fold_prefixes(one, other)
    for reader, against, whose in ((one, other, "the sentence"), (other, one, "the evidence")):
        for cue, scope in zip(reader.cues, reader.scopes, strict=True):
            shared = next((term for term in scope if term in against.signs), None)
            if shared is not None and _differ(shared, one, other):
                return f"{whose} says “{cue}” of “{shared}”, the other does not"
    for term in one.opposites:
        if term in other.opposites and _differ(term, one, other):
            return f"opposite words ({term})"
    return ""


def _differ(term: str, one: _Read, other: _Read) -> bool:
    """Whether a term is only said on one side and only denied on the other."""
    first, second = one.signs[term], other.signs[term]
    return len(first) == len(second) == 1 and first != second


def _read(text: str, terms: Terms) -> _Read:
    read = _Read()
    reach = 0
    scope: list[str] | None = None
    for word, following in _words(text):
        if word in _BOUNDARIES:
            reach, scope = 0, None
            continue
        if _negates(word, following):
            # A negation within another's reach turns it back: not without effect.
            reach, scope = (0, None) if reach else (REACH, [])
            if scope is not None:
                read.scopes.append(scope)
                read.cues.append(word)
            continue
        opposite = _opposites().get(word)
        stems = [opposite[0]] if opposite else list(terms(word))
        for stem in stems:
            said = (opposite is None or opposite[1]) != (reach > 0)
            read.signs.setdefault(stem, set()).add(said)
            if opposite and stem not in read.opposites:
                read.opposites.append(stem)
            if scope is not None:
                scope.append(stem)
        if stems and reach:
            reach -= 1
            scope = scope if reach else None
    return read


def _words(text: str) -> Iterator[tuple[str, str]]:
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    yield from pairwise([*words, ""])


def _negates(word: str, following: str) -> bool:
    if word.endswith("n't"):
        return True
    return word in NEGATIONS and following not in _NO_NEGATION.get(word, ())


def _fold_prefixes(one: _Read, other: _Read) -> None:
    """Inaccurate on one side and accurate on the other become one term, denied and said."""
    for reader, against in ((one, other), (other, one)):
        for term in list(reader.signs):
            bare = _PREFIX.sub("", term)
            if bare != term and bare in against.signs and term not in against.signs and bare not in reader.signs:
                reader.signs[bare] = {not said for said in reader.signs.pop(term)}
                for side in (reader, against):
                    side.opposites.append(bare)
                for scope in reader.scopes:
                    scope[:] = [bare if each == term else each for each in scope]


@lru_cache(maxsize=1)
def _opposites() -> Mapping[str, tuple[str, bool]]:
    """Each word to the name of its pair and whether it is on the first side."""
    found: dict[str, tuple[str, bool]] = {}
    for pair in _OPPOSITES.split(";"):
        first, second = (side.split() for side in pair.split("/"))
        name = f"{first[0]}/{second[0]}"
        found |= dict.fromkeys(first, (name, True)) | dict.fromkeys(second, (name, False))
    return found


# --- what a sentence says, taken apart far enough to see whether another one contradicts it: words, numbers, ----------


TermsOfStatements = Callable[[str], Sequence[str]]


def _words_of_statements(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEGATORS = _words_of_statements("not no never cannot without neither nor none fails failed lacks lacked")

OPPOSITES = (
    ("increase increases increased increasing", "decrease decreases decreased decreasing reduce reduces reduced"),
    ("rise rises rose rising", "fall falls fell falling drop drops dropped"),
    ("allow allows allowed permitted legal", "forbid forbids forbidden prohibited banned illegal"),
    ("before", "after"),
    ("above", "below"),
    ("faster", "slower"),
    ("higher", "lower"),
    ("larger bigger", "smaller"),
    ("more", "less fewer"),
    ("improve improves improved", "worsen worsens worsened degrade degrades degraded"),
    ("open", "closed"),
    ("true correct", "false incorrect wrong"),
    ("safe", "unsafe dangerous"),
    ("possible", "impossible"),
    ("effective", "ineffective"),
    ("required mandatory compulsory", "optional voluntary"),
    ("accept accepts accepted approved", "reject rejects rejected"),
    ("succeeded", "failed"),
    ("supports supported", "refutes refuted contradicts contradicted"),
    ("alive", "dead"),
    ("include includes included", "exclude excludes excluded"),
)
"""Words of a line say the opposite of each other; those on one side say the same."""

_SIDES = {
    word: (line, side)
    for line, pair in enumerate(OPPOSITES)
    for side, words in enumerate(pair)
    for word in words.split()
}

SAME = (
    "built constructed erected",
    "completed finished",
    "began started commenced",
    "founded established",
    "died deceased",
)
"""Words that may stand for each other."""

ONCE = """born died built constructed erected completed finished founded established opened inaugurated created invented
discovered published abolished dissolved demolished destroyed incorporated patented"""
"""What happens once to a thing: two years of it contradict each other, while a cup is won again and again."""

CONDITIONS = _words_of_statements(
    """may might could can should would if unless when while some most many few several only sometimes often
    usually probably possibly perhaps rarely likely both each previously formerly once now currently longer still until
    since yet already claim claims claimed believe believes believed said says alleged allegedly reportedly myth
    according expected predicted planned estimated"""
)
"""Words that limit a statement or lay it in another mouth: sentences that differ in one do not contradict."""

PAST = _words_of_statements("was were had did")
PRESENT = _words_of_statements("is are has have does do will")

PRONOUNS = _words_of_statements("it he she they this that these those its his her their we i")

PREPOSITIONS = _words_of_statements(
    """in on at for with by under per within during over from to of into through between among across against about
    after before"""
)

OPENINGS = PREPOSITIONS | {"according"}

ARTICLES = _words_of_statements("a an the")

HEDGES = _words_of_statements("about around approximately approx roughly nearly almost circa ca some c ~ ≈")
BOUNDS = _words_of_statements(
    "than least most over under least below above up exceeding between > < ≥ ≤ maximum minimum"
)

_MONTHS = """january february march april may june july august september october november december"""
MONTHS = {form: number for number, month in enumerate(_MONTHS.split(), start=1) for form in (month, month[:3])}

_SPELLED = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty"""
SPELLED = {word: number for number, word in enumerate(_SPELLED.split()) if word != "one"}
"""Without "one", which is a pronoun as often as a number."""

MAGNITUDES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}

SUFFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9}

CURRENCIES = "$€£"

YEARS = (1000, 2100)
"""Four digits in these bounds are a year unless a currency stands before them."""

_TOKEN = re.compile(
    r"\d+(?:,\d{3})+(?:\.\d+)?(?!\w)|\d+(?:\.\d+)?[kKMB]?(?![\w-])|[^\W_]+(?:[-'’.][^\W_]+)*|[%$€£~≈<>≥≤,;:()–-]"
)
_NUMBER = re.compile(r"(\d+(?:,\d{3})*(?:\.\d+)?)([kmb]?)")
_RANGE = re.compile(r"\d+[-–]\d+")
_VARIANT = re.compile(r"(?=.*[A-Z0-9]).*-.*|(?=.*\d).*[^\W\d_].*|(?=.*[^\W\d_]).*\d.*")


@dataclass(frozen=True, slots=True)
class Number:
    """A number or date with its slot: the content word before it and the unit behind it."""

    value: tuple[float, ...]
    """One number, or year, month, day as far as they are given."""
    kind: Literal["quantity", "date"]
    before: str
    unit: str
    step: float
    """How exactly it is given: 0.1 for 26.3, 100,000 for 1.2 million."""
    hedged: bool
    """An "about" or the like stands before it."""
    conditional: bool
    """A preposition leads to it: "with 8 cores", "in 2019"."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence, taken apart."""

    tokens: tuple[str, ...]
    keys: tuple[str, ...]
    """For every token what it counts as in a comparison; empty for function words, numbers and marks."""
    numbers: tuple[Number, ...]
    bounded: bool
    """Says "more than", "at least", a range: its numbers cannot be compared."""
    negated: tuple[str, ...]
    """The content words right behind its negators."""
    opposites: tuple[tuple[int, int], ...]
    """Line and side in `OPPOSITES` of the words that have an opposite; they are in no other comparison."""
    conditions: frozenset[str]
    tense: frozenset[str]
    question: bool
    anaphoric: bool
    """Begins with a pronoun: what it is about stands elsewhere."""
    names: frozenset[str]
    """Content words that are written as names."""
    subject: frozenset[str]
    """The names among the words before its first comma or auxiliary verb, none where it begins with a preposition."""
    first: str
    """The first content word."""
    definite: bool
    """Begins with an article or the like: which one it is about may stand elsewhere."""
    content: frozenset[str]


def statement(sentence: str, terms: TermsOfStatements) -> Statement:
    """Take a sentence apart."""
    tokens = tuple(_TOKEN.findall(sentence))
    lower = tuple(token.lower().replace("’", "'") for token in tokens)
    values = _values(lower)
    numeric = {at for found in values for at in range(found.start, found.end)}
    keys = tuple("" if at in numeric else _key(token, at, terms) for at, token in enumerate(tokens))
    numbers = tuple(_number(value, lower, keys) for value in values)
    negators = [at for at, word in enumerate(lower) if word in NEGATORS or word.endswith("n't")]
    return Statement(
        tokens=lower,
        keys=keys,
        numbers=numbers,
        bounded=bool(set(lower) & BOUNDS and numbers) or _has_range(lower),
        negated=tuple(_next_content(keys, at) for at in negators),
        opposites=tuple(sorted({_SIDES[word] for word in lower if word in _SIDES})),
        conditions=frozenset(set(lower) & CONDITIONS),
        tense=frozenset(("past",) * bool(set(lower) & PAST) + ("present",) * bool(set(lower) & PRESENT)),
        question=sentence.rstrip(" \"'”’)").endswith("?"),
        anaphoric=lower[:1] != () and lower[0] in PRONOUNS,
        first=next((key for key in keys if key), ""),
        definite=lower[:1] != () and lower[0] in ARTICLES,
        names=frozenset(_names(tokens, keys)),
        subject=frozenset(() if lower[:1] == () or lower[0] in OPENINGS else _names(tokens[: _lead(lower)], keys)),
        content=frozenset(key for key in keys if key),
    )


def _names(tokens: Sequence[str], keys: Sequence[str]) -> Iterator[str]:
    """Content words with a capital; the first word of a sentence only where another letter is one too."""
    for at, (token, key) in enumerate(zip(tokens, keys, strict=False)):
        if key and token.lower() not in MONTHS and any(letter.isupper() for letter in (token if at else token[1:])):
            yield key


def _lead(lower: Sequence[str]) -> int:
    """How many words stand before the first comma or auxiliary verb."""
    ends = (at for at, word in enumerate(lower) if word == "," or word in PAST | PRESENT)
    return next(ends, len(lower))


def _key(token: str, at: int, terms: TermsOfStatements) -> str:
    """A name that is written with hyphen or digits counts as a whole: BERT-base is not BERT-large."""
    lower = token.lower()
    if lower in NEGATORS or lower in _SIDES or lower.endswith(("n't", "n’t")) or not token[0].isalnum():
        return ""
    if _VARIANT.fullmatch(token):
        return lower
    for group in SAME:
        if lower in group.split():
            lower = group.split()[0]
    if found := terms(lower):
        return " ".join(found)
    # a letter that names (Vitamin A, World War I) is a stop word to a search
    return lower if at and len(token) == 1 and token.isupper() else ""


@dataclass(frozen=True, slots=True)
class _Found:
    """A number or date at tokens `start` to `end`, exclusive."""

    start: int
    end: int
    value: tuple[float, ...]
    kind: Literal["quantity", "date"]
    step: float


def _values(lower: Sequence[str]) -> list[_Found]:
    found: list[_Found] = []
    at = 0
    while at < len(lower):
        value = _date(lower, at) or _quantity(lower, at)
        if value is None:
            at += 1
        else:
            found.append(value)
            at = value.end
    return found


def _date(lower: Sequence[str], at: int) -> _Found | None:
    """14 March 1879; March 14, 1879; March 1879."""
    for shape in (("day", "month", "year"), ("month", "day", ",", "year"), ("month", "day", "year"), ("month", "year")):
        words = lower[at : at + len(shape)]
        if len(words) == len(shape) and all(_fits(word, part) for word, part in zip(words, shape, strict=True)):
            parts = dict(zip(shape, words, strict=True))
            value = [float(parts["year"]), float(MONTHS[parts["month"]])]
            value += [float(parts["day"])] if "day" in parts else []
            return _Found(at, at + len(shape), tuple(value), "date", 1.0)
    return None


def _fits(word: str, part: str) -> bool:
    match part:
        case "day":
            return word.isdecimal() and 1 <= int(word) <= 31
        case "month":
            return word in MONTHS
        case "year":
            return word.isdecimal() and _is_year(word)
        case _:
            return word == part


def _quantity(lower: Sequence[str], at: int) -> _Found | None:
    """12; 7,000; 26.3; 110m; 1.2 million; twelve; a year by itself."""
    word = lower[at]
    currency = at > 0 and lower[at - 1] in CURRENCIES
    if _is_year(word) and not currency:
        return _Found(at, at + 1, (float(word),), "date", 1.0)
    if digits := _NUMBER.fullmatch(word):
        number, suffix = digits.groups()
        bare = number.replace(",", "")
        value, step = float(bare), 10.0 ** -len(bare.partition(".")[2])
        magnitude = SUFFIXES[suffix]
        if bare.endswith("000"):  # 450,000 is as likely rounded as counted
            step = 10.0 ** (len(bare) - len(bare.rstrip("0")))
    elif word in SPELLED:
        value, step, magnitude = float(SPELLED[word]), 1.0, 1.0
    else:
        return None
    end = at + 1
    while end < len(lower) and lower[end] in MAGNITUDES:
        magnitude *= MAGNITUDES[lower[end]]
        end += 1
    return _Found(at, end, (value * magnitude,), "quantity", step * magnitude)


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdecimal() and YEARS[0] <= int(word) <= YEARS[1]


def _number(found: _Found, lower: Sequence[str], keys: Sequence[str]) -> Number:
    """The number in its slot, and how it is led to, past article and hedge."""
    start, end = found.start, found.end
    currency = lower[start - 1] if start and lower[start - 1] in CURRENCIES else ""
    behind = lower[end] if end < len(lower) else ""
    unit = currency or ("%" if behind in ("%", "percent") else keys[end] if behind else "")
    lead = start - 1 - bool(currency)
    hedged = False
    while lead >= 0 and lower[lead] in HEDGES | ARTICLES:
        hedged = hedged or lower[lead] in HEDGES
        lead -= 1
    return Number(
        value=found.value,
        kind=found.kind,
        before=next((keys[at] for at in range(start - 1, -1, -1) if keys[at]), ""),
        unit=unit if found.kind == "quantity" else "",
        step=found.step,
        hedged=hedged,
        conditional=lead >= 0 and lower[lead] in PREPOSITIONS,
    )


def _has_range(lower: Sequence[str]) -> bool:
    """10-12; 1887 – 1889."""
    dashes = (at for at in range(1, len(lower) - 1) if lower[at] in "-–")
    spaced = any(lower[at - 1][0].isdigit() and lower[at + 1][0].isdigit() for at in dashes)
    return spaced or any(_RANGE.fullmatch(word) for word in lower)


def _next_content(keys: Sequence[str], at: int) -> str:
    """The content word that stands at most three words behind."""
    return next((key for key in keys[at + 1 : at + 4] if key), "")


# --- evidence that contradicts other evidence: shown beside each other, never blended into one statement --------------


Similar = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Texts to the (n_texts, n_texts) cosines of their embeddings."""

Slot = tuple[str, str, str]
"""Kind of a number, the word before it, its unit."""

Titles = tuple[frozenset[str], frozenset[str]]
Pairs = tuple[tuple[int, int], ...]

OVERLAP = 0.6
"""Least share of the content words of two sentences that are in both. Chosen on the pairs of the tests."""

SIMILAR_OVERLAP = 0.45
SIMILAR = 0.85
"""Less overlap is enough for sentences whose embeddings are this near (cosine)."""

NAMED_WORDS, SHARED_WORDS = 2, 3
"""Least content words in both where the titles of the documents are not the same; one more for sentences that begin
with an article and have no name in common: "the tower" may be any tower."""

HEDGED = 0.1
"""An "about 300" says everything from 270 to 330."""


@dataclass(frozen=True, slots=True)
class Conflicts:
    """Pairs of positions in the evidence, from 1, that contradict each other, and facts for the trace."""

    pairs: Pairs
    notes: Notes = NO_NOTES


ConflictFinder = Callable[[Sequence[Evidence]], Conflicts]


# --- rules ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RuleConflicts:
    """Finds contradictions by rules alone."""

    terms: Terms
    spans: Spans
    similar: Similar | None = None

    def __call__(self, evidence: Sequence[Evidence]) -> Conflicts:
        """The pairs that contradict each other, smaller position first, in order."""
        pairs = find_conflicts(evidence, terms=self.terms, spans=self.spans, similar=self.similar)
        return Conflicts(pairs, Notes(facts={"conflicts": {"by_rules": len(pairs)}}))


def find_conflicts(
    evidence: Sequence[Evidence], *, terms: Terms, spans: Spans, similar: Similar | None = None
) -> Pairs:
    """Positions from 1 of evidence from different documents that contradicts each other; tables are left out."""
    found = [
        (position, piece.hit.chunk.document_id, _title(piece, terms), piece.text[start:end])
        for position, piece in enumerate(evidence, start=1)
        if piece.hit.chunk.kind != "table"
        for start, end in spans(piece.text)
    ]
    said = [statement(sentence, terms) for *_, sentence in found]
    once = frozenset(terms(ONCE))
    cosines = similar([sentence for *_, sentence in found]) if similar is not None and len(found) > 1 else None
    pairs: dict[tuple[int, int], None] = {}
    for one, other in combinations(range(len(found)), 2):
        first, document, title, _ = found[one]
        second, other_document, other_title, _ = found[other]
        if document == other_document or (first, second) in pairs:
            continue
        near = cosines is not None and cosines[one][other] >= SIMILAR
        if _contradict(said[one], said[other], near=near, titles=(title, other_title), once=once):
            pairs[first, second] = None
    return tuple(sorted(pairs))


def _title(piece: Evidence, terms: Terms) -> frozenset[str]:
    """The words of a document's title; numbers tell editions apart, not subjects."""
    return frozenset(term for term in terms(piece.hit.chunk.title) if not term.isdecimal())


def _contradict(one: Statement, other: Statement, *, near: bool, titles: Titles, once: frozenset[str]) -> bool:
    if not _comparable(one, other, near=near, titles=titles):
        return False
    differing = _differing_slots(one, other)
    opposed = one.opposites != other.opposites
    denied = bool(one.negated) != bool(other.negated)
    if bool(differing) + opposed + denied != 1 or len(one.negated) > 1 or len(other.negated) > 1:
        # none, or two that may undo each other: "is not forbidden" and "is allowed"
        return False
    if differing:
        return len(differing) == 1 and _excludes(differing[0], one, other, once)
    if _has_new_condition(one, other) or _has_new_condition(other, one):
        return False
    return _opposed(one, other) if opposed else _denied(one, other)


def _comparable(one: Statement, other: Statement, *, near: bool, titles: Titles) -> bool:
    """Whether both speak of the same thing under the same conditions."""
    if one.question or other.question or one.bounded or other.bounded or one.conditions != other.conditions:
        return False
    if one.tense and other.tense and one.tense != other.tense:
        return False
    shared = one.content & other.content
    either = one.content | other.content
    if not _same_subject(one, other, titles):
        return False
    if len(shared) < (SIMILAR_OVERLAP if near else OVERLAP) * len(either):
        return False
    # words on both sides that the other has not: another subject, another predicate
    if one.content - shared and other.content - shared:
        return False
    return not (_is_narrowed(one, shared) or _is_narrowed(other, shared))


def _same_subject(one: Statement, other: Statement, titles: Titles) -> bool:
    """Whether both are about the same thing, as far as their words and the titles above them tell.

    In documents about different things a sentence speaks for itself only where its subject is a name, or stands in a
    title: "the county" is another one in each article.
    """
    ours, theirs = titles
    if ours and ours == theirs:
        return True
    if one.anaphoric or other.anaphoric:
        return False
    shared = one.content & other.content
    named = one.subject & other.subject
    if ours - theirs and theirs - ours and not named:
        return bool({one.first} & {other.first} & (ours | theirs))
    vague = (one.definite or other.definite) and not one.names & other.names
    return len(shared) >= (SHARED_WORDS if vague else NAMED_WORDS)


def _is_narrowed(said: Statement, shared: frozenset[str]) -> bool:
    """Whether a word of its own stands right beside a shared one: the large model, World War II."""
    keys = said.keys
    for at, key in enumerate(keys):
        if key and key not in shared:
            beside = [keys[near] for near in (at - 1, at + 1) if 0 <= near < len(keys)]
            if any(neighbour in shared for neighbour in beside):
                return True
    return False


def _has_new_condition(said: Statement, other: Statement) -> bool:
    """Whether a preposition leads to a word or number the other has not: "on SQuAD", "with 8 cores"."""
    stated = {number.value for number in other.numbers}
    slots = {_slot(number) for number in other.numbers}
    if any(n.conditional and n.value not in stated and _slot(n) not in slots for n in said.numbers):
        return True
    for at, key in enumerate(said.keys):
        if key and key not in other.content:
            lead = at - 1
            while lead >= 0 and said.tokens[lead] in ARTICLES:
                lead -= 1
            if lead >= 0 and said.tokens[lead] in PREPOSITIONS:
                return True
    return False


# --- numbers and dates


def _differing_slots(one: Statement, other: Statement) -> list[Slot]:
    """Slots that both fill, with values of which none agrees with any of the other's."""
    differing = []
    for slot in dict.fromkeys(_slot(number) for number in one.numbers):
        ours = [number for number in one.numbers if _slot(number) == slot]
        theirs = [number for number in other.numbers if _slot(number) == slot]
        if theirs and not any(_agree(a, b) for a, b in product(ours, theirs)):
            differing.append(slot)
    return differing


def _excludes(slot: Slot, one: Statement, other: Statement, once: frozenset[str]) -> bool:
    """Whether two values of a slot exclude each other: dates of what happens once, numbers of the same date."""
    kind, before, _ = slot
    if kind == "date":
        return before in once
    dates, others = ({n.value for n in said.numbers if n.kind == "date"} for said in (one, other))
    return dates == others and not (_has_new_condition(one, other) or _has_new_condition(other, one))


def _slot(number: Number) -> Slot:
    """What the number is the number of: its unit where it has one, otherwise the word before it."""
    return (number.kind, "" if number.unit else number.before, number.unit)


def _agree(one: Number, other: Number) -> bool:
    if one.kind == "date":
        return all(a == b for a, b in zip(one.value, other.value, strict=False))
    (a,), (b,) = one.value, other.value
    coarser = max(one.step, other.step) / 2 if one.step != other.step else 0.0
    near = HEDGED * max(abs(a), abs(b)) if one.hedged or other.hedged else 0.0
    return abs(a - b) <= max(coarser, near)


# --- negations and opposites


def _denied(one: Statement, other: Statement) -> bool:
    """Whether what one negates is what the other says."""
    negating, saying = (one, other) if one.negated else (other, one)
    denied = negating.negated[0]
    return denied in saying.content if denied else bool(saying.opposites)


def _opposed(one: Statement, other: Statement) -> bool:
    """Whether they differ in one word and its opposite, and none says both."""
    ours, theirs = set(one.opposites) - set(other.opposites), set(other.opposites) - set(one.opposites)
    if len(ours) != 1 or len(theirs) != 1:
        return False
    (line, side), (their_line, their_side) = *ours, *theirs
    return line == their_line and side != their_side
