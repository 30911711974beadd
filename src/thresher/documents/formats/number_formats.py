"""Numbers of a sheet as its number formats show them: `0.075` under `0.0 %` is `7.5 %` (ECMA-376, 18.8.31).

Fractions and formats with conditions (`[>9]0;0.0`) are shown as numbers without a format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

BUILT_IN = {
    **{0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00"},
    **{14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM"},
    **{19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0;-#,##0", 38: "#,##0;-#,##0"},
    **{39: "#,##0.00;-#,##0.00", 40: "#,##0.00;-#,##0.00", 41: "#,##0", 42: "#,##0", 43: "#,##0.00", 44: "#,##0.00"},
    **{45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@"},
}
"""Formats that a file names by number; 14 and 22, which follow the country of the program, are ISO 8601."""
CONDITION = re.compile(r"\[[<>=]")
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|_.|\*.|\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[(?P<elapsed>h+|m+|s+)\]'
    r"|\[[^\]]*\]|(?P<general>General|@)|(?P<half>AM/PM|A/P)|(?P<date>y+|m+|d+|h+|s+(?:\.0+)?)"
    r"|(?P<exponent>E[+-]0+)|(?P<digits>[0#?.,/]+)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()  # noqa: SIM905
DIGITS = 11  # that a cell without a format shows
EPOCH, EPOCH_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)
LAST_DAY = 2_958_465  # 31 December 9999
SECONDS = {"h": 3600, "m": 60, "s": 1}


def shown_number(value: str, code: str, *, since_1904: bool = False) -> str:
    """A number of a cell, as it stands in the file, as its format shows it; what is no number stays as it is."""
    try:
        number = Decimal(value)
    except InvalidOperation:
        return value
    if not number.is_finite() or abs(number.adjusted()) > 300:
        return value
    if CONDITION.search(code):
        return general(number)
    sections = re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', code)
    at = 1 if number < 0 and len(sections) > 1 else 2 if number == 0 and len(sections) > 2 else 0
    tokens = list(_TOKEN.finditer(sections[at]))
    if {"date", "elapsed", "half"}.intersection(token.lastgroup for token in tokens):
        return _moment(tokens, number, since_1904=since_1904) or general(number)
    pattern = "".join(token["digits"] or "" for token in tokens)
    if "/" in pattern or not code:
        return general(number)
    if pattern:
        return _numeric(tokens, pattern, abs(number) if at else number)
    return "".join(general(number) if token["general"] else _literal(token) for token in tokens)


def general(number: Decimal) -> str:
    """A number without a format: eleven digits at most, no exponent where it can be without."""
    if number == number.to_integral_value() and abs(number) < 10**15:
        return f"{number.to_integral_value():f}"
    shown = f"{float(number):.{DIGITS - 1}g}"
    return f"{Decimal(shown):f}" if -5 <= number.adjusted() < DIGITS and "e" in shown else shown


def _literal(token: re.Match[str]) -> str:
    """What a token writes by itself; a percent sign is one."""
    return token[token.lastgroup] if token.lastgroup in ("quoted", "escaped", "currency", "other") else ""


def _numeric(tokens: list[re.Match[str]], pattern: str, number: Decimal) -> str:
    """A number in digits, with the literals of its format around them."""
    exponent = next((token["exponent"] for token in tokens if token["exponent"]), "")
    before, _, behind = pattern.partition(".")
    if exponent:
        mantissa, _, power = f"{abs(number):.{len(behind)}E}".partition("E")
        sign = "-" if power.startswith("-") else "+" if "+" in exponent else ""
        digits = f"{mantissa}E{sign}{power.lstrip('+-').rjust(exponent.count('0'), '0')}"
    else:
        whole, places = before.rstrip(","), behind.rstrip(",")
        scale = len(before + behind) - len(whole + places)  # each comma behind the digits is a thousand
        percents = sum(token["other"] == "%" for token in tokens)
        digits = _fixed(whole, places, abs(number).scaleb(2 * percents - 3 * scale))
    sign = "-" if number < 0 and re.search(r"[1-9]", digits) else ""  # -0.001 as 0.00 has no sign
    return sign + "".join(reversed(list(_filled(tokens, digits)))).strip()


def _filled(tokens: list[re.Match[str]], digits: str) -> Iterator[str]:
    """What each token shows, from the last one; digits in several groups, as `000-00`, are given out from the right."""
    first = next(at for at, token in enumerate(tokens) if token["digits"])
    for at in reversed(range(len(tokens))):
        if not (group := tokens[at]["digits"]):
            yield _literal(tokens[at])
            continue
        size = len(re.findall("[0#?]", group.partition(".")[0]))
        cut = max(0, len(digits.partition(".")[0]) - size) if at > first else 0
        yield digits[cut:]
        digits = digits[:cut]


def _fixed(whole: str, places: str, value: Decimal) -> str:
    rounded = value.quantize(Decimal(1).scaleb(-len(places)), ROUND_HALF_UP) if value.adjusted() < 25 else value
    integer, _, rest = f"{rounded:f}".partition(".")
    least = len(places.rstrip("#?"))
    rest = rest[:least] + rest[least:].rstrip("0")
    integer = integer.lstrip("0").rjust(whole.count("0"), "0")
    if "," in whole and integer:
        integer = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",", integer)
    return f"{integer}.{rest}" if rest else integer


def _moment(tokens: list[re.Match[str]], number: Decimal, *, since_1904: bool) -> str:
    """A day and time, or a length of time; "" for a number that is none."""
    if number < 0 or number > LAST_DAY:
        return ""
    seconds = round(float(number) * 86_400, 3 if any("." in (token["date"] or "") for token in tokens) else None)
    days = int(seconds // 86_400)
    passed = timedelta(days + (not since_1904 and 0 < days < 60), seconds - 86_400 * days)
    moment = (EPOCH_1904 if since_1904 else EPOCH) + passed
    halved = any(token["half"] for token in tokens)
    units = [(token["date"] or token["elapsed"] or "")[:1].lower() for token in tokens]
    parts = []
    for at, token in enumerate(tokens):
        if part := token["date"]:
            before, behind = "".join(units[:at])[-1:], "".join(units[at + 1 :])[:1]
            minute = before == "h" or behind == "s"
            parts.append(_moment_part(part.lower(), moment, minute=minute, halved=halved))
        elif part := token["elapsed"]:
            parts.append(f"{int(seconds // SECONDS[part[0].lower()]):0{len(part)}d}")
        elif part := token["half"]:
            parts.append(("AM" if moment.hour < 12 else "PM")[: 2 if len(part) > 3 else 1])
        else:
            parts.append(token["digits"] or _literal(token))  # separators: 03/05, 7.30
    return "".join(parts).strip()


def _moment_part(part: str, moment: datetime, *, minute: bool, halved: bool) -> str:
    """`yyyy`, `mmm` or another part of a date or time; an `m` is a minute behind hours and before seconds."""
    unit, size = part[0], len(part)
    name = MONTHS[moment.month - 1] if unit == "m" else DAYS[moment.weekday()]
    match unit:
        case "y":
            return f"{moment.year:04d}" if size > 2 else f"{moment.year % 100:02d}"
        case "m" | "d" if size >= 3 and not minute:
            return name[:3] if size == 3 else name[:1] if size == 5 else name
        case "s":
            clock, _, thousandths = part.partition(".")
            fraction = f".{moment.microsecond:06d}"[: len(thousandths) + 1] if thousandths else ""
            return f"{moment.second:0{min(2, len(clock))}d}{fraction}"
    hour = (moment.hour % 12 or 12) if halved else moment.hour
    value = {"m": moment.minute if minute else moment.month, "d": moment.day, "h": hour}[unit]
    return f"{value:0{min(2, size)}d}"
