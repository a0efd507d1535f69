// One of two processes that write a reading of their own for the same timestamps. For each
// timestamp a transaction removes the current reading and adds its own. Reports how many readings
// it replaced.

import assert from 'node:assert/strict';

import Redis from 'ioredis';

import { port, untilBothAreReady } from './support.mjs';

const [writer, protocol, db, timestamps] = process.argv.slice(2);
const redis = new Redis({ port, protocol: Number(protocol), db: Number(db) });
await redis.ping();
await untilBothAreReady();
let replaced = 0;
for (let timestamp = 0; timestamp < timestamps; timestamp++) {
  const [[, removed], [, added]] = await redis
    .multi()
    .zremrangebyscore('readings', timestamp, timestamp)
    .zadd('readings', timestamp, `${writer}:${timestamp}`)
    .exec();
  assert.equal(added, 1);
  replaced += removed;
}
await redis.quit();
process.send(replaced);
process.disconnect();
