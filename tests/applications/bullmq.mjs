// BullMQ: jobs in streams and sorted sets, through scripts.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FlowProducer, Queue, QueueEvents, Worker } from "bullmq";
import { connection, emptyServer, eventually, sleep } from "./support.mjs";

const options = { connection: { ...connection, maxRetriesPerRequest: null } };
let redis;
before(async () => (redis = await emptyServer()));
after(() => redis.quit());

test("jobs run by priority, later, again after failures, and report events", async () => {
  const queue = new Queue("work", options);
  const events = new QueueEvents("work", options);
  await events.waitUntilReady();
  const completed = [];
  events.on("completed", ({ jobId }) => completed.push(jobId));
  await queue.pause();
  await queue.add("low", {}, { priority: 10 });
  await queue.add("high", {}, { priority: 1 });
  await queue.add("delayed", {}, { delay: 300 });
  const failing = await queue.add("failing", {}, { attempts: 3, backoff: 50, priority: 20 });
  const order = [];
  let failures = 0;
  const worker = new Worker("work", async (job) => {
    if (job.name === "failing" && failures++ < 2) throw new Error("not yet");
    order.push(job.name);
    await job.updateProgress(100);
    return job.name.length;
  }, options);
  await queue.resume();
  assert.equal(await failing.waitUntilFinished(events, 20_000), "failing".length);
  assert.ok(await eventually(async () => (await queue.getCompletedCount()) === 4));
  assert.deepEqual(order.slice(0, 2), ["high", "low"]);
  assert.deepEqual([...order].sort(), ["delayed", "failing", "high", "low"]);
  assert.equal(failures, 2 + 1);
  assert.ok(await eventually(() => completed.length === 4));
  assert.ok((await redis.xlen("bull:work:events")) > 0);
  await queue.trimEvents(1);
  assert.ok((await redis.xlen("bull:work:events")) < 100);
  await worker.close();
  await events.close();
  await queue.obliterate({ force: true });
  await queue.close();
});

test("a job whose worker has ended is recovered by another one", async () => {
  const queue = new Queue("stalled", options);
  const settings = { ...options, lockDuration: 400, stalledInterval: 300, maxStalledCount: 2 };
  const runs = [];
  const lost = new Worker("stalled", null, settings);
  await queue.add("job", { number: 7 });
  const job = await lost.getNextJob("token of the lost worker");
  assert.equal(job.data.number, 7);
  await lost.close(true);
  const worker = new Worker("stalled", async (recovered) => runs.push(recovered.data.number), settings);
  assert.ok(await eventually(async () => (await queue.getCompletedCount()) === 1));
  assert.deepEqual(runs, [7]);
  await worker.close();
  await queue.close();
});

test("parents wait for their children, and schedulers repeat jobs", async () => {
  const flow = new FlowProducer(options);
  const queue = new Queue("flow", options);
  const order = [];
  const worker = new Worker("flow", async (job) => {
    order.push(job.name);
    if (job.name === "parent") return Object.values(await job.getChildrenValues()).sort();
    return job.data.value;
  }, options);
  const child = (value) => ({ name: "child", queueName: "flow", data: { value } });
  const { job } = await flow.add({ name: "parent", queueName: "flow", children: [child(1), child(2)] });
  assert.ok(await eventually(async () => (await job.getState()) === "completed"));
  assert.deepEqual((await queue.getJob(job.id)).returnvalue, [1, 2]);
  assert.deepEqual(order, ["child", "child", "parent"]);
  await queue.upsertJobScheduler("every", { every: 100, limit: 2 }, { name: "repeated" });
  assert.ok(await eventually(() => order.filter((name) => name === "repeated").length >= 2));
  await worker.close();
  await queue.close();
  await flow.close();
});

test("many jobs run once each on several workers", async () => {
  const queue = new Queue("many", options);
  const runs = new Map();
  const run = async (job) => {
    runs.set(job.data.number, (runs.get(job.data.number) ?? 0) + 1);
    await sleep(1);
  };
  const workers = [1, 2, 3].map(() => new Worker("many", run, { ...options, concurrency: 10 }));
  const numbers = Array.from({ length: 500 }, (_, number) => number);
  await queue.addBulk(numbers.map((number) => ({ name: "job", data: { number } })));
  assert.ok(await eventually(async () => (await queue.getCompletedCount()) === numbers.length));
  assert.deepEqual([...runs.keys()].sort((a, b) => a - b), numbers);
  assert.ok([...runs.values()].every((count) => count === 1));
  await Promise.all(workers.map((worker) => worker.close()));
  await queue.close();
});
