// Locks and rate limiters.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import Bottleneck from "bottleneck";
import RedisStore from "rate-limit-redis";
import { RateLimiterRedis, RateLimiterQueue } from "rate-limiter-flexible";
import * as redlockModule from "redlock";
import { connection, emptyServer, sleep } from "./support.mjs";

const Redlock = redlockModule.default.default ?? redlockModule.default;

let redis;
before(async () => (redis = await emptyServer()));
after(() => redis.quit());

test("redlock takes, extends and releases a lock", async () => {
  const lock = new Redlock([redis], { retryCount: 0 });
  let held = await lock.acquire(["resource"], 60_000);
  await assert.rejects(lock.acquire(["resource"], 60_000));
  held = await held.extend(60_000);
  await held.release();
  held = await lock.acquire(["resource", "other"], 60_000);
  await held.release();
  assert.equal(await redis.exists("resource"), 0);
});

// Runs the test with a window of one second, and again with a longer window if the machine was too
// slow.
async function inAWindow(run) {
  for (const seconds of [1, 4, 16]) {
    const start = Date.now();
    try {
      await run(seconds, `window${seconds}`);
      return seconds;
    } catch (error) {
      if (Date.now() - start < seconds * 1000 || seconds === 16) throw error;
    }
  }
}

test("rate-limiter-flexible counts, blocks and forgets", async () => {
  let limiter;
  const seconds = await inAWindow(async (duration, keyPrefix) => {
    limiter = new RateLimiterRedis({ storeClient: redis, points: 3, duration, keyPrefix });
    for (const left of [2, 1, 0]) assert.equal((await limiter.consume("key")).remainingPoints, left);
    await assert.rejects(limiter.consume("key"), (refusal) => refusal.msBeforeNext > 0);
    await limiter.reward("key", 1);
    assert.equal((await limiter.get("key")).consumedPoints, 3);
  });
  await sleep(1100 * seconds);
  assert.equal((await limiter.consume("key")).remainingPoints, 2);
  const queue = new RateLimiterQueue(new RateLimiterRedis({ storeClient: redis, points: 2, duration: 1, keyPrefix: "q" }));
  for (let i = 0; i < 3; ++i) await queue.removeTokens(1, "key");
});

test("rate-limit-redis counts in a window", async () => {
  let store;
  const seconds = await inAWindow(async (duration, prefix) => {
    store = new RedisStore({ sendCommand: (...words) => redis.call(...words), prefix });
    store.init({ windowMs: 1000 * duration });
    assert.equal((await store.increment("key")).totalHits, 1);
    assert.equal((await store.increment("key")).totalHits, 2);
    await store.decrement("key");
    assert.equal((await store.get("key")).totalHits, 1);
  });
  await sleep(1100 * seconds);
  assert.equal((await store.increment("key")).totalHits, 1);
});

test("bottleneck limits what runs at a time, over several limiters", async () => {
  const options = { id: "limited", datastore: "ioredis", clientOptions: connection, maxConcurrent: 2, minTime: 20, clearDatastore: true };
  const limiter = new Bottleneck(options);
  await limiter.ready();
  let running = 0;
  let most = 0;
  const work = async () => {
    most = Math.max(most, ++running);
    await sleep(30);
    --running;
  };
  await Promise.all(Array.from({ length: 8 }, () => limiter.schedule(work)));
  assert.ok(most <= 2);
  const bounded = new Bottleneck({ ...options, id: "reservoir", reservoir: 2 });
  await bounded.ready();
  await bounded.schedule(work);
  await bounded.schedule(work);
  assert.equal(await bounded.currentReservoir(), 0);
  await bounded.disconnect();
  await limiter.disconnect();
});
