// The passages that a question touched, as the picture wants them, from a stream's steps or a stored answer.

const JUDGED = ["judge", "correct"]; // slots whose score the thresholds are held against

/** Of a stored answer (`explain`): a score of one and the same kind for each passage. */
export function chunksOf(explained, before = []) {
  const known = new Map(before.map((chunk) => [chunk.id, chunk]));
  const titles = new Map(explained.citations.map((one) => [one.source, one.title]));
  const common = commonScore(explained.chunks);
  return comparable(explained.chunks.map((chunk) => {
    const seen = known.get(chunk.id) ?? {};
    const score = scoreOf(chunk.scores, common);
    const cited = explained.citations.find((one) => one.source === chunk.source && one.start < chunk.end && chunk.start < one.end);
    return {
      title: titles.get(chunk.source) ?? "", ...seen, ...chunk, quote: cited?.quote ?? null,
      score: seen.score ?? score?.value ?? null,
      scale: seen.scale ?? score?.scale ?? null,
      judged: seen.judged ?? JUDGED.some((name) => name in chunk.scores),
    };
  }));
}

/** One picture has one scale, the judge's, or where nothing was judged that of most passages; what has another one has no score. */
export function comparable(chunks) {
  const judged = chunks.filter((chunk) => chunk.judged);
  const counts = new Map();
  for (const { scale } of judged.length ? judged : chunks) counts.set(scale, (counts.get(scale) ?? 0) + 1);
  const [scale] = [...counts].reduce((most, one) => (one[1] > most[1] ? one : most), [null, 0]);
  return chunks.map((chunk) => (chunk.scale === scale ? chunk : { ...chunk, score: null, scale: null }));
}

const scoreOf = (scores, common) => JUDGED.map((name) => scores[name]).find(Boolean) ?? scores[common];

/** The last score that every passage was given. */
function commonScore(chunks) {
  const names = Object.keys(chunks[0]?.scores ?? {});
  return names.filter((name) => chunks.every((chunk) => name in chunk.scores)).at(-1);
}

/** The two bounds of a decision; null for a recipe that does not decide by bounds. */
export function thresholdsOf(steps) {
  const { lower, upper } = steps.find((step) => step.name === "decide")?.detail ?? {};
  return lower === undefined || upper === undefined ? null : { lower, upper };
}
