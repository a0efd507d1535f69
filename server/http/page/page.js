// The page of zsetd: a client of /api/commands, which runs read-only commands as the user who logged in.
// Strings that are not UTF-8 are received as {hex: "..."}, and may be sent in the same form.
"use strict";

const POLL_MS = 2000;
const PATIENCE_MS = 20000;  // for a reply
const RECENT_S = 300;  // for which charts keep the points of all polls
const HOUR_S = 3600;  // for which the server keeps points
const HISTORY_MS = 10000;  // between two points of the server
const SHORTEST_S = 60;  // that a chart shows
const GAP_S = 25;  // between points that a line does not connect
const SCAN_BATCH = 100;
const REQUEST_CHARACTERS = 48000;  // of the commands of a request, which has at most 64 KB
const SHOWN_KEYS = 20;
const MOST_PREFIXES = 2000;
const SAMPLED_MEMBERS = 500;
const BARS = 48;

const $ = (id) => document.getElementById(id);
const text = (value) => value === null ? "" : typeof value === "object" && "hex" in value
  ? value.hex.replace(/../g, "\\x$&") : String(value);

let credentials = null;  // not stored anywhere else, so each visit logs in again; "": no login is needed
let timer = null;

// ------------------------------------------------------------------------------- asking the server

class Refused extends Error {}

// Whether a request failed because the server did not respond.
const isSilence = (error) => error instanceof TypeError || error.name === "TimeoutError";

function encoded(user, password) {
  const bytes = new TextEncoder().encode(`${user}:${password}`);
  return btoa(String.fromCharCode(...bytes));
}

// The calls of this page by the name in commandstats, which the table of commands leaves out.
const own = new Map();

function countOwn([name, inner]) {
  const word = String(name).toLowerCase();
  const hasInner = /^(latency|slowlog|object|memory|client|config|command|acl|xinfo|pubsub)$/.test(word);
  const full = hasInner && inner !== undefined ? `${word}|${String(inner).toLowerCase()}` : word;
  own.set(full, (own.get(full) ?? 0) + 1);
}

// Returns the response to a request with this body. Throws Refused if the server refuses the login.
async function post(path, body) {
  const response = await fetch(path, {
    method: "POST", credentials: "omit", cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS),
    headers: {"Content-Type": "application/json", ...credentials && {"Authorization": `Basic ${credentials}`}},
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (response.status === 401 || response.status === 403) throw new Refused(answer.error);
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

// Returns the replies to these commands.
async function ask(...commands) {
  const all = [["SELECT", $("database").value || "0"], ...commands];
  for (const words of all) countOwn(words);
  const answer = await post("/api/commands", {commands: all});
  const [selected, ...replies] = answer.replies;
  if (isError(selected) && Number($("database").value) !== 0) throw new Error(selected.error);
  return replies;
}

const isError = (reply) => reply !== null && typeof reply === "object" && "error" in reply;

function orThrow(reply) {
  if (isError(reply)) throw new Error(reply.error);
  return reply;
}

// Divides items into lists, so that the words of each list fit in a request that contains them `times` times.
function* batches(items, most, times = 1) {
  let batch = [];
  let characters = 0;
  for (const item of items) {
    const length = (JSON.stringify(item).length + 40) * times;
    if (batch.length === most || (batch.length > 0 && characters + length > REQUEST_CHARACTERS)) {
      yield batch;
      [batch, characters] = [[], 0];
    }
    batch.push(item);
    characters += length;
  }
  if (batch.length > 0) yield batch;
}

let failed = null;  // the action whose failure is shown

// Runs an action. If it fails, the reason stays above the page until the same action succeeds, or the user closes
// it.
async function attempt(work) {
  try {
    await work();
    if (failed === work) closeProblem();
  } catch (error) {
    if (error instanceof Refused) return leave(error.message);
    failed = work;
    $("reason").textContent = isSilence(error) ? "The server does not respond." : error.message;
    $("problem").hidden = false;
  }
}

function closeProblem() {
  failed = null;
  $("problem").hidden = true;
}

// --------------------------------------------------------------------------------------- numbers

function count(n) {
  if (Math.abs(n) < 10000) return Number.isInteger(n) ? String(n) : n.toFixed(n < 10 ? 1 : 0);
  for (const [limit, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(n) >= limit) return `${(n / limit).toFixed(1)} ${unit}`;
  }
  return String(n);
}

function bytes(n) {
  for (const [limit, unit] of [[2 ** 30, "GB"], [2 ** 20, "MB"], [2 ** 10, "KB"]]) {
    if (n >= limit) return `${(n / limit).toFixed(1)} ${unit}`;
  }
  return `${n} B`;
}

function micros(n) {
  if (n >= 1e6) return `${(n / 1e6).toFixed(2)} s`;
  if (n >= 1000) return `${(n / 1000).toFixed(n < 10000 ? 1 : 0)} ms`;
  return `${n < 10 ? n.toFixed(n % 1 ? 1 : 0) : Math.round(n)} µs`;
}

function seconds(n) {
  for (const [limit, unit] of [[86400, "d"], [3600, "h"], [60, "min"]]) {
    if (n >= 2 * limit) return `${Math.floor(n / limit)} ${unit}`;
  }
  return `${Math.floor(n)} s`;
}

const remaining = (ms) => ms < 10000 ? `${(ms / 1000).toFixed(1)} s` : seconds(ms / 1000);
const percent = (n) => `${(100 * n).toFixed(1)} %`;
const score = (s) => text(s);

// --------------------------------------------------------------------------------------- elements

function element(name, properties = {}, ...children) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
}

function svg(name, attributes = {}) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

function fill(table, rows) {
  $(table).tBodies[0].replaceChildren(...rows);
}

const cell = (content, kind = "") => element("td", {className: kind}, content);

function share(part) {
  const bar = element("span", {className: "share"});
  bar.style.width = `${Math.max(0, Math.min(1, part)) * 100}%`;
  return cell(bar, "bar");
}

function tile(name, value, title = "", kind = "") {
  return element("div", {className: `tile ${kind}`, title}, element("b", {}, value), element("span", {}, name));
}

// ------------------------------------------------------------------------------------------ charts

let span = RECENT_S;  // the seconds that charts show

class Chart {
  constructor(id, title, format, names, highest = null) {
    this.format = format;
    this.highest = highest;  // the top of the picture; null: depends on the values
    this.recent = [];  // the points of the last RECENT_S: {at: Unix time in seconds, values}
    this.hour = [];  // the points of the server
    this.names = names;
    this.now = names.map((_, i) => element("span", {className: `s${i}`}));
    this.figure = element("figure", {id});
    const caption = element("figcaption", {}, element("span", {}, title), element("span", {className: "now"}));
    names.forEach((name, i) => caption.lastChild.append(i ? " · " : "", name ? `${name} ` : "", this.now[i]));
    this.picture = svg("svg", {preserveAspectRatio: "none", role: "img"});
    this.axis = element("div", {className: "axis"}, element("span", {}), element("span", {}), element("span", {}, "now"));
    this.figure.append(caption, this.picture, this.axis);
    this.at = null;  // the position under the pointer, as a share of the width
    this.picture.addEventListener("pointermove", (event) => {
      const box = this.picture.getBoundingClientRect();
      this.at = (event.clientX - box.left) / box.width;
      this.showValues();
    });
    this.picture.addEventListener("pointerleave", () => {
      this.at = null;
      this.showValues();
    });
    $("charts").append(this.figure);
  }

  // Returns the points that are shown. In the view of an hour, the newest points are those that the server has not
  // reported yet.
  points() {
    if (span === RECENT_S) return this.recent;
    const reported = this.hour.at(-1)?.at ?? 0;
    return [...this.hour, ...this.recent.filter((point) => point.at > reported)];
  }

  // Returns the time of the left and of the right edge.
  edges(points) {
    const end = points.at(-1)?.at ?? 0;
    const first = points[0]?.at ?? end;
    return [first < end - span + GAP_S ? end - span : Math.min(first, end - SHORTEST_S), end];
  }

  // Shows the values under the pointer and their age, or the last values.
  showValues() {
    const points = this.points();
    const [start, end] = this.edges(points);
    const wanted = this.at === null ? end : start + this.at * (end - start);
    let shown = points.at(-1);
    for (const point of points) {
      if (Math.abs(point.at - wanted) < Math.abs(shown.at - wanted)) shown = point;
    }
    this.axis.lastChild.textContent = !shown || shown.at === end ? "now" : `${seconds(end - shown.at)} ago`;
    this.names.forEach((_, i) => {
      const value = shown?.values[i] ?? null;
      this.now[i].textContent = value === null ? "–" : this.format(value);
    });
  }

  // Takes the points of the server. Those before the first poll are recent points as well.
  setHistory(points) {
    this.hour = points;
    const first = this.recent.find((point) => point.isPolled)?.at ?? Infinity;
    const newest = Math.max(points.at(-1)?.at ?? 0, this.recent.at(-1)?.at ?? 0);
    this.recent = [...points.filter((point) => point.at < first && point.at > newest - RECENT_S),
                   ...this.recent.filter((point) => point.isPolled)];
    this.draw();
  }

  add(at, ...values) {
    this.recent = this.recent.filter((point) => point.at < at && point.at > at - RECENT_S);
    this.recent.push({at, values, isPolled: true});
    this.draw();
  }

  draw() {
    const points = this.points();
    const [start, end] = this.edges(points);
    const shown = points.filter((point) => point.at >= start);
    const largest = Math.max(...shown.flatMap((point) => point.values).filter((value) => value !== null), 0);
    const most = this.highest ?? (largest * 1.1 || 1);
    this.picture.setAttribute("viewBox", "0 0 1000 100");
    const nodes = [0, 50, 100].map((y) => svg("path", {class: "grid", d: `M0 ${y}H1000`}));
    this.names.forEach((_, i) => {
      const lines = linesOf(shown, i).map((line) => line.map(([at, value]) =>
        `${(1000 * (at - start) / (end - start)).toFixed(1)} ${(100 - 100 * value / most).toFixed(2)}`));
      if (i === 0) {
        const areas = lines.map((line) => `M${line[0].split(" ")[0]} 100L${line.join("L")}L${line.at(-1).split(" ")[0]} 100Z`);
        nodes.push(svg("path", {class: "area", d: areas.join("")}));
      }
      nodes.push(svg("path", {class: `s${i}`, d: lines.map((line) => `M${line.join("L")}`).join("")}));
    });
    this.picture.replaceChildren(...nodes);
    this.axis.firstChild.textContent = `${seconds(Math.round(end - start))} ago`;
    this.axis.childNodes[1].textContent = `highest ${this.format(largest)}`;
    this.showValues();
    this.picture.setAttribute("aria-label", this.figure.innerText);
  }
}

// Returns the times and values of one figure as lists that a line connects.
function linesOf(points, figure) {
  const lines = [];
  let last = -Infinity;
  for (const {at, values} of points) {
    if (values[figure] === null) {
      last = -Infinity;
      continue;
    }
    if (at - last > GAP_S) lines.push([]);
    lines.at(-1).push([at, values[figure]]);
    last = at;
  }
  return lines;
}

let charts = null;

function makeCharts() {
  $("charts").replaceChildren();
  charts = {
    commands: new Chart("chart-commands", "Commands per second", count, [""]),
    latency: new Chart("chart-latency", "Latency", micros, ["p50", "p99"]),
    memory: new Chart("chart-memory", "Memory", bytes, ["used", "resident"]),
    clients: new Chart("chart-clients", "Clients", count, ["connected", "blocked"]),
    hits: new Chart("chart-hits", "Hit rate", percent, [""], 1.05),
    busy: new Chart("chart-busy", "Busy time", percent, ["event loop", "CPU"]),
    network: new Chart("chart-network", "Network per second", bytes, ["in", "out"]),
    lag: new Chart("chart-lag", "Expiry lag", micros, [""]),
  };
}

// The figures of each chart by their names in the server's history.
const HISTORY = {commands: ["commands"], latency: ["p50", "p99"], memory: ["used", "resident"],
                 clients: ["connected", "blocked"], hits: ["hits"], busy: ["loop", "cpu"], network: ["in", "out"],
                 lag: ["lag"]};

let historyAt = -Infinity;  // when the history was read, in milliseconds

// Fills the charts with the points that the server keeps.
async function showHistory() {
  historyAt = performance.now();
  countOwn(["INFO"]);
  const {columns, points} = await post("/api/history", {});
  for (const [name, figures] of Object.entries(HISTORY)) {
    const places = figures.map((figure) => 1 + columns.indexOf(figure));
    charts[name].setHistory(points.map((point) => ({at: point[0], values: places.map((place) => point[place])})));
  }
}

function showSpan(chosen) {
  span = chosen;
  for (const button of document.querySelectorAll("#spans button")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.seconds) === span));
  }
  if (charts === null) return;
  for (const chart of Object.values(charts)) chart.draw();
  if (span === HOUR_S) attempt(showHistory);
}

// ---------------------------------------------------------------------------------------- overview

function fieldsOf(info) {
  return Object.fromEntries(info.split("\r\n").filter((line) => line.includes(":") && !line.startsWith("#"))
    .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]));
}

const partsOf = (value) => Object.fromEntries(value.split(",").map((part) => part.split("=")));

// Returns the cumulative counts of each command by upper bound in microseconds, from LATENCY HISTOGRAM.
function histogramsOf(reply) {
  const found = new Map();
  if (!Array.isArray(reply)) return found;
  for (let i = 0; i < reply.length; i += 2) {
    const buckets = reply[i + 1][3];
    const counts = [];
    for (let j = 0; j < buckets.length; j += 2) counts.push([buckets[j], buckets[j + 1]]);
    found.set(text(reply[i]), counts);
  }
  return found;
}

function countUpTo(counts, bound) {
  let last = 0;
  for (const [upper, cumulative] of counts ?? []) {
    if (upper > bound) break;
    last = cumulative;
  }
  return last;
}

// Returns the duration that this share of the samples since `before` does not exceed; null without samples. Within a
// bucket, whose upper bound is twice the lower one, samples are taken as equally distributed.
function percentile(part, after, before) {
  const bounds = [...new Set(after.flatMap((counts) => counts.map(([upper]) => upper)))].sort((a, b) => a - b);
  const upTo = (bound) => after.reduce((sum, counts, i) =>
    sum + countUpTo(counts, bound) - countUpTo(before[i], bound), 0);
  const total = bounds.length ? upTo(bounds.at(-1)) : 0;
  if (total <= 0) return null;
  let [lower, below] = [0, 0];
  for (const bound of bounds) {
    const reached = upTo(bound);
    if (reached >= part * total) return lower + (bound - lower) * (part * total - below) / (reached - below);
    [lower, below] = [bound, reached];
  }
  return bounds.at(-1);
}

// Figures turn grey while the server does not respond.
function markStale(isStale) {
  document.body.classList.toggle("stale", isStale);
}

let before = null;  // the figures of the last poll
let first = null;   // the figures of the first poll

async function poll() {
  let replies;
  try {
    replies = await ask(["INFO", "everything"], ["LATENCY", "HISTOGRAM"]);
  } catch (error) {
    markStale(isSilence(error));
    throw error;
  }
  markStale(false);
  const [info, latency] = replies;
  const fields = fieldsOf(text(orThrow(info)));
  const now = {fields, histograms: histogramsOf(latency), at: Number(fields.server_time_usec) / 1e6,
               own: new Map(own)};
  first ??= now;
  showServer(fields);
  showTiles(fields);
  if (before && now.at > before.at) {
    showCharts(before, now);
    showThreads(before, now);
  }
  showCommands(first, now);
  before = now;
}

function showServer(fields) {
  $("server").textContent = `${fields.zsetd_version} · port ${fields.tcp_port} · up ${seconds(fields.uptime_in_seconds)}`;
  document.title = `zsetd :${fields.tcp_port}`;
}

function showTiles(fields) {
  const databases = Object.entries(fields).filter(([name]) => /^db\d+$/.test(name)).map(([, value]) => partsOf(value));
  const sum = (part) => databases.reduce((total, parts) => total + Number(parts[part]), 0);
  const limit = Number(fields.maxmemory);
  $("tiles").replaceChildren(
    ...replicationTiles(fields),
    tile("keys", count(sum("keys"))),
    tile("with a deadline", count(sum("expires"))),
    tile(limit ? `of ${bytes(limit)}` : "memory, no limit", bytes(Number(fields.used_memory)), fields.maxmemory_policy),
    tile("clients", count(Number(fields.connected_clients))),
    tile("expired", count(Number(fields.expired_keys))),
    tile("evicted", count(Number(fields.evicted_keys))),
    tile("changes not saved", count(Number(fields.rdb_changes_since_last_save))),
    ...persistenceTiles(fields),
  );
}

// The role, and for a replica the state of the link to its master, for a master the lag of its replicas.
function replicationTiles(fields) {
  if (fields.role === "slave") {
    const isUp = fields.master_link_status === "up";
    const silence = Number(isUp ? fields.master_last_io_seconds_ago : fields.master_link_down_since_seconds);
    const state = fields.master_sync_in_progress === "1" ? "synchronizing" : isUp ? "link up" : "link down";
    return [tile(`replica of ${fields.master_host}:${fields.master_port}`, state, "", isUp ? "" : "bad"),
            tile(isUp ? "since the master sent data" : "since the link is down", silence < 0 ? "–" : seconds(silence))];
  }
  const replicas = Object.keys(fields).filter((name) => /^slave\d+$/.test(name)).map((name) => partsOf(fields[name]));
  if (replicas.length === 0) return [tile("no replicas", "master")];
  const most = Math.max(...replicas.map((replica) => Number(fields.master_repl_offset) - Number(replica.offset)));
  return [tile(replicas.length === 1 ? "1 replica" : `${replicas.length} replicas`, "master"),
          tile("lag of the replicas", bytes(Math.max(0, most)))];
}

function persistenceTiles(fields) {
  const now = Number(fields.server_time_usec) / 1e6;
  const at = now - Number(fields.rdb_last_save_time);
  const hasSaved = at < Number(fields.uptime_in_seconds);  // CONFIG RESETSTAT resets rdb_saves
  const saved = fields.rdb_last_bgsave_status === "ok";
  const logs = fields.aof_enabled === "1";
  const logged = fields.aof_last_write_status === "ok" && fields.aof_last_bgrewrite_status === "ok";
  return [tile(hasSaved ? "since the last snapshot" : "no snapshot since the start",
               saved ? seconds(Math.max(0, at)) : "failed", "", saved ? "" : "bad"),
          tile("append-only log", logs ? logged ? "on" : "failed" : "off", "", logs && !logged ? "bad" : "")];
}

function showCharts(old, now) {
  const took = now.at - old.at;
  const grown = (name) => Math.max(0, Number(now.fields[name]) - Number(old.fields[name]));
  const names = [...now.histograms.keys()];
  const after = names.map((name) => now.histograms.get(name));
  const then = names.map((name) => old.histograms.get(name));
  const lookups = grown("keyspace_hits") + grown("keyspace_misses");
  charts.commands.add(now.at, grown("total_commands_processed") / took);
  charts.latency.add(now.at, percentile(0.5, after, then), percentile(0.99, after, then));
  charts.memory.add(now.at, Number(now.fields.used_memory), Number(now.fields.used_memory_rss));
  charts.clients.add(now.at, Number(now.fields.connected_clients), Number(now.fields.blocked_clients));
  charts.hits.add(now.at, lookups ? grown("keyspace_hits") / lookups : null);
  charts.lag.add(now.at, Number(now.fields.expiry_lag_usec));
  charts.busy.add(now.at, grown("eventloop_duration_sum") / 1e6 / took,
                  (grown("used_cpu_user") + grown("used_cpu_sys")) / took);
  charts.network.add(now.at, grown("total_net_input_bytes") / took, grown("total_net_output_bytes") / took);
}

// Shows the threads that serve clients, if there are several (io-threads).
function showThreads(old, now) {
  const took = now.at - old.at;
  const names = Object.keys(now.fields).filter((name) => name.startsWith("io_thread_"));
  $("threads-part").hidden = names.length < 2;
  fill("threads", names.map((name) => {
    const [a, b] = [old, now].map((each) => partsOf(each.fields[name] ?? ""));
    const busy = Math.max(0, b.busy_us - (a.busy_us ?? 0)) / 1e6 / took;
    return element("tr", {}, cell(name.slice("io_thread_".length), "n"), cell(b.clients, "n"),
      cell(count(Math.max(0, b.requests - (a.requests ?? 0)) / took), "n"), cell(percent(busy), "n"), share(busy));
  }));
}

function showCommands(old, now) {
  const took = now.at - old.at;
  const rows = Object.keys(now.fields).filter((name) => name.startsWith("cmdstat_")).map((field) => {
    const name = field.slice("cmdstat_".length);
    const [a, b] = [old, now].map((each) => partsOf(each.fields[field] ?? "calls=0,usec=0"));
    const histogram = [now.histograms.get(name) ?? []];
    const then = [old === now ? [] : old.histograms.get(name) ?? []];
    const all = b.calls - a.calls;
    const calls = all - ((now.own.get(name) ?? 0) - (old.own.get(name) ?? 0));
    return {name, calls, usec: all ? (b.usec - a.usec) * Math.max(0, calls) / all : 0,
            p50: percentile(0.5, histogram, then), p99: percentile(0.99, histogram, then)};
  }).filter((row) => row.calls > 0).sort((x, y) => y.usec - x.usec).slice(0, 15);
  const total = rows.reduce((sum, row) => sum + row.usec, 0);
  const time = (value) => cell(value === null || value === undefined ? "–" : micros(value), "n");
  fill("commands", rows.map((row) => element("tr", {}, cell(row.name.replace("|", " ").toUpperCase()),
    cell(count(row.calls), "n"), cell(count(took ? row.calls / took : 0), "n"), time(row.usec / row.calls),
    time(row.p50), time(row.p99), share(total ? row.usec / total : 0))));
}

// -------------------------------------------------------------------------------------------- keys

let scanning = 0;  // the number of the current scan; 0: none

// Looks at all keys, or at a sample: SCAN visits keys in the order of their hashes, so its first keys are a random
// sample.
async function scan() {
  const mine = scanning = Date.now();
  $("scan-stop").hidden = false;
  const found = {largest: [], used: [], next: [], types: new Map(), prefixes: new Map(), keys: 0, bytes: 0, visited: 0,
                 base: literalStart($("pattern").value)};
  const byFrequency = /lfu$/.test(before?.fields.maxmemory_policy ?? "");
  $("used-title").textContent = byFrequency ? "Most frequently used keys" : "Most recently used keys";
  $("used-hint").textContent = byFrequency ? "" : "an LFU policy shows the frequency of use";
  $("used-unit").textContent = byFrequency ? "frequency" : "idle";
  const [total] = await ask(["DBSIZE"]);
  const most = Math.min(Number($("sample").value) || Infinity, orThrow(total));
  let cursor = "0";
  do {
    const [reply] = await ask(["SCAN", cursor, "MATCH", $("pattern").value || "*", "COUNT", String(SCAN_BATCH)]);
    let keys;
    [cursor, keys] = orThrow(reply);
    await look(keys, found, byFrequency);
    if (scanning !== mine) return;
    found.visited += SCAN_BATCH;
    const isWhole = cursor === "0";
    showKeys(found, byFrequency, isWhole ? 1 : Math.max(1, total / found.visited));
    showProgress(found, isWhole ? 1 : found.visited / total, isWhole ? 1 : Math.min(1, found.visited / most));
  } while (cursor !== "0" && found.visited < most);
  scanning = 0;
  $("scan-stop").hidden = true;
}

// `part` is the share of the database that was visited, `done` the share of the work.
function showProgress(found, part, done) {
  $("scan-progress").value = done;
  $("scan-progress").hidden = false;
  const state = part < 1 ? `a sample of ${percent(part)} of the database, sums are estimates` : "the whole database";
  $("scan-state").textContent =
    `${count(found.keys)} keys, ${bytes(found.bytes)}, ${done < 1 ? `${Math.floor(100 * done)} % done` : state}`;
}

// Returns the characters of a pattern before the first one that has a meaning, without escapes.
function literalStart(pattern) {
  return /^(?:[^*?[\\]|\\.)*/s.exec(pattern)[0].replace(/\\(.)/gs, "$1");
}

const PREFIX_END = ":";
const NO_PREFIX = "without a prefix";
const OTHERS = "other prefixes";

// Returns the prefix of a key: the text up to the next colon after the literal start of the pattern.
function prefixOf(key, found) {
  if (typeof key !== "string") return NO_PREFIX;
  const end = key.indexOf(PREFIX_END, key.startsWith(found.base) ? found.base.length : 0);
  const prefix = end < 0 ? NO_PREFIX : key.slice(0, end + 1);
  return found.prefixes.has(prefix) || found.prefixes.size < MOST_PREFIXES ? prefix : OTHERS;
}

function addTo(sums, name, memory) {
  const of = sums.get(name) ?? {keys: 0, bytes: 0};
  sums.set(name, {keys: of.keys + 1, bytes: of.bytes + memory});
}

async function look(keys, found, byFrequency) {
  for (const some of batches(keys, SCAN_BATCH, 4)) {
    const replies = await ask(...some.flatMap((key) =>
      [["OBJECT", byFrequency ? "FREQ" : "IDLETIME", key], ["TYPE", key], ["MEMORY", "USAGE", key], ["PTTL", key]]));
    some.forEach((key, i) => {
      const [use, type, memory, left] = replies.slice(4 * i, 4 * i + 4);
      if (typeof memory !== "number") return;  // the key has expired, or the user may not read it
      const row = {key, type: text(type), memory, use: typeof use === "number" ? use : null, left};
      found.keys += 1;
      found.bytes += memory;
      addTo(found.types, row.type, memory);
      addTo(found.prefixes, prefixOf(key, found), memory);
      found.largest.push(row);
      if (row.use !== null) found.used.push(row);
      if (left >= 0) found.next.push(row);
    });
    found.largest = found.largest.sort((a, b) => b.memory - a.memory).slice(0, SHOWN_KEYS);
    found.used = found.used.sort((a, b) => byFrequency ? b.use - a.use : a.use - b.use).slice(0, SHOWN_KEYS);
    found.next = found.next.sort((a, b) => a.left - b.left).slice(0, SHOWN_KEYS);
  }
}

// The commands that show the beginning of a value at the prompt, by type.
const READERS = {
  string: (key) => ["GETRANGE", key, "0", "999"],
  list: (key) => ["LRANGE", key, "0", "99"],
  hash: (key) => ["HSCAN", key, "0", "COUNT", "100"],
  set: (key) => ["SSCAN", key, "0", "COUNT", "100"],
  stream: (key) => ["XREVRANGE", key, "+", "-", "COUNT", "20"],
};

function keyCell(row) {
  const link = element("button", {className: "link", textContent: text(row.key)});
  link.addEventListener("click", () => {
    if (row.type === "zset") return openSet(row.key);
    show("prompt");
    const words = (READERS[row.type] ?? ((key) => ["TYPE", key]))(row.key);
    attempt(() => run(words.map(text).join(" "), words));
  });
  return cell(link, "text");
}

// Shows only keys that begin with the prefix, by the next part of their names.
function prefixCell(prefix) {
  if (prefix === NO_PREFIX || prefix === OTHERS) return cell(prefix, "quiet");
  const link = element("button", {className: "link", type: "button", textContent: prefix});
  link.addEventListener("click", () => {
    $("pattern").value = `${prefix.replace(/[*?[\]\\^]/g, "\\$&")}*`;
    attempt(scan);
  });
  return cell(link, "text");
}

// Shows what was found. Sums are multiplied by `scale`, because the keys may be a sample.
function showKeys(found, byFrequency, scale) {
  const about = scale > 1 ? "≈ " : "";
  const sum = (of) => [about + count(Math.round(of.keys * scale)), about + bytes(Math.round(of.bytes * scale))];
  const largest = found.largest[0]?.memory ?? 1;
  fill("largest", found.largest.map((row) => element("tr", {}, keyCell(row), cell(row.type),
    cell(bytes(row.memory), "n"), share(row.memory / largest))));
  const most = Math.max(1, ...found.used.map((row) => row.use));
  fill("used", found.used.map((row) => element("tr", {}, keyCell(row), cell(row.type),
    cell(byFrequency ? String(row.use) : seconds(row.use), "n"),
    byFrequency ? share(row.use / most) : cell(""))));
  fill("next", found.next.map((row) => element("tr", {}, keyCell(row), cell(row.type),
    cell(remaining(row.left), "n"))));
  const prefixes = [...found.prefixes].sort(([, a], [, b]) => b.bytes - a.bytes).slice(0, SHOWN_KEYS);
  fill("prefixes", prefixes.map(([prefix, of]) => element("tr", {}, prefixCell(prefix),
    ...sum(of).map((each) => cell(each, "n")), share(of.bytes / Math.max(1, found.bytes)))));
  $("types").replaceChildren(...[...found.types].map(([type, of]) => {
    const [keys, memory] = sum(of);
    return tile(`${type}, ${memory}`, keys);
  }));
}

// -------------------------------------------------------------------------------------- sorted set

// A key and a member in their original form, which may be no text, and the texts that their fields show.
const originals = {key: null, member: null};

function showOriginal(id, original) {
  $(id).value = text(original);  // which leaves out line breaks
  originals[id] = {original, shown: $(id).value};
}

// Returns what the field contains: the original form if the field shows it.
function typed(id) {
  const value = $(id).value;
  return originals[id]?.shown === value ? originals[id].original : value;
}

function openSet(key) {
  showOriginal("key", key);
  $("member").value = "";
  show("zset");
  attempt(explore);
}

function pairsOf(flat) {
  const pairs = [];
  for (let i = 0; i < flat.length; i += 2) pairs.push([flat[i], flat[i + 1]]);
  return pairs;
}

async function explore() {
  const key = typed("key");
  const member = typed("member");
  $("set").hidden = true;
  $("no-set").hidden = false;
  const [size, top, bottom, ttl, encoding, memory] = await ask(["ZCARD", key],
    ["ZRANGE", key, "0", "9", "REV", "WITHSCORES"], ["ZRANGE", key, "0", "9", "WITHSCORES"],
    ["PTTL", key], ["OBJECT", "ENCODING", key], ["MEMORY", "USAGE", key]);
  if (orThrow(size) === 0) {
    $("no-set").textContent = `There is no key ${text(key)}.`;
    return;
  }
  $("facts").replaceChildren(tile("members", count(size)), tile("highest", score(top[1])),
    tile("lowest", score(bottom[1])), tile("time to live", ttl < 0 ? "none" : seconds(ttl / 1000)),
    tile("memory", typeof memory === "number" ? bytes(memory) : "–"), tile("encoding", text(encoding)));
  const [above, below] = [pairsOf(top), pairsOf(bottom)];
  const deadlines = await deadlinesOf(key, [...above, ...below].map(([each]) => each));
  fill("top", ranked(above, 0, 1, deadlines));
  fill("bottom", ranked(below, 0, 1, deadlines));
  const mark = await showAround(key, member, size);
  await showNext(key, size);
  await showScores(key, Number(bottom[1]), Number(top[1]), mark);
  $("no-set").hidden = true;
  $("set").hidden = false;
}

function memberCell(member) {
  const link = element("button", {className: "link", type: "button", textContent: text(member)});
  link.addEventListener("click", () => {
    showOriginal("member", member);
    attempt(explore);
  });
  return cell(link, "text");
}

// Returns the milliseconds until each member expires, by its text: -1 if it does not expire.
async function deadlinesOf(key, members) {
  const found = new Map();
  for (const some of batches(members, SAMPLED_MEMBERS)) {
    const [left] = await ask(["ZPTTL", key, "MEMBERS", String(some.length), ...some]);
    if (Array.isArray(left)) some.forEach((member, i) => found.set(text(member), left[i]));
  }
  return found;
}

function ranked(pairs, rank, step, deadlines, mark = null) {
  return pairs.map(([member, value], i) => {
    const left = deadlines.get(text(member)) ?? -1;
    return element("tr", {className: mark === rank + i * step ? "mark" : ""}, cell(String(rank + i * step), "n"),
      memberCell(member), cell(score(value), "n"), cell(left < 0 ? "–" : remaining(left), "n"));
  });
}

// Shows the members that expire next, in a large set those of a random sample.
async function showNext(key, size) {
  const [sampled] = await ask(["ZRANDMEMBER", key, String(SAMPLED_MEMBERS)]);
  const deadlines = await deadlinesOf(key, orThrow(sampled));
  const next = sampled.map((member) => [member, deadlines.get(text(member)) ?? -1]).filter(([, left]) => left >= 0)
    .sort(([, a], [, b]) => a - b);
  $("next-members-part").hidden = next.length === 0;
  const part = `${next.length} of ${sampled.length} members expire`;
  $("next-members-hint").textContent = size > sampled.length ? `in a random sample, ${part}` : part;
  fill("next-members", next.slice(0, 10).map(([member, left]) => element("tr", {}, memberCell(member),
    cell(remaining(left), "n"))));
}

// Returns the score of the member, if it exists.
async function showAround(key, member, size) {
  $("around").hidden = true;
  if (member === "") return null;
  const [rank, value] = await ask(["ZRANK", key, member], ["ZSCORE", key, member]);
  $("around").hidden = false;
  $("around-member").textContent = text(member);
  if (rank === null) {
    $("around-rank").textContent = "is not a member";
    fill("neighbours", []);
    return null;
  }
  const start = Math.max(0, rank - 5);
  const [near] = await ask(["ZRANGE", key, String(start), String(rank + 5), "WITHSCORES"]);
  $("around-rank").textContent = `rank ${rank}, ${size - 1 - rank} from the top, score ${score(value)}`;
  const pairs = pairsOf(near);
  fill("neighbours", ranked(pairs, start, 1, await deadlinesOf(key, pairs.map(([each]) => each)), rank));
  return Number(value);
}

// Shows the distribution of the scores: ZCOUNT counts the members in each of several equal intervals.
async function showScores(key, lowest, highest, mark) {
  $("score-range").textContent = "";
  if (!Number.isFinite(lowest) || !Number.isFinite(highest) || lowest === highest) {
    $("scores").replaceChildren(element("p", {className: "quiet"},
      lowest === highest ? `All scores are ${lowest}.` : "Some scores are infinite."));
    return;
  }
  const width = (highest - lowest) / BARS;
  const bound = (i) => i === BARS ? highest : lowest + i * width;
  const counts = await ask(...Array.from({length: BARS}, (_, i) =>
    ["ZCOUNT", key, String(bound(i)), i === BARS - 1 ? String(highest) : `(${bound(i + 1)}`]));
  const most = Math.max(...counts, 1);
  const picture = svg("svg", {viewBox: `0 0 ${BARS * 10} 100`, preserveAspectRatio: "none", role: "img",
                              "aria-label": `distribution of scores from ${lowest} to ${highest}`});
  counts.forEach((n, i) => {
    const height = n === 0 ? 0 : Math.max(1, 98 * n / most);
    const inside = mark !== null && mark >= bound(i) && (mark < bound(i + 1) || i === BARS - 1);
    const bar = svg("rect", {class: inside ? "bar mark" : "bar", x: i * 10 + 0.6, width: 8.8, y: 100 - height, height});
    const title = svg("title");
    title.textContent = `${n} from ${bound(i).toPrecision(6)} to ${bound(i + 1).toPrecision(6)}`;
    bar.append(title);
    picture.append(bar);
  });
  $("scores").replaceChildren(picture, element("div", {className: "axis"}, element("span", {}, String(lowest)),
    element("span", {}, String(highest))));
  $("score-range").textContent = `at most ${count(most)} in an interval of ${width.toPrecision(3)}`;
}

// ---------------------------------------------------------------------------------------- slow log

async function showSlowLog() {
  const [log] = await ask(["SLOWLOG", "GET", "100"]);
  $("no-slow").hidden = orThrow(log).length > 0;
  fill("slow-log", log.map(([id, at, took, words, client, name]) => element("tr", {}, cell(String(id), "n"),
    cell(new Date(at * 1000).toLocaleString()), cell(micros(took), "n"), cell(words.map(text).join(" "), "text wide"),
    cell(`${text(client)} ${text(name)}`))));
}

// ------------------------------------------------------------------------------------------ prompt

// Splits a line as redis-cli does: words may be quoted, and double quotes may contain \n \r \t \b \a \xHH.
// Returns null if a quote is not closed.
function wordsOf(line) {
  const words = [];
  const pattern = /\s*(?:"((?:\\x[0-9a-f]{2}|\\.|[^"\\])*)"|'((?:\\'|[^'])*)'|([^\s"']\S*))(?=\s|$)/giy;
  line = line.trim();
  while (pattern.lastIndex < line.length) {
    const found = pattern.exec(line);
    if (found === null) return null;
    const [, double, single, plain] = found;
    words.push(double !== undefined ? unescaped(double) : plain ?? single.replaceAll("\\'", "'"));
  }
  return words;
}

function unescaped(text) {
  const names = {n: 10, r: 13, t: 9, b: 8, a: 7};
  const data = [];
  for (const [part, hex, letter] of text.matchAll(/\\x([0-9a-f]{2})|\\(.)|[^\\]+/gis)) {
    if (hex !== undefined) data.push(parseInt(hex, 16));
    else if (letter in names) data.push(names[letter]);
    else data.push(...new TextEncoder().encode(letter ?? part));
  }
  return wordOf(new Uint8Array(data));
}

function wordOf(data) {
  try {
    return new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(data);
  } catch {
    return {hex: [...data].map((byte) => byte.toString(16).padStart(2, "0")).join("")};
  }
}

// Formats a reply as redis-cli does.
function formatted(reply, indent = "") {
  if (reply === null) return "(nil)";
  if (typeof reply === "number") return `(integer) ${reply}`;
  if (isError(reply)) return `(error) ${text(reply.error)}`;
  if (!Array.isArray(reply)) return text(reply).includes("\r\n") ? text(reply) : `"${text(reply)}"`;
  if (reply.length === 0) return "(empty array)";
  const width = String(reply.length).length;
  return reply.map((each, i) => {
    const mark = `${String(i + 1).padStart(width)}) `;
    return `${i ? indent : ""}${mark}${formatted(each, indent + " ".repeat(mark.length))}`;
  }).join("\n");
}

const history = [];
let recalled = 0;

async function runLine() {
  const line = $("line").value.trim();
  if (line === "") return;
  if (history.at(-1) !== line) history.push(line);
  recalled = history.length;
  $("line").value = "";
  await run(line, wordsOf(line));
}

// Runs a command, and appends it and its reply. `words` is null if a quote is open.
async function run(line, words) {
  const out = $("replies");
  out.append(element("div", {className: "asked"}, `> ${line}`));
  const [reply] = words === null ? [{error: "Invalid argument(s): a quote is open"}] : await ask(words);
  out.append(element("div", {className: isError(reply) ? "error" : ""}, formatted(reply)));
  while (out.childNodes.length > 400) out.firstChild.remove();
  out.scrollTop = out.scrollHeight;
}

function recall(step) {
  recalled = Math.max(0, Math.min(history.length, recalled + step));
  $("line").value = history[recalled] ?? "";
}

// ------------------------------------------------------------------------------- views and logging in

const tabs = [...document.querySelectorAll("#tabs button")];
const views = tabs.map((tab) => tab.getAttribute("aria-controls"));

function show(view) {
  for (const tab of tabs) {
    const chosen = tab.getAttribute("aria-controls") === view;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    $(tab.getAttribute("aria-controls")).hidden = !chosen;
  }
  if (view === "slow") attempt(showSlowLog);
  if (view === "zset") $("key").focus();
  if (view === "prompt") $("line").focus();
}

async function tick() {
  if (!document.hidden) {
    await attempt(poll);
    if (span === HOUR_S && performance.now() - historyAt >= HISTORY_MS) await attempt(showHistory);
    if (!$("slow").hidden) await attempt(showSlowLog);
  }
  if (credentials !== null) timer = setTimeout(tick, POLL_MS);
}

async function enter(login) {
  credentials = login;
  await ask(["PING"]);
  $("leave").textContent = login === "" ? "Log in" : "Log out";
  $("login").hidden = true;
  for (const part of ["tabs", "leave", "hints"]) $(part).hidden = false;
  document.querySelector(".database").hidden = false;
  makeCharts();
  before = first = null;
  show("overview");
  clearTimeout(timer);
  try {
    await showHistory();
  } catch { /* the poll reports the reason */ }
  if (credentials !== null) tick();
}

// Shows the page without a login if the server needs none, and otherwise the form.
async function enterOrAsk() {
  try {
    await enter("");
  } catch {
    leave();
  }
}

function leave(why = "") {
  credentials = null;
  clearTimeout(timer);
  scanning = 0;
  closeProblem();
  markStale(false);
  for (const part of [...views, "tabs", "leave", "hints", "problem"]) $(part).hidden = true;
  document.querySelector(".database").hidden = true;
  // Removes everything that was shown.
  for (const table of document.querySelectorAll("tbody")) table.replaceChildren();
  charts = null;
  $("threads-part").hidden = true;
  $("scan-progress").hidden = true;
  for (const part of ["scan-state", "tiles", "charts", "types", "facts", "scores", "replies", "server"]) $(part).replaceChildren();
  $("set").hidden = true;
  $("password").value = "";
  $("refused").textContent = why;
  $("login").hidden = false;
  $("user").focus();
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("theme", theme); } catch { /* then it is not kept */ }
}

function switchTheme() {
  const dark = document.documentElement.dataset.theme === "dark" ||
    (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  setTheme(dark ? "light" : "dark");
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target instanceof HTMLInputElement;
  if (typing && event.key === "Escape") event.target.blur();
  if (typing && event.target === $("line") && /^Arrow(Up|Down)$/.test(event.key)) {
    recall(event.key === "ArrowUp" ? -1 : 1);
    event.preventDefault();
  }
  if (typing || credentials === null) return;
  const at = tabs.findIndex((tab) => tab.getAttribute("aria-selected") === "true");
  const next = {ArrowLeft: at - 1, ArrowRight: at + 1}[event.key];
  if (event.target.role === "tab" && next !== undefined) {
    const tab = tabs[(next + tabs.length) % tabs.length];
    show(tab.getAttribute("aria-controls"));
    tab.focus();
  }
  const numbered = tabs.find((tab) => tab.dataset.key === event.key);
  if (numbered) show(numbered.getAttribute("aria-controls"));
  if (event.key === "t") switchTheme();
  if (event.key === "/") show($("prompt").hidden ? "zset" : "prompt");
  if (numbered || event.key === "/") event.preventDefault();
}

function start() {
  try { if (localStorage.getItem("theme")) setTheme(localStorage.getItem("theme")); } catch { /* none is kept */ }
  for (const tab of tabs) tab.addEventListener("click", () => show(tab.getAttribute("aria-controls")));
  const onSubmit = (form, work) => $(form).addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(work);
  });
  onSubmit("login", () => enter(encoded($("user").value, $("password").value)));
  onSubmit("scan", scan);
  onSubmit("explore", explore);
  onSubmit("ask", runLine);
  $("scan-stop").addEventListener("click", () => { scanning = 0; $("scan-stop").hidden = true; });
  $("leave").addEventListener("click", () => leave());
  $("close").addEventListener("click", closeProblem);
  $("theme").addEventListener("click", switchTheme);
  for (const button of document.querySelectorAll("#spans button")) {
    button.addEventListener("click", () => showSpan(Number(button.dataset.seconds)));
  }
  document.addEventListener("keydown", onKey);
  enterOrAsk();
}

start();
