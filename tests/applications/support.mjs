// The server under test, and waiting for what happens in its own time.

import { Redis } from "ioredis";

export const port = Number(process.env.PORT);
export const connection = { host: "127.0.0.1", port };

// A connection for the test itself, on an empty server.
export async function emptyServer() {
  const redis = new Redis({ ...connection, maxRetriesPerRequest: null });
  await redis.flushall();
  return redis;
}

export const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// Asks until `holds` answers something true; what it answered last.
export async function eventually(holds, patience = 20_000) {
  const deadline = Date.now() + patience;
  let answer = await holds();
  while (!answer && Date.now() < deadline) {
    await sleep(10);
    answer = await holds();
  }
  return answer;
}
