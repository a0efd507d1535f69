// Draws the screenshots of docs/images again. Run it on a quiet machine, and look at them before the commit:
//
//   cd tests/server/http && ZSETD=../../../build/release/zsetd node screenshots.mjs

import {execFileSync, spawn} from "node:child_process";
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import path from "node:path";
import {fileURLToPath} from "node:url";

import {chromium} from "playwright-core";

const IMAGES = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../../docs/images");
const [PORT, HTTP_PORT, REPLICA_PORT] = [27391, 27392, 27393];
const POLLS = 40;  // enough for charts with a shape

// Scores with a normal distribution: sums of twelve random numbers.
const BOARD = `for player = 1, ARGV[1] do
  local score = 0
  for _ = 1, 12 do score = score + math.random(0, 200) end
  redis.call('ZADD', KEYS[1], score, string.format('player:%012d', player))
end`;

const folder = mkdtempSync(path.join(tmpdir(), "zsetd-screenshots-"));
const start = (...options) => spawn(process.env.ZSETD, ["--save", "", "--dir", folder, ...options.map(String)], {stdio: "ignore"});
const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
const cli = (...words) => execFileSync("redis-cli", ["-p", PORT, ...words.map(String)]);

// Requests of an application: players get points, sessions are read and expire.
function load(round) {
  const rate = 1500 + 900 * Math.sin(round / 5);
  for (const words of [["ZINCRBY", "board", "3", "player:__rand_int__"], ["GET", "session:__rand_int__"],
    ["SET", "session:__rand_int__", "active", "PX", "4000"], ["ZRANGE", "board", "0", "9", "REV"]]) {
    execFileSync("redis-benchmark", ["-p", PORT, "-n", Math.round(rate), "-r", "20000", "-c", "8", "-q", ...words].map(String),
      {stdio: "ignore"});
  }
}

async function shoot(page) {
  await page.goto(`http://127.0.0.1:${HTTP_PORT}`);
  for (let round = 0; round < POLLS; ++round) {
    load(round);
    await sleep(1500);
  }
  await page.screenshot({path: path.join(IMAGES, "page-overview.png")});
  await page.keyboard.press("3");
  await page.fill("#key", "board");
  await page.fill("#member", "player:000000004711");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#set:not([hidden])");
  await page.screenshot({path: path.join(IMAGES, "page-sorted-set.png")});
}

const servers = [
  start("--port", PORT, "--metrics-port", HTTP_PORT),
  start("--port", REPLICA_PORT, "--replicaof", `127.0.0.1 ${PORT}`),
];
const browser = await chromium.launch({executablePath: "/usr/bin/chromium", args: ["--no-sandbox"]});
try {
  await sleep(2000);
  cli("EVAL", BOARD, "1", "board", "20000");
  await shoot(await browser.newPage({viewport: {width: 1240, height: 860}}));
} finally {
  await browser.close();
  for (const server of servers) server.kill();
  rmSync(folder, {recursive: true, force: true});
}
