// Job queues: enqueue, delay, retry.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import BeeQueue from "bee-queue";
import Bull from "bull";
import resque from "node-resque";
import { connection, emptyServer, eventually } from "./support.mjs";

let redis;
before(async () => (redis = await emptyServer()));
after(() => redis.quit());

test("bull runs jobs immediately, later, again after a failure, and by priority", async () => {
  const queue = new Bull("work", { redis: connection });
  const order = [];
  let failures = 0;
  await queue.pause();
  await queue.add({ name: "low" }, { priority: 10 });
  await queue.add({ name: "high" }, { priority: 1 });
  await queue.add({ name: "delayed" }, { delay: 300 });
  await queue.add({ name: "failing" }, { attempts: 3, backoff: 50, priority: 20 });
  assert.equal((await queue.getJobCounts()).delayed, 1);
  queue.process(async (job) => {
    if (job.data.name === "failing" && failures++ < 2) throw new Error("not yet");
    order.push(job.data.name);
    return job.data.name.length;
  });
  await queue.resume();
  assert.ok(await eventually(async () => (await queue.getCompletedCount()) === 4));
  assert.deepEqual(order.slice(0, 2), ["high", "low"]);
  assert.deepEqual([...order].sort(), ["delayed", "failing", "high", "low"]);
  assert.equal(failures, 3);
  await queue.add({ name: "repeated" }, { repeat: { every: 100, limit: 2 } });
  assert.ok(await eventually(() => order.filter((name) => name === "repeated").length === 2));
  await queue.obliterate({ force: true });
  await queue.close();
});

test("bee-queue runs jobs, delayed ones and retries", async () => {
  const queue = new BeeQueue("bees", { redis: connection, activateDelayedJobs: true });
  const done = [];
  let failures = 0;
  await queue.ready();
  queue.process(async (job) => {
    if (job.data.name === "failing" && failures++ < 1) throw new Error("not yet");
    done.push(job.data.name);
    return 1;
  });
  await queue.createJob({ name: "now" }).save();
  await queue.createJob({ name: "failing" }).retries(2).save();
  await queue.createJob({ name: "later" }).delayUntil(Date.now() + 300).save();
  assert.ok(await eventually(() => done.length === 3));
  assert.deepEqual([...done].sort(), ["failing", "later", "now"]);
  assert.equal((await queue.checkHealth()).failed, 0);
  await queue.close();
});

test("node-resque enqueues, delays and locks", async () => {
  const options = { pkg: "ioredis", ...connection, password: null, database: 0 };
  const done = [];
  const jobs = { add: { perform: async (a, b) => void done.push(a + b) } };
  const queue = new resque.Queue({ connection: options }, jobs);
  await queue.connect();
  const scheduler = new resque.Scheduler({ connection: options, timeout: 50 });
  await scheduler.connect();
  await scheduler.start();
  const worker = new resque.Worker({ connection: options, queues: ["math"], timeout: 50 }, jobs);
  await worker.connect();
  await worker.start();
  await queue.enqueue("math", "add", [1, 2]);
  await queue.enqueueIn(200, "math", "add", [3, 4]);
  assert.ok(await eventually(() => done.length === 2));
  assert.deepEqual(done, [3, 7]);
  await worker.end();
  await scheduler.end();
  await queue.end();
});
