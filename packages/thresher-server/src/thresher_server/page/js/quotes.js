// Where a quote stands on a page of a PDF, whose own text is cut, spaced and hyphenated in another way than ours.

const ANCHOR = 24; // letters that must be alike to believe that a part of a quote was found

/** Letters and digits of a text in one form, and for each the place it came from. */
function plain(text) {
  const letters = [];
  const places = [];
  for (let at = 0; at < text.length; at += 1) {
    for (const letter of text[at].normalize("NFKD").toLowerCase()) {
      if (/[\p{L}\p{N}]/u.test(letter)) { letters.push(letter); places.push(at); }
    }
  }
  return { letters: letters.join(""), places };
}

/**
 * The stretches of `items` (the pieces of text of a page, in order) that hold the quote: [{item, from, to}], `to`
 * exclusive. A quote that goes on from the page before or to the next one is found by its beginning or its end; where
 * nothing is found the list is empty.
 */
export function stretchesOf(items, quote) {
  const whole = [];
  let letters = "";
  items.forEach((text, item) => {
    const one = plain(text);
    letters += one.letters;
    whole.push(...one.places.map((at) => ({ item, at })));
  });
  const found = foundIn(letters, plain(quote).letters);
  if (!found) return [];
  const stretches = [];
  for (const { item, at } of whole.slice(found.from, found.to)) {
    const last = stretches.at(-1);
    if (last?.item === item) last.to = at + 1;
    else stretches.push({ item, from: at, to: at + 1 });
  }
  return stretches;
}

function foundIn(page, quote) {
  if (!quote) return null;
  const at = page.indexOf(quote);
  if (at >= 0) return { from: at, to: at + quote.length };
  return between(page, quote) ?? cutOff(page, quote);
}

/** By its first and last letters, where what lies between differs (a footnote, a sign that is no letter). */
function between(page, quote) {
  const size = Math.min(ANCHOR, Math.floor(quote.length / 2));
  const from = page.indexOf(quote.slice(0, size));
  if (size < 8 || from < 0) return null;
  const end = page.indexOf(quote.slice(-size), from);
  const length = end + size - from;
  return end >= 0 && length < 1.5 * quote.length ? { from, to: end + size } : null;
}

/** By the longest beginning at the page's end, or the longest ending at its start. */
function cutOff(page, quote) {
  for (let size = quote.length - 1; size >= ANCHOR; size -= 1) {
    const head = page.lastIndexOf(quote.slice(0, size));
    if (head >= 0) return { from: head, to: head + size };
    const tail = page.indexOf(quote.slice(-size));
    if (tail >= 0) return { from: tail, to: tail + size };
  }
  return null;
}
