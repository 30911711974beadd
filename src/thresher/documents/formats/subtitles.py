"""Subtitles (SRT, WebVTT): what is spoken, as paragraphs, with the time of each cue."""

from __future__ import annotations

import re
from html import unescape

from thresher.documents.assembly import Assembly, Parsed
from thresher.documents.cleaning import clean_inline, normalise
from thresher.documents.encodings import decode
from thresher.documents.registry import RawFile
from thresher.errors import DocumentError

_TIME = r"((?:\d+:)?\d\d:\d\d)[.,](\d{3})"
CUE = re.compile(rf"[ \t]*{_TIME}[ \t]+-->[ \t]+{_TIME}[^\n]*\n((?:[^\n]*\S[^\n]*(?:\n|\Z))*)", re.MULTILINE)
VOICE = re.compile(r"<v(?:\.[^\s>]{0,40})?\s([^>\n]{1,80})>")
TAG = re.compile(r"</?[A-Za-z\d.:][^>]{0,80}>|\{\\[^}]{0,80}\}")
PAUSE = 3.0  # seconds without words that end a paragraph
PARAGRAPH_CHARACTERS = 600


def read_subtitles(file: RawFile) -> Parsed:
    """The spoken text; a paragraph ends at a pause, with a speaker, or with a sentence where it has grown long."""
    text, notes = decode(file.data)
    assembly = Assembly()
    words, speaker, ended = "", "", 0.0
    cues: list[tuple[int, str]] = []

    def close() -> None:
        nonlocal words
        for start, time in cues:
            assembly.mark("path", time, ahead=start)
        assembly.paragraph(words)
        cues.clear()
        words = ""

    for cue in CUE.finditer(normalise(text)):
        begins, ends = (_seconds(*cue.group(at, at + 1)) for at in (1, 3))
        voice = VOICE.search(cue[5])
        spoken = clean_inline(unescape(TAG.sub("", VOICE.sub("", cue[5]))))
        voice_name = clean_inline(voice[1]) if voice else ""
        long = len(words) > PARAGRAPH_CHARACTERS and re.search(r"[.!?…]\W*$", words)
        if words and (begins - ended > PAUSE or voice_name not in ("", speaker) or long):
            close()
        if spoken:
            spoken = spoken if words or not voice_name else f"{voice_name}: {spoken}"
            cues.append((len(words) + bool(words), cue[1]))
            words = f"{words} {spoken}" if words else spoken
        speaker, ended = voice_name or speaker, ends
    close()
    if not assembly:
        raise DocumentError("it has no cues", next_step="check that it is a subtitle file, or rename it to .txt")
    return assembly.parsed(metadata=notes)


def _seconds(clock: str, thousandths: str) -> float:
    seconds = 0.0
    for part in clock.split(":"):
        seconds = seconds * 60 + int(part)
    return seconds + int(thousandths) / 1000
