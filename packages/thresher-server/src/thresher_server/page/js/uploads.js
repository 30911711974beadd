// Documents dropped on the page: sent, read as a job, and told one by one where they fail.

import { call, stream, upload } from "./api.js";
import { element, icon, tell } from "./dom.js";
import { inCollection, state } from "./state.js";
import { bytes, counted, fileName, number, seconds } from "./words.js";

/** A place to drop files or choose them; `done` is called with the job when documents came in. */
export function dropZone(done, { small = false } = {}) {
  const jobs = element("div", { class: "jobs" });
  const chosen = element("input", { type: "file", multiple: true, class: "unseen", "aria-label": "Choose files to add", onchange: () => { take(chosen.files); chosen.value = ""; } });
  const zone = element("label", { class: small ? "drop small" : "drop" }, chosen, icon("file"),
    element("span", { class: "drop-title" }, "Drop documents here"),
    element("span", { class: "hint" }, "or ", element("span", { class: "like-link" }, "choose files"), `: PDF, Word, slides, sheets, web pages, e-mail, text. Up to ${bytes(state.session.max_upload_bytes)} each.`));
  const address = element("input", { type: "url", placeholder: "https://…", "aria-label": "Address of a page to add" });
  const byAddress = element("form", { class: "row by-address", onsubmit: (event) => {
    event.preventDefault();
    if (!address.value.trim()) return;
    fromAddress(jobs, address.value.trim(), done);
    address.value = "";
  } }, address, element("button", {}, "Add the page"));
  const take = (files) => { if (files.length) sent(jobs, [...files], done); };
  const node = element("div", { class: "adding" }, zone, byAddress, jobs);
  for (const name of ["dragenter", "dragover"]) zone.addEventListener(name, (event) => { event.preventDefault(); zone.classList.add("over"); });
  for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => { event.preventDefault(); take(event.dataTransfer.files); });
  return node;
}

async function sent(jobs, files, done) {
  const card = jobCard(files.length === 1 ? files[0].name : counted(files.length, "file"));
  jobs.prepend(card.node);
  const most = state.session.max_upload_bytes;
  const [small, large] = [files.filter((file) => file.size <= most), files.filter((file) => file.size > most)];
  card.refuse(large.map((file) => ({ source: file.name, error: `is ${bytes(file.size)}, more than the ${bytes(most)} that one file may have`, next: "Split it, or ask for a higher limit." })));
  if (!small.length) { card.end("Nothing was added", "failed"); return; }
  card.say("Sending");
  try {
    const { job } = await upload(inCollection("documents"), small, (now, all) => card.progress(now, all, `Sending ${bytes(now)} of ${bytes(all)}`));
    await follow(job, card, done);
  } catch (error) {
    card.fail(error);
  }
}

async function fromAddress(jobs, url, done) {
  const card = jobCard(url);
  jobs.prepend(card.node);
  try {
    const { job } = await call("POST", inCollection("documents"), { body: { urls: [url] } });
    await follow(job, card, done);
  } catch (error) {
    card.fail(error);
  }
}

/** Show a job until it has ended. */
export async function follow(id, card, done) {
  card.cancellable(() => call("POST", ["api", "jobs", id, "cancel"]).catch((error) => card.say(error.message)));
  card.say("Waiting for its turn");
  for await (const { data } of stream("GET", ["api", "jobs", id, "events"])) {
    if (data.state === "running") {
      const { done: files, files: all, bytes: read, of_bytes: of, file, seconds_left: left } = data.progress;
      const parts = [file ? `Reading ${fileName(file)}` : "Reading", all > 1 ? `${files} of ${all}` : null, left ? `about ${seconds(left)} left` : null];
      card.progress(of ? read : files, of || all, parts.filter(Boolean).join(" · "));
    }
  }
  ended(await call("GET", ["api", "jobs", id]), card, done);
}

function ended(job, card, done) {
  const report = job.result ?? {};
  const failed = report.failed ?? [], remarks = report.remarks ?? [];
  const came = (report.added ?? 0) + (report.updated ?? 0);
  card.refuse([...failed, ...remarks.map(({ source, remark, next }) => ({ source, error: remark, next }))]);
  const said = [
    came || report.unchanged || report.duplicates || report.renamed ? null : "Nothing was added",
    report.added ? `${counted(report.added, "document")} added` : null, report.updated ? `${number(report.updated)} updated` : null,
    report.unchanged ? `${number(report.unchanged)} unchanged` : null, report.duplicates ? `${number(report.duplicates)} known already` : null, report.renamed ? `${number(report.renamed)} renamed` : null,
    report.chunks && came ? `${number(report.chunks)} passages` : null, failed.length ? `${counted(failed.length, "file")} not read` : null,
    came && report.seconds ? seconds(report.seconds) : null,
  ].filter(Boolean);
  if (job.error && !failed.length) card.refuse([{ source: "", error: job.error.what ?? job.error.message ?? String(job.error), next: job.error.next }]);
  card.end(job.state === "cancelled" && !came ? "Stopped" : said.join(" · "), job.state);
  if (came) done(job);
}

/** A line that shows how far a job is, and what was not read. */
export function jobCard(name) {
  const line = element("p", { class: "job-line", role: "status" });
  const bar = element("progress", { max: "1", "aria-label": `Progress of ${name}` });
  const failed = element("ul", { class: "failed" });
  const stop = element("button", { type: "button", class: "quiet", hidden: true }, "Stop");
  const node = element("div", { class: "job" }, element("div", { class: "job-head" }, element("b", {}, name), line, stop), bar, failed);
  return {
    node,
    say: (text) => { line.textContent = text; },
    progress(now, all, text) {
      if (all) bar.value = Math.min(1, now / all);
      line.textContent = text;
    },
    cancellable(stopIt) { stop.hidden = false; stop.onclick = stopIt; },
    refuse: (rows) => failed.append(...rows.map(({ source, error, next }) => element("li", {},
      source ? element("b", {}, fileName(source)) : null, element("span", {}, error), next ? element("span", { class: "next" }, next) : null))),
    end(text, how) {
      bar.remove();
      stop.remove();
      line.textContent = text;
      node.classList.add(how);
      tell(`${name}: ${text}`);
    },
    fail(error) {
      this.refuse([{ source: "", error: error.message, next: error.next }]);
      this.end("Not added", "failed");
    },
  };
}
