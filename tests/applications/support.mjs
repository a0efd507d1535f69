// Connects to the server under test, and waits for asynchronous results.

import { Redis } from "ioredis";

export const port = Number(process.env.PORT);
export const connection = { host: "127.0.0.1", port };

// Returns a connection for the test itself, to an empty server.
export async function emptyServer() {
  const redis = new Redis({ ...connection, maxRetriesPerRequest: null });
  await redis.flushall();
  return redis;
}

export const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// Calls `holds` until it returns a true value. Returns the last value.
export async function eventually(holds, patience = 20_000) {
  const deadline = Date.now() + patience;
  let answer = await holds();
  while (!answer && Date.now() < deadline) {
    await sleep(10);
    answer = await holds();
  }
  return answer;
}
