// The page in Debian's chromium: its contents, the actions that it permits, and its requests to the
// server.

import assert from "node:assert/strict";
import {execFileSync, spawn} from "node:child_process";
import {mkdtempSync, rmSync} from "node:fs";
import {createConnection, createServer} from "node:net";
import {tmpdir} from "node:os";
import path from "node:path";
import {after, afterEach, before, beforeEach, test} from "node:test";

import {chromium} from "playwright-core";

const PATIENCE_MS = 30_000;
let port, httpPort, site;
let folder, server, browser, page, requests, complaints;

function cli(...words) {
  return execFileSync("redis-cli", ["-p", String(port), ...words], {encoding: "utf8"}).trim();
}

// Returns a free port below the range that the system uses for outgoing connections.
function freePort() {
  return new Promise((resolve) => {
    const wanted = 20000 + Math.floor(Math.random() * 12000);
    const probe = createServer();
    probe.on("error", () => resolve(freePort()));
    probe.listen(wanted, "127.0.0.1", () => probe.close(() => resolve(wanted)));
  });
}

function connects(to) {
  return new Promise((resolve) => {
    const socket = createConnection(to, "127.0.0.1");
    socket.on("connect", () => { socket.destroy(); resolve(true); });
    socket.on("error", () => resolve(false));
  });
}

async function awaitServer(at) {
  const end = Date.now() + PATIENCE_MS;
  while (!await connects(at)) {
    assert.ok(Date.now() < end, "the server does not start");
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
}

before(async () => {
  [port, httpPort] = [await freePort(), await freePort()];
  site = `http://127.0.0.1:${httpPort}`;
  folder = mkdtempSync(path.join(tmpdir(), "zsetd-page-"));
  server = spawn(process.env.ZSETD, ["--port", port, "--metrics-port", httpPort, "--dir", folder, "--save", "",
    "--slowlog-log-slower-than", "0", "--requirepass", "main",
    "--user", "viewer", "on", ">secret words", "~*", "+@read", "+info", "+slowlog", "+latency", "+select", "+ping",
    "--user", "narrow", "on", ">secret", "~mine:*", "+@read"].map(String), {stdio: "ignore"});
  process.env.REDISCLI_AUTH = "main";
  await awaitServer(port);
  for (let i = 0; i < 100; ++i) cli("ZADD", "board", String(i * 10), `player:${i}`);
  cli("PEXPIRE", "board", "6990000");
  cli("SET", "mine:greeting", "hallo");
  cli("SET", "<img src=x onerror=alert(1)>", "<b>bold</b>");
  cli("SET", "large", "x".repeat(5000));
  browser = await chromium.launch({executablePath: "/usr/bin/chromium", args: ["--no-sandbox"]});
});

after(async () => {
  await browser?.close();
  server?.kill("SIGKILL");
  rmSync(folder, {recursive: true, force: true});
});

beforeEach(async () => {
  page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  [requests, complaints] = [[], []];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => { if (message.type() === "error") complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => { complaints.push("a dialog"); dialog.dismiss(); });
  await page.goto(site);
  await page.waitForSelector("#login:not([hidden])");
  complaints.length = 0;  // the browser logs that a request without a login was refused
});

afterEach(async () => { await page.close(); });

async function logIn(user = "viewer", password = "secret words") {
  await page.fill("#user", user);
  await page.fill("#password", password);
  await page.keyboard.press("Enter");
}

const textOf = (selector) => page.locator(selector).innerText();
const shows = (selector, text) => page.locator(selector).filter({hasText: text}).first().waitFor();

async function type(line) {
  const before = await page.locator("#replies > div").count();
  await page.fill("#line", line);
  await page.keyboard.press("Enter");
  await page.locator("#replies > div").nth(before + 1).waitFor();
  return page.locator("#replies > div").nth(before + 1).innerText();
}

test("nothing is shown without a password", async () => {
  await page.waitForSelector("#login:not([hidden])");
  assert.ok(!(await textOf("body")).includes("board"));
  await logIn("viewer", "wrong");
  await shows("#refused", "The user or the password is wrong.");
  assert.equal(await page.locator("#overview").isVisible(), false);
});

test("the overview shows the server's figures, and they move", async () => {
  await logIn();
  await shows("#tiles", "keys");
  assert.equal(await page.locator("#tiles .tile", {hasText: "keys"}).locator("b").innerText(), cli("DBSIZE"));
  assert.equal(await page.locator("#charts figure").count(), 8);
  await shows("#tiles", "no replicas");
  await shows("#tiles", "no snapshot since the start");
  await page.waitForFunction(() => /L/.test(document.querySelector("#chart-commands path.s0")?.getAttribute("d")));
  for (let i = 0; i < 20; ++i) cli("ZADD", "other", String(i), "x");
  await shows("#commands tbody", "ZADD");
  await shows("#chart-latency .now", "µs");
  await shows("#chart-network .now", "B");
  await shows("#chart-busy .now", "%");
  const names = await page.locator("#commands tbody td:first-child").allInnerTexts();
  assert.ok(!names.includes("INFO") && !names.includes("LATENCY HISTOGRAM"), `${names} has the page's own calls`);
  assert.deepEqual(complaints, []);
});

test("the overview shows that a snapshot was saved, also after CONFIG RESETSTAT", async () => {
  await logIn();
  await shows("#tiles", "snapshot");
  cli("SAVE");
  cli("CONFIG", "RESETSTAT");
  await shows("#tiles", "since the last snapshot");
});

test("a chart shows the values under the pointer", async () => {
  await logIn();
  await page.waitForFunction(() => (charts?.memory.recent.length ?? 0) >= 3);
  const box = await page.locator("#chart-memory svg").boundingBox();
  await page.mouse.move(box.x + box.width - 2 * box.width / 29, box.y + 20);
  await shows("#chart-memory .axis span:last-child", "s ago");
  await page.mouse.move(0, 0);
  await shows("#chart-memory .axis span:last-child", "now");
});

test("charts begin with the points that the server keeps, also after a reload", async () => {
  const end = Date.now() / 1000;
  const points = Array.from({length: 360}, (_, i) =>
    [end - 10 * (360 - i), i, 5, 9, 1000, 2000, 3, 0, i % 2 ? 0.5 : null, 0.1, 0.2, 10, 20, 0]);
  await page.route("**/api/history", async (route) => {
    const response = await route.fetch();
    const real = await response.json();
    assert.ok(real.points.length > 0 && real.points[0].length === 14, JSON.stringify(real));
    await route.fulfill({json: {columns: real.columns, points}});
  });
  for (const time of ["first", "second"]) {
    await logIn();
    await page.waitForFunction(() => charts?.commands.recent.length >= 30, null, {polling: 50});
    await shows("#chart-commands .axis", "5 min ago");
    if (time === "second") break;
    await page.reload();
    await page.waitForSelector("#login:not([hidden])");
  }
  complaints.length = 0;  // as in beforeEach
  await page.click("#spans button:text('1 hour')");
  await page.waitForSelector("#spans button[aria-pressed=true]:text('1 hour')");
  await shows("#chart-commands .axis", "min ago");
  assert.ok(await page.evaluate(() => charts.commands.points().length) >= 360);
  const box = await page.locator("#chart-commands svg").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + 20);
  await shows("#chart-commands .axis span:last-child", /29|30 min ago/);
  assert.match(await textOf("#chart-commands .now"), /^1[78]\d$/);
  assert.deepEqual(complaints, []);
});

test("a line has a gap where figures are missing", async () => {
  const lines = await page.evaluate(() => linesOf([{at: 0, values: [1]}, {at: 10, values: [2]}, {at: 20, values: [null]},
    {at: 30, values: [3]}, {at: 60, values: [4]}], 0));
  assert.deepEqual(lines, [[[0, 1], [10, 2]], [[30, 3]], [[60, 4]]]);
});

test("keys are summed by prefix, and a prefix opens its parts", async () => {
  const long = "n".repeat(300);
  for (const key of ["app:user:1", "app:user:2", "app:job:1", `app:${long}:1`, "app*:x", "plain"]) cli("SET", key, "x".repeat(200));
  cli("PEXPIRE", "app:user:1", "500000");
  cli("PEXPIRE", "app:user:2", "400000");
  await logIn();
  await page.waitForSelector("#tiles .tile");
  await page.keyboard.press("2");
  await page.click("#scan-start");
  await shows("#scan-state", "the whole database");
  assert.equal(await page.evaluate(() => document.getElementById("scan-progress").value), 1);
  const rowOf = async (prefix) => (await page.locator("#prefixes tbody tr").allInnerTexts())
    .map((row) => row.split("\t")).find(([name]) => name === prefix);
  assert.equal((await rowOf("app:"))[1], "4");
  assert.equal((await rowOf("app*:"))[1], "1");
  const next = await page.locator("#next tbody tr td:first-child").allInnerTexts();
  assert.deepEqual(next.slice(0, 2), ["app:user:2", "app:user:1"]);
  await page.locator("#prefixes button", {hasText: "app:"}).first().press("Enter");
  await shows("#prefixes tbody", "app:user:");
  assert.equal(await page.inputValue("#pattern"), "app:*");
  assert.equal((await rowOf("app:user:"))[1], "2");
  assert.equal(await rowOf("app*:"), undefined);
  cli("DEL", "app:user:1", "app:user:2", "app:job:1", `app:${long}:1`, "app*:x", "plain");
  assert.deepEqual(complaints, []);
});

test("sums over a sample are estimates, and long keys fit in requests", async () => {
  cli("EVAL", "for i = 1, 1000 do redis.call('SET', string.rep('k', 150) .. ':' .. i, 'v') end", "0");
  await logIn();
  await page.waitForSelector("#tiles .tile");
  await page.keyboard.press("2");
  await page.fill("#sample", "300");
  await page.click("#scan-start");
  await shows("#scan-state", "a sample of ");
  const estimate = (await page.locator("#types .tile", {hasText: "string"}).locator("b").innerText()).replace("≈ ", "");
  assert.ok(Number(estimate) > 900 && Number(estimate) < 1100, estimate);
  cli("EVAL", "for i = 1, 1000 do redis.call('DEL', string.rep('k', 150) .. ':' .. i) end", "0");
  assert.deepEqual(complaints, []);
});

test("members show when they expire", async () => {
  cli("ZADDEX", "sessions", "EX", "1000", "MEMBERS", "2", "1", "anna", "2", "ben");
  cli("ZADDEX", "sessions", "EX", "500", "MEMBERS", "1", "3", "chen");
  cli("ZADD", "sessions", "4", "dora");
  await logIn();
  await page.waitForSelector("#tiles .tile");
  await page.keyboard.press("3");
  await page.fill("#key", "sessions");
  await page.fill("#member", "ben");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#set:not([hidden])");
  assert.match(await page.locator("#top tbody tr").first().innerText(), /0\s+dora\s+4\s+–/);
  assert.match(await page.locator("#bottom tbody tr").first().innerText(), /0\s+anna\s+1\s+1\d min/);
  assert.match(await page.locator("#neighbours tr.mark").innerText(), /1\s+ben\s+2\s+1\d min/);
  assert.match(await page.locator("#next-members tbody tr").first().innerText(), /chen\s+8 min/);
  assert.equal(await page.locator("#next-members tbody tr").count(), 3);
  assert.match(await textOf("#next-members-hint"), /3 of 4 members expire/);
  cli("DEL", "sessions");
  assert.deepEqual(complaints, []);
});

test("a server without a password shows no login form", async () => {
  const [openPort, openHttpPort] = [await freePort(), await freePort()];
  const open = spawn(process.env.ZSETD, ["--port", openPort, "--metrics-port", openHttpPort, "--io-threads", "2", "--dir", folder,
    "--save", ""].map(String), {stdio: "ignore"});
  try {
    await awaitServer(openHttpPort);
    await page.goto(`http://127.0.0.1:${openHttpPort}`);
    await page.waitForSelector("#tiles .tile");
    assert.equal(await page.locator("#login").isVisible(), false);
    assert.equal(await textOf("#leave"), "Log in");
    await shows("#threads-part", "requests per second");
    assert.equal(await page.locator("#threads tbody tr").count(), 2);
    assert.deepEqual(complaints, []);
  } finally {
    open.kill("SIGKILL");
  }
});

test("keys of other types open at the prompt", async () => {
  cli("HSET", "user", "name", "anna");
  cli("XADD", "readings", "7-1", "sensor", "cellar");
  await logIn();
  await page.waitForSelector("#tiles .tile");
  for (const [key, type, command, shown] of [
    ["user", "hash", "HSCAN user 0 COUNT 100", "anna"],
    ["readings", "stream", "XREVRANGE readings + - COUNT 20", "cellar"]]) {
    await page.keyboard.press("2");
    await page.fill("#pattern", key);
    await page.click("#scan-start");
    await shows("#types", type);
    await page.locator("#largest button", {hasText: key}).press("Enter");
    await shows("#replies", `> ${command}`);
    await shows("#replies", shown);
    cli("DEL", key);
    await page.keyboard.press("Escape");
  }
});

test("percentiles are between the bounds of the buckets", async () => {
  const found = await page.evaluate(() => [
    percentile(0.5, [[[8, 10], [16, 30]]], [[]]), percentile(1, [[[8, 10], [16, 30]]], [[]]),
    percentile(0.5, [[[8, 10], [16, 30]]], [[[8, 10]]]), percentile(0.5, [[]], [[]])]);
  assert.deepEqual(found, [10, 16, 12, null]);
});

test("figures are grey and an error is shown while the server does not respond", async () => {
  await logIn();
  await page.waitForSelector("#tiles .tile");
  await page.route("**/api/commands", (route) => route.abort());
  await shows("#problem", "The server does not respond.");
  await page.waitForSelector("body.stale");
  await page.unroute("**/api/commands");
  await page.waitForSelector("body:not(.stale)");
  await page.waitForSelector("#problem", {state: "hidden"});
});

// The contrast of two colours, "Web Content Accessibility Guidelines 2.1", 1.4.3.
function contrast(one, other) {
  const luminance = (colour) => {
    const digits = colour.length === 4 ? colour.replace(/[^#]/g, "$&$&") : colour;
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(digits.slice(at, at + 2), 16) / 255)
      .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

test("text has enough contrast in both themes", async () => {
  for (const theme of ["light", "dark"]) {
    const colours = await page.evaluate((name) => {
      document.documentElement.dataset.theme = name;
      const style = getComputedStyle(document.documentElement);
      return Object.fromEntries(["back", "card", "text", "quiet", "accent", "accent-soft", "second", "third", "bad",
        "bad-soft"].map((each) => [each, style.getPropertyValue(`--${each}`).trim()]));
    }, theme);
    for (const [text, back] of [["text", "back"], ["quiet", "back"], ["quiet", "card"], ["text", "accent-soft"],
      ["accent", "card"], ["second", "card"], ["third", "card"], ["bad", "bad-soft"], ["bad", "card"],
      ["card", "accent"]]) {
      const found = contrast(colours[text], colours[back]);
      assert.ok(found >= 4.5, `${theme}: ${text} on ${back} has ${found.toFixed(2)}`);
    }
  }
});

test("a phone has a header of one line, and the page does not scroll sideways", async () => {
  await page.setViewportSize({width: 390, height: 800});
  await logIn();
  await page.waitForSelector("#tiles .tile");
  assert.ok(await page.locator("header").evaluate((header) => header.offsetHeight) < 60);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 390);
});

test("an error stays until it is closed, and rows are reached by keyboard", async () => {
  await logIn();
  await page.waitForSelector("#tiles .tile");
  await page.keyboard.press("3");
  await page.fill("#key", "large");
  await page.keyboard.press("Enter");
  await shows("#problem", "WRONGTYPE");
  await page.waitForTimeout(5000);  // longer than two polls
  await shows("#problem", "WRONGTYPE");
  await page.locator("#close").press("Enter");
  await page.waitForSelector("#problem", {state: "hidden"});
  await page.fill("#key", "board");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#set:not([hidden])");
  await page.locator("#top tbody button").nth(1).press("Enter");
  await shows("#around-rank", "rank 98, 1 from the top");
  assert.deepEqual(complaints, []);
});

test("a sorted set is shown with ranks, neighbours, scores and time to live", async () => {
  await logIn();
  await page.waitForSelector("#tiles .tile");
  await page.keyboard.press("3");
  await page.fill("#key", "board");
  await page.fill("#member", "player:50");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#set:not([hidden])");
  assert.match(await textOf("#facts"), /100\s*members/);
  assert.match(await textOf("#facts"), /990\s*highest/);
  assert.match(await textOf("#facts"), /11\d min\s*time to live/);
  assert.match(await page.locator("#top tbody tr").first().innerText(), /0\s+player:99\s+990/);
  assert.match(await page.locator("#bottom tbody tr").first().innerText(), /0\s+player:0\s+0/);
  assert.match(await textOf("#around-rank"), /rank 50, 49 from the top, score 500/);
  assert.match(await page.locator("#neighbours tr.mark").innerText(), /50\s+player:50\s+500/);
  assert.equal(await page.locator("#neighbours tbody tr").count(), 11);
  const titles = await page.locator("#scores title").evaluateAll((all) => all.map((each) => parseInt(each.textContent)));
  assert.equal(titles.reduce((a, b) => a + b), 100, "each member is in one interval");
  assert.equal(await page.locator("#scores .bar.mark").count(), 1);
  await page.fill("#member", "nobody");
  await page.keyboard.press("Enter");
  await shows("#around-rank", "is not a member");
  await page.fill("#key", "nothing");
  await page.keyboard.press("Enter");
  await shows("#no-set", "There is no key nothing.");
  await page.fill("#key", "large");
  await page.keyboard.press("Enter");
  await shows("#problem", "WRONGTYPE");
  assert.deepEqual(complaints, []);
});

test("the largest keys are listed first, with links to the sorted set", async () => {
  await logIn();
  await page.waitForSelector("#tiles .tile");
  await page.keyboard.press("2");
  await page.click("#scan-start");
  await page.locator("#scan-stop").waitFor({state: "hidden"});
  await shows("#largest tbody", "large");
  const largest = await page.locator("#largest tbody tr td:first-child").allInnerTexts();
  assert.equal(largest[0], "large");
  assert.ok(largest.includes("<img src=x onerror=alert(1)>"), "names are text");
  assert.match(await textOf("#types"), /zset/);
  assert.match(await textOf("#scan-state"), new RegExp(`^${cli("DBSIZE")} keys`));
  await page.click("#largest .link:text('board')");
  await page.waitForSelector("#set:not([hidden])");
  assert.equal(await page.inputValue("#key"), "board");
  assert.deepEqual(complaints, []);
});

test("with an LFU policy the most frequently used keys come first", async () => {
  cli("CONFIG", "SET", "maxmemory-policy", "allkeys-lfu");
  cli("EVAL", "for i = 1, 2000 do redis.call('GET', KEYS[1]) end", "1", "mine:greeting");
  try {
    await logIn();
    await shows("#tiles", "keys");
    await page.keyboard.press("2");
    await page.fill("#pattern", "*e*");
    await page.keyboard.press("Enter");
    await page.locator("#scan-stop").waitFor({state: "hidden"});
    await shows("#used-title", "Most frequently used keys");
    await shows("#used tbody", "mine:greeting");
    assert.equal(await page.locator("#used tbody tr").first().locator("td").first().innerText(), "mine:greeting");
    assert.ok(!(await textOf("#used tbody")).includes("board"), "the pattern leaves it out");
  } finally {
    cli("CONFIG", "SET", "maxmemory-policy", "noeviction");
  }
});

test("the prompt accepts commands that read, and refuses writes", async () => {
  await logIn();
  await page.waitForSelector("#tiles .tile");
  await page.keyboard.press("5");
  assert.equal(await type("zrange board 0 1 withscores"), '1) "player:0"\n2) "0"\n3) "player:1"\n4) "10"');
  assert.equal(await type("zcard board"), "(integer) 100");
  assert.equal(await type('get "<img src=x onerror=alert(1)>"'), '"<b>bold</b>"');
  assert.equal(await type("get none"), "(nil)");
  assert.equal(await type("set a b"), "(error) ERR 'set' is not a read-only command");
  assert.equal(await type("flushall"), "(error) ERR 'flushall' is not a read-only command");
  assert.equal(await type("eval 'return 1' 0"), "(error) ERR 'eval' is not a read-only command");
  assert.match(await type('get "open'), /a quote is open/);
  await page.keyboard.press("ArrowUp");
  assert.equal(await page.inputValue("#line"), 'get "open');
  assert.equal(cli("EXISTS", "a"), "0");
  assert.deepEqual(complaints, []);
});

test("a user sees what the rules permit", async () => {
  await logIn("narrow", "secret");
  await shows("#problem", "NOPERM");
  await page.keyboard.press("5");
  assert.equal(await type("get mine:greeting"), '"hallo"');
  assert.match(await type("zcard board"), /NOPERM/);
});

test("the slow log has the commands, and values are text", async () => {
  await logIn();
  await page.waitForSelector("#tiles .tile");
  await page.keyboard.press("4");
  await shows("#slow-log tbody", "SLOWLOG GET 100");
  assert.deepEqual(complaints, []);
});

test("keyboard keys reach every view, and logging out removes all data", async () => {
  await logIn();
  await page.waitForSelector("#tiles .tile");
  const seen = [];
  for (const key of ["2", "4", "1"]) {
    await page.keyboard.press(key);
    seen.push(await page.locator("[role=tabpanel]:not([hidden])").getAttribute("id"));
  }
  assert.deepEqual(seen, ["keys", "slow", "overview"]);
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.id), "key");
  await page.keyboard.press("Escape");
  const theme = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await theme();
  await page.keyboard.press("t");
  assert.notEqual(await theme(), before);
  await page.click("#leave");
  await page.waitForSelector("#login:not([hidden])");
  assert.ok(!(await page.content()).includes("player:"));
  assert.equal(await page.inputValue("#password"), "");
});

test("all files are from this server, and a policy enforces it", async () => {
  await logIn();
  await page.waitForSelector("#tiles .tile");
  assert.deepEqual(requests.filter((url) => !url.startsWith(site)), []);
  const response = await fetch(site);
  const policy = response.headers.get("content-security-policy");
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  const run = await page.evaluate(() => new Promise((resolve) => {
    const script = document.createElement("script");
    script.textContent = "window.injected = true";
    document.body.append(script);
    resolve(window.injected === true);
  }));
  assert.equal(run, false, "a script in the page is not run");
});
