// The recipes that take one call here, through the generic command call of ioredis.

import assert from 'node:assert/strict';
import test from 'node:test';

import Redis from 'ioredis';

import { assertFreshTtl, port } from './support.mjs';

const recipes = {
  async 'delayed jobs are served when they are due'(redis, worker) {
    const served = worker.call('BZPOPBYSCORE', 0, 'jobs', '-inf', 'nowms');
    const due = Date.now() + 200;
    assert.equal(await redis.call('ZADD', 'jobs', due, 'mail'), 1);
    const [key, job, score] = await served;
    assert.ok(Date.now() >= due);
    assert.deepEqual([key, job, Number(score)], ['jobs', 'mail', due]);
    assert.deepEqual(await redis.call('ZPOPBYSCORE', 'jobs', '-inf', 'nowms'), []);
  },

  async 'a recency list in one call'(redis) {
    for (const item of [1, 2, 3, 4]) {
      assert.equal(await redis.call('ZADD', 'seen', 'MAXLEN', 2, 'EX', 60, item, `item:${item}`), 1);
    }
    assert.deepEqual(await redis.zrange('seen', 0, -1), ['item:3', 'item:4']);
    assertFreshTtl(await redis.ttl('seen'), 60);
  },
};

for (const [name, recipe] of Object.entries(recipes)) {
  test(name, async (t) => {
    const redis = new Redis(port);
    const worker = new Redis(port);
    t.after(() => Promise.all([redis.quit(), worker.quit()]));
    await redis.flushall();
    await recipe(redis, worker);
  });
}
