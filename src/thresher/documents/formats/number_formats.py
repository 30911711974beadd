"""Numbers of a sheet as its number formats show them: `0.075` under `0.0 %` is `7.5 %` (ECMA-376, 18.8.31)."""

from __future__ import annotations

import operator
import re
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction

BUILT_IN = {
    **{0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?"},
    **{13: "# ??/??", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM"},
    **{19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0;-#,##0", 38: "#,##0;-#,##0"},
    **{39: "#,##0.00;-#,##0.00", 40: "#,##0.00;-#,##0.00", 41: "#,##0", 42: "#,##0", 43: "#,##0.00", 44: "#,##0.00"},
    **{45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@"},
}
"""Formats that a file names by number; 14 and 22, which follow the country of the program, are ISO 8601."""
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|_.|\*.|\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[(?P<elapsed>h+|m+|s+)\]'
    r"|\[(?P<condition>(?:<=|>=|<>|<|>|=)-?[\d.]+)\]|\[[^\]]*\]|(?P<general>General)|(?P<half>AM/PM|A/P)"
    r"|(?P<date>y+|m+|d+|h+|s+(?:\.0+)?)|(?P<exponent>E[+-]0+)|(?P<digits>[0#?.,/]+)|(?P<text>@)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()  # noqa: SIM905
DIGITS = 11  # that a cell without a format shows
EPOCH, EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)
LAST_DAY = 2_958_465  # 31 December 9999
_COMPARISONS = {
    **{"<": operator.lt, ">": operator.gt, "=": operator.eq},
    **{"<=": operator.le, ">=": operator.ge, "<>": operator.ne},
}


def shown_number(value: str, code: str, *, since_1904: bool = False) -> str:
    """A number of a cell, as it stands in the file, as its format shows it; what is no number stays as it is."""
    try:
        number = Decimal(value)
    except InvalidOperation:
        return value
    if not number.is_finite() or abs(number.adjusted()) > 300:
        return value
    section, signed = _section(code, number)
    tokens = list(_TOKEN.finditer(section))
    kinds = {token.lastgroup for token in tokens}
    if kinds & {"date", "elapsed", "half"}:
        return _moment(tokens, number, since_1904=since_1904) or general(number)
    if "digits" not in kinds:
        if kinds & {"general", "text"} or not section:
            texts = (general(number) if each.lastgroup in ("general", "text") else _literal(each) for each in tokens)
            return "".join(texts) or (general(number) if not section and ";" not in code else "")
        return "".join(map(_literal, tokens))
    return _numeric(tokens, number if signed else abs(number))


def _section(code: str, number: Decimal) -> tuple[str, bool]:
    """The part of a format for a number, and whether it writes the sign itself."""
    sections = re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', code)
    for section in sections[:3]:
        condition = re.search(r"\[(<=|>=|<>|<|>|=)(-?[\d.]+)\]", section)
        if condition and _COMPARISONS[condition[1]](number, Decimal(condition[2])):
            return section, True
    if "[" in code and re.search(r"\[(?:<|>|=)", code):
        return sections[min(2, len(sections) - 1)], True
    if number < 0 and len(sections) > 1:
        return sections[1], False
    if number == 0 and len(sections) > 2:
        return sections[2], False
    return sections[0], True


def _literal(token: re.Match[str]) -> str:
    """What a token writes by itself; a percent sign is one."""
    return token[token.lastgroup] if token.lastgroup in ("quoted", "escaped", "currency", "other") else ""


def general(number: Decimal) -> str:
    """A number without a format: eleven digits at most, no exponent where it can be without."""
    if number == number.to_integral_value() and abs(number) < 10**15:
        return f"{number.to_integral_value():f}"
    shown = f"{float(number):.{DIGITS - 1}g}"
    return f"{Decimal(shown):f}" if -5 <= number.adjusted() < DIGITS and "e" in shown else shown


def _numeric(tokens: list[re.Match[str]], number: Decimal) -> str:
    pattern = "".join(token["digits"] for token in tokens if token.lastgroup == "digits")
    percents = sum(token["other"] == "%" for token in tokens if token.lastgroup == "other")
    exponent = next((token["exponent"] for token in tokens if token.lastgroup == "exponent"), "")
    if "/" in pattern:
        digits = _fraction(pattern, abs(number))
    elif exponent:
        digits = _scientific(pattern, exponent, abs(number))
    else:
        before, _, behind = pattern.partition(".")
        whole, places = before.rstrip(","), behind.rstrip(",")
        scale = len(before + behind) - len(whole + places)  # each comma behind the digits is a thousand
        digits = _fixed(whole, places, abs(number).scaleb(2 * percents - 3 * scale))
    if not re.search(r"[1-9]", digits):
        number = abs(number)  # -0.001 as 0.00 has no sign
    return ("-" if number < 0 else "") + _filled(tokens, digits)


def _filled(tokens: list[re.Match[str]], digits: str) -> str:
    """The literals of a format around its digits; those between digits, as of telephone numbers, among them."""
    places = [at for at, token in enumerate(tokens) if token.lastgroup == "digits"]
    slots = [re.sub(r"[^0#?]", "", tokens[at]["digits"]) for at in places]
    if len(places) > 1 and digits.isdigit() and all(re.fullmatch(r"[0#?]+", tokens[at]["digits"]) for at in places):
        cut: dict[int, str] = {}
        left = digits
        for at, slot in zip(reversed(places[1:]), reversed(slots[1:]), strict=True):
            cut[at], left = left[-len(slot) :], left[: -len(slot)]
        cut[places[0]] = left
    else:
        cut = dict.fromkeys(places, "") | {places[0]: digits}
    return "".join(cut[at] if at in cut else _literal(token) for at, token in enumerate(tokens)).strip()


def _fixed(whole: str, places: str, value: Decimal) -> str:
    rounded = value.quantize(Decimal(1).scaleb(-len(places)), ROUND_HALF_UP) if value.adjusted() < 25 else value
    integer, _, rest = f"{rounded:f}".partition(".")
    least = len(places.rstrip("#?"))
    rest = rest[:least] + rest[least:].rstrip("0")
    integer = integer.lstrip("0").rjust(whole.count("0"), "0")
    if "," in whole and integer:
        integer = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",", integer)
    return f"{integer}.{rest}" if rest else integer


def _scientific(pattern: str, exponent: str, value: Decimal) -> str:
    places = len(pattern.partition(".")[2])
    mantissa, _, power = f"{value:.{places}E}".partition("E")
    sign = "-" if power.startswith("-") else "+" if "+" in exponent else ""
    return f"{mantissa}E{sign}{power.lstrip('+-').rjust(exponent.count('0'), '0')}"


def _fraction(pattern: str, value: Decimal) -> str:
    over = pattern.partition("/")[2]
    whole = int(value) if re.match(r"[#0?]+[^/]", pattern) and len(pattern.partition("/")[0]) > 1 else 0
    rest = Fraction(value) - whole
    near = (
        Fraction(round(rest * int(over)), int(over))
        if over.isdigit() and int(over)
        else rest.limit_denominator(10 ** max(1, min(3, len(over))) - 1)
    )
    if near.denominator == 1:
        return str(whole + near.numerator)
    return f"{whole} {near.numerator}/{near.denominator}" if whole else f"{near.numerator}/{near.denominator}"


def _moment(tokens: list[re.Match[str]], number: Decimal, *, since_1904: bool) -> str:
    """A day and time, or a length of time; "" for a number that is none."""
    if number < 0 or number > LAST_DAY:
        return ""
    fine = any("." in token["date"] for token in tokens if token.lastgroup == "date")
    seconds = float(number) * 86_400
    seconds = round(seconds, 3) if fine else round(seconds)
    days = int(seconds // 86_400)
    passed = timedelta(days + (not since_1904 and 0 < days < 60), seconds - 86_400 * days)
    moment = (EPOCH_1904 if since_1904 else EPOCH) + passed
    halved = any(token.lastgroup == "half" for token in tokens)
    return "".join(_moment_part(tokens, at, moment, seconds, halved=halved) for at in range(len(tokens))).strip()


def _moment_part(tokens: list[re.Match[str]], at: int, moment: datetime, seconds: float, *, halved: bool) -> str:
    token = tokens[at]
    kind = token.lastgroup
    if kind == "elapsed":
        unit = {"h": 3600, "m": 60, "s": 1}[token["elapsed"][0].lower()]
        return str(int(seconds // unit)).rjust(len(token["elapsed"]), "0")
    if kind == "half":
        return ("AM" if moment.hour < 12 else "PM")[: 2 if len(token[0]) > 3 else 1]
    if kind == "digits":
        return token[0]  # separators: 03/05, 7.30
    if kind != "date":
        return _literal(token)
    part = token["date"].lower()
    if part[0] == "m" and _is_minute(tokens, at):
        return f"{moment.minute:0{min(2, len(part))}d}"
    match part[0], len(part):
        case "y", size:
            return f"{moment.year:04d}" if size > 2 else f"{moment.year % 100:02d}"
        case "m", size if size >= 3:
            name = MONTHS[moment.month - 1]
            return name[:3] if size == 3 else name[:1] if size == 5 else name
        case "m", size:
            return f"{moment.month:0{size}d}"
        case "d", size if size >= 3:
            name = DAYS[moment.weekday()]
            return name[:3] if size == 3 else name
        case "d", size:
            return f"{moment.day:0{size}d}"
        case "h", size:
            hour = (moment.hour % 12 or 12) if halved else moment.hour
            return f"{hour:0{min(2, size)}d}"
    digits = len(part.partition(".")[2])
    fraction = f".{moment.microsecond:06d}"[: digits + 1] if digits else ""
    return f"{moment.second:0{min(2, len(part.partition('.')[0]))}d}{fraction}"


def _is_minute(tokens: list[re.Match[str]], at: int) -> bool:
    """Whether an m stands behind hours or before seconds, and so for minutes."""
    kinds = [(token["date"] or token["elapsed"] or "").lower()[:1] for token in tokens]
    before = next((kind for kind in reversed(kinds[:at]) if kind), "")
    behind = next((kind for kind in kinds[at + 1 :] if kind), "")
    return before == "h" or behind == "s"
