// Where the grains of the picture lie: the scale of their scores, and a heap in which none covers another.

const SPACING = 17; // from middle to middle of two grains, in pixels
const ASIDE = [0, -8, 8, -15, 15]; // pixels that a grain may lie beside its score, so that a heap is no pillar
const RISE = 2; // pixels from one height that is tried to the next

/** The bounds of the scores ("probability [0, 1]"; open ones end at the best score) and where a score lies between. */
export function scaleOf(chunks, thresholds) {
  const named = /\[(-?[\d.]+|-inf), (-?[\d.]+|inf)[\])]/.exec(chunks.find((one) => one.scale)?.scale ?? "probability [0, 1]");
  const scores = chunks.map((one) => one.score).filter((score) => score !== null && score !== undefined);
  const bound = (text, other) => (text === undefined || text.endsWith("inf") ? other : Number(text));
  const low = bound(named?.[1], Math.min(0, ...scores));
  const high = Math.max(bound(named?.[2], Math.max(...scores, low)), thresholds?.upper ?? low, low + 1e-6);
  return {
    low, high,
    share: (value) => Math.min(1, Math.max(0, (value - low) / (high - low))),
    name: (value) => Number(value.toPrecision(2)).toString(),
  };
}

/** A place for each item, {item, left, level}, in which none touches another; too many for `room` lie closer. `size` is that of a grain. */
export function swarm(items, at, room, size) {
  const placed = [];
  const free = (left, level) => placed.every((other) => Math.hypot(other.left - left, other.level - level) >= SPACING * size);
  for (const item of [...items].sort((one, other) => at(other) - at(one))) {
    let level = 0;
    let beside;
    while ((beside = ASIDE.find((by) => free(at(item) + by * size, level))) === undefined) level += RISE;
    placed.push({ item, left: at(item) + beside * size, level });
  }
  const highest = Math.max(0, ...placed.map((one) => one.level));
  const closer = highest > room ? room / highest : 1;
  return placed.map((one) => ({ ...one, level: one.level * closer }));
}
