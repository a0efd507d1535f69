// One of two processes that write a reading of their own for the same timestamps. For each
// timestamp a transaction removes the current reading and adds its own. Reports how many readings
// it replaced.

import assert from 'node:assert/strict';

import { createClient } from 'redis';

import { port, untilBothAreReady } from './support.mjs';

const [writer, RESP, database, timestamps] = process.argv.slice(2);
const redis = await createClient({
  socket: { port }, RESP: Number(RESP), database: Number(database) }).connect();
await untilBothAreReady();
let replaced = 0;
for (let timestamp = 0; timestamp < timestamps; timestamp++) {
  const [removed, added] = await redis
    .multi()
    .zRemRangeByScore('readings', timestamp, timestamp)
    .zAdd('readings', { score: timestamp, value: `${writer}:${timestamp}` })
    .exec();
  assert.equal(added, 1);
  replaced += removed;
}
await redis.close();
process.send(replaced);
process.disconnect();
