// From a hit, a chunk or a citation to the place in its document.

import { BASE, call } from "./api.js";
import { fileName } from "./words.js";

/** The parts of an address that leads into a document here; null for any other. */
export function linked(url) {
  if (!url) return null;
  const parts = new URL(url, BASE);
  const found = /(?:^|\/)d\/([^/]+)\/([^/]+)\/?$/.exec(parts.pathname);
  if (!found) return null;
  const asNumber = (name) => (parts.searchParams.get(name) === null ? null : Number(parts.searchParams.get(name)));
  return {
    collection: decodeURIComponent(found[1]),
    document: decodeURIComponent(found[2]),
    start: asNumber("start"), end: asNumber("end"), page: asNumber("page"),
  };
}

/** Where a place is opened in a tab of its own. */
export function ownAddress({ collection, document, start, end, page }) {
  const url = new URL(`d/${encodeURIComponent(collection)}/${encodeURIComponent(document)}`, BASE);
  for (const [name, value] of Object.entries({ start, end, page })) {
    if (value !== null && value !== undefined) url.searchParams.set(name, value);
  }
  return url.href;
}

/** Whether something is on a page of the web and in no collection here. */
export const isOnWeb = ({ origin, url, source }) => origin === "outside" && !linked(url) && /^https?:/.test(url || source);

/** The place in a collection; of one without an address by its source. Null where the document is gone. */
export async function placed(cited, collection) {
  const place = linked(cited.url);
  if (place) return { ...place, mark: cited.mark };
  const { documents } = await call("GET", ["api", "collections", collection, "documents"], { parameters: { words: fileName(cited.source), limit: 200 } });
  const found = documents.find((one) => one.source === cited.source || one.also?.includes(cited.source));
  return found ? { collection, document: found.id, start: cited.start, end: cited.end, page: cited.page, mark: cited.mark } : null;
}
