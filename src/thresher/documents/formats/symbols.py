"""Characters of symbol fonts, which stand for others than their codes say."""

from __future__ import annotations

# Adobe's Symbol encoding, from 0x21 to 0x7E and from 0xA1 to 0xFE; a blank where it has no character of its own.
_LOW = "!∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
_HIGH = "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
SYMBOL: dict[int, str] = dict(zip((*range(0x21, 0x7F), *range(0xA1, 0xFF)), _LOW + _HIGH, strict=False))
WINGDINGS: dict[int, str] = {
    **{0x6C: "●", 0x6E: "■", 0x6F: "□", 0x71: "❑", 0x75: "◆", 0x76: "❖", 0xA7: "▪", 0xA8: "□", 0xD8: "➢"},
    **{0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "→", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑"},
    **{0x28: "☎", 0x29: "✆", 0x2A: "✉", 0x4A: "☺", 0x4C: "☹", 0x22: "✂", 0x3F: "✍"},
}
"""The marks, boxes and arrows that texts are written with."""
UNKNOWN = "□"


def symbol(font: str, code: int) -> str:
    """The character that a font shows for a code; of fonts for pictures, what is known of them."""
    code -= 0xF000 if 0xF000 <= code <= 0xF0FF else 0
    name = font.lower()
    if name.startswith("symbol"):
        return SYMBOL.get(code, UNKNOWN)
    if name.startswith(("wingdings", "webdings", "marlett")):
        return WINGDINGS.get(code, UNKNOWN)
    return chr(code) if 0x20 <= code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else UNKNOWN
