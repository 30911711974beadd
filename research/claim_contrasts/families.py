"""Words that decide, by family: those of a class say the same, those of another class something else."""

from __future__ import annotations

import re
from dataclasses import dataclass

from research.checker_data import COMPARISONS


@dataclass(frozen=True)
class Family:
    """Classes of words for one place in a sentence, and what of a class is false for another one."""

    kind: str
    before: str
    behind: str
    """Patterns around the place."""
    classes: dict[str, tuple[str, ...]]
    false: dict[str, tuple[str, ...]]
    found: dict[str, re.Pattern[str]]
    """Of each class, what it is known by."""
    any_of: re.Pattern[str]


def family(kind: str, before: str, behind: str, /, **classes: str) -> Family:
    """`name="words/words::false false"`; words in brackets are only looked for, those in `<>` only said."""
    words, false, found = {}, {}, {}
    for name, told in classes.items():
        listed, _, others = told.partition("::")
        every = listed.split("/")
        words[name] = tuple(one.strip("<>") for one in every if not one.startswith("["))
        false[name] = tuple(others.split())
        known = [one.strip("[]") for one in every if not one.startswith("<")]
        pattern = "|".join(
            re.escape(one).replace(r"\{has\}", "(?:has|have)").replace(r"\{is\}", "(?:is|are)")
            .replace(r"\{does\}", "(?:does|do)").replace(r"\{was\}", "(?:was|were)")
            for one in sorted(known, key=len, reverse=True)
        )  # fmt: skip
        found[name] = re.compile(rf"{before}(?:{pattern}){behind}")
    every_one = "|".join(f"(?:{one.pattern.removeprefix(before).removesuffix(behind)})" for one in found.values())
    return Family(kind, before, behind, words, false, found, re.compile(f"{before}(?:{every_one}){behind}"))


N = r"(?= (?:[$£€]?\d|(?:two|three|four|five|six|seven|eight|nine|ten|half|a third|a quarter|a hundred|a dozen)\b))"
V = r"(?= (?!not\b|have\b|also\b|want\b|need\b|wish\b|then\b)[a-z]{2,})"
NP = r"(?= (?:the|a|an|its|his|her|their|this|these|\d+)\b)"
CLAUSE = r"(?= (?:the|a|an|it|they|he|she|you|we|this|these|its|their|there|his|her|your|no|any|[a-z]+s)\b)"
MID = r"(?<=[a-z]) "
FAMILIES = (
    family(
        "quantifier", r"\b(?<!\bthan )", N,
        least="at least/no fewer than/not less than/a minimum of::most below above about",
        most="at most/up to/no more than/a maximum of::least above below about",
        above="more than/over/in excess of/<upwards of>::below most",
        below="less than/fewer than/under::above least",
        about="about/approximately/roughly/around::above below most",
    ),
    family(
        "quantifier", "^", r"(?= [a-z]+s\b)(?! (?:of|species|is|was|has))",
        all="All/<Without exception, all>/<Absolutely all>::few no notall",
        most="Most/The majority of/<More than half of all>::all few no",
        many="Many/Numerous/A large number of::all few no most",
        some="Some/Certain/A number of::all no most",
        few="Few/Only a few/<Hardly any>::many most all",
        no="No/<Absolutely no>::all many some most",
        notall="Not all/Only some/<Some, but not all,>::all no",
    ),
    family(
        "quantifier", r"(?<=[a-z])(?<!most)(?<!arly)(?<!not)(?<!at)(?<!after) ",
        r"(?= (?:of )?(?:the|these|its|their|those) )",
        all="all/<every one of>::some none",
        some="some of/<a part of>/several of/<a few of>::all none",
        most="most of/the majority of/<more than half of>::all none",
        none="none of/<not one of>::all some most",
    ),
    family(
        "often", r"(?<=[a-z])(?<!very)(?<!more)(?<!most)(?<!less)(?<!\bso)(?<!quite) ", V,
        always="always/invariably/<at all times>/<without exception>::rarely never",
        usually="usually/normally/generally/typically/<as a rule>::always never rarely",
        often="often/frequently/<in many cases>::always never rarely usually",
        sometimes="sometimes/occasionally/<at times>/<now and then>::always never usually",
        rarely="rarely/seldom/hardly ever::often usually always",
        never="never/at no time::always often sometimes usually",
    ),
    family(
        "only", r"(?<=[a-z])(?<!not)(?<!\bnor)(?<!but) ", r"(?= (?:to|by|in|for|on|when|with|from|at|as|through|of)\b)",
        only="only/solely/exclusively::also mainly especially",
        also="also/<among other things>::only",
        mainly="mainly/primarily/mostly/chiefly::only never",
        especially="especially/particularly/in particular::only never",
        never="never/<at no time>::also only mainly",
    ),
    family(
        "modal", MID, V,
        strong="must/{has} to/{is} required to/{is} obliged to/[need to]/[needs to]::medium needless barred",
        medium="should/ought to/{is} advised to/{is} supposed to::strong needless barred",
        weak="may/can/{is} allowed to/{is} free to/{is} able to::strong barred medium",
        barred="must not/cannot/<may not>/{is} not allowed to/{is} not permitted to::weak strong needless medium",
        needless="{does} not have to/need not/{is} not required to/{does} not need to::strong barred medium",
    ),
    family(
        "surely", MID, V,
        likely="{is} likely to/{is} expected to/will probably/<will in all likelihood>::sure unlikely",
        maybe="might/could possibly/<may perhaps>/may possibly::sure unlikely likely",
        sure="[will]/<will certainly>/{is} certain to/{is} sure to/<will definitely>/{is} going to::unlikely wont",
        unlikely="{is} unlikely to/{is} not expected to/<will probably not>::likely sure",
        wont="will not/{is} not going to/<will in no case>::sure likely maybe",
    ),
    family(
        "surely", r"(?<=[a-z]) ", r" that(?= [a-z])",
        said="claimed/argued/asserted/<was of the opinion>/[believed]/[suggested]/maintained::shown denied",
        shown="showed/proved/demonstrated/established/[found]/[discovered]::denied",
        denied="denied/disputed/<did not agree>/rejected the idea::shown said",
    ),
    family(
        "planned", r"(?<=[a-z])(?<!\bis)(?<!\bare)(?<!\bwas)(?<!\bwere)(?<!\bbe)(?<!been)(?<!\bhas)"
        r"(?<!have)(?<!had) ", V,
        plan="planned to/intended to/hoped to/<had plans to>/wanted to::did refuse",
        tried="tried to/attempted to/sought to/<made an attempt to>::did refuse",
        did="managed to/{was} able to/went on to/<in the end did>/succeeded in efforts to::fail refuse",
        fail="failed to/{was} unable to/<did not manage to>/{was} not able to::did",
        refuse="refused to/declined to/<did not agree to>/{was} not willing to::agree did plan tried",
        agree="agreed to/{was} willing to/<consented to>/decided to/resolved to::refuse did fail",
    ),
    family(
        "planned", r"(?<=\w) ", r"(?= (?:by|in|as|for|to|at|on|after)\b|\.)",
        proposed="{was} proposed/<{was} suggested>/<{was} put forward>::accepted rejected",
        rejected="{was} rejected/{was} turned down/<{was} not accepted>/{was} refused::accepted",
        accepted="{was} accepted/{was} approved/{was} adopted/<{was} agreed to>::rejected",
        planned="{was} planned/{was} scheduled/{was} intended::cancelled",
        cancelled="{was} cancelled/{was} abandoned/<{was} called off>::accepted",
    ),
    family(
        "planned", r"(?<=\w) ",
        r"(?= (?:the|a|an|his|her|their|its|this) (?:\w+ ){0,3}(?:plan|propos|offer|bid|motion|idea|bill|request|amend"
        r"|invitation|terms|demand|claim|appl|resolution|treaty|suggest|constitution|law|recommend|agreement|measure)\w*)",
        rejected="rejected/turned down/refused/<did not accept>::accepted proposed",
        accepted="accepted/approved/adopted/<agreed to>/<consented to>::rejected",
        proposed="proposed/<suggested>/<put forward>::accepted rejected",
    ),
    family(
        "exception", r"(?<=\w)", r"(?= (?:the|a|an|those|its|their|some)\b)",
        without=", except/ except/, apart from/ apart from//<, excluding>/<, but not>/< other than>"
        "/<, with the exception of>::together",
        together=", including/, as well as/<, together with>::without",
    ),
    family(
        "exception", r"(?<=\w)", r"(?= (?:when|if|in|for|where|on|during|at)\b)",
        without=", except/ except/<, but not>::even special",
        even=", even/ even::without only",
        special=", especially/, particularly/ especially/ particularly/<, above all>::without",
        only=" only/ solely::even without",
    ),
    family(
        "condition", r"(?<=\w)(?<!even)(?<!only)(?<!as)(?<!not)(?<!just)(?<!know)(?<!see)(?<!and)(?<!or)"
        r"(?<!check)(?<!determine)",
        CLAUSE,
        if_=" if/, if/<, provided that>/< in case>/ provided that::unless even only",
        unless=" unless/, unless/ except if/ except when::if_ even only",
        even=" even if/, even if/<, no matter if>/<, also if>::unless only",
        only=" only if/ only when/<, but only if>::unless even",
    ),
    family(
        "cause", r"(?<=\w)(?<!only)(?<!not)(?<!simply)(?<!just)(?<!part)(?<!is)(?<!was)", CLAUSE,
        why=" because/, because/<, given that>/< for the reason that>::though",
        though=" although/, although/, even though/ even though/, though/< despite the fact that>::why",
    ),
    family(
        "cause", r"(?<=\w)(?<!not)(?<!part)(?<!is)(?<!was)(?<!are)(?<!were)", r"(?= (?!to\b|that\b)[a-z])",
        why=" because of/ due to/ owing to/, due to/< on account of>/ as a result of::though",
        though=" despite/, despite/ in spite of/< notwithstanding>/ regardless of::why",
    ),
    family(
        "cause", "^", r"(?= (?!of\b|to\b)[a-z])",
        why="Because/Since/<Given that>/Due to the fact that::though",
        though="Although/Though/Even though/<Despite the fact that>::why",
    ),
    family(
        "cause", "^", r"(?= (?!that\b|the fact\b)[a-z])",
        why="Because of/Due to/Owing to/As a result of::though",
        though="Despite/In spite of/<Regardless of>/<Notwithstanding>::why",
    ),
    family(
        "time", r"(?<=[a-z])(?<!named) ", r"(?= (?:(?:the|a|an|his|her|its|their) |(?:1[5-9]|20)\d\d\b|[A-Z][a-z]+ \d))"
        r"(?! the same)",
        until="until/<up to>/till::since after",
        since="since/ever since/<from the time of>::until before",
        before="before/prior to/<ahead of>::after since during",
        after="after/following/<subsequent to>::before until during",
        during="during/<in the course of>::before after",
    ),
    family(
        "time", r"(?:(?<=\bis )|(?<=\bare )|(?<=\bwas )|(?<=\bwere )|(?<=\bhas )|(?<=\bhave ))", r"(?= [a-z]{3,})",
        still="still/<to this day>/<even now>::gone once yet",
        gone="no longer::still now",
        once="formerly/previously/<in the past>/once::now still",
        now="now/currently/<at present>/presently::gone once yet",
        yet="not yet/<so far not>::now still",
    ),
    family(
        "time", r"(?:(?<=\bthe )|(?<=\bits )|(?<=\bhis )|(?<=\ba )|(?<=\btheir ))", r"(?= [a-z]{4,})",
        former="former/previous/past::current future",
        current="current/present/<present-day>::former future",
        future="future/coming/upcoming::former current",
    ),
)  # fmt: skip
OPPOSITE = {word: other for pair in COMPARISONS for word, other in (pair, pair[::-1])} | {
    one: other
    for pair in (
        *(("required", "optional"), ("possible", "impossible"), ("open", "closed"), ("present", "absent")),
        *(("common", "rare"), ("true", "false"), ("safe", "dangerous"), ("large", "small"), ("high", "low")),
        *(("available", "unavailable"), ("necessary", "unnecessary"), ("similar", "different"), ("active", "inactive")),
        *(("strong", "weak"), ("likely", "unlikely"), ("able", "unable"), ("long", "short"), ("visible", "hidden")),
        *(("known", "unknown"), ("empty", "full"), ("legal", "illegal"), ("easy", "difficult"), ("severe", "mild")),
    )
    for one, other in (pair, pair[::-1])
}
