// The five recipes through node-redis, in RESP2 and in RESP3, each in its own database.

import assert from 'node:assert/strict';
import test from 'node:test';

import { createClient } from 'redis';

import { assertFreshTtl, isZsetd, port, race, waitUntil } from './support.mjs';
import * as topTen from './top_ten.mjs';

const now = 1531051200;
const racedTimestamps = 200;

const recipes = {
  async 'recency list keeps the latest and expires'(redis) {
    const view = (value, timestamp) =>
      Promise.all([
        redis.zAdd('recent:ann', { score: timestamp, value }),
        redis.zRemRangeByRank('recent:ann', 0, -4),
        redis.expire('recent:ann', 60),
      ]);
    const latest = () => redis.zRange('recent:ann', 0, -1, { REV: true });
    for (const [second, item] of ['tea', 'jam', 'rye'].entries()) {
      assert.deepEqual(await view(item, now + second), [1, 0, 1]);
    }
    assert.deepEqual(await view('tea', now + 3), [0, 0, 1]);
    assert.deepEqual(await view('fig', now + 4), [1, 1, 1]);
    assert.deepEqual(await latest(), ['fig', 'tea', 'rye']);
    assertFreshTtl(await redis.ttl('recent:ann'), 60);
    await redis.pExpire('recent:ann', 20);
    await waitUntil(async () => (await redis.exists('recent:ann')) === 0);
    assert.deepEqual(await latest(), []);
  },

  async 'top ten of the last 24 hours in two calls'(redis) {
    await checkTopTen(redis, async (key, number) => {
      const [score, expires] = await Promise.all([
        redis.zIncrBy(key, 1, number),
        redis.expire(key, topTen.bucketTtlS),
      ]);
      assert.equal(expires, 1);
      return score;
    });
  },

  async 'chat list shows the last word of each room'(redis) {
    const say = async (room, timestamp, from, text) => {
      const words = { [`chat:${room}:from`]: from, [`chat:${room}:text`]: text };
      assert.equal(await redis.mSet(words), 'OK');
      return redis.zAdd('chats:ann', { score: timestamp, value: room });
    };
    const chats = async () => {
      const rooms = await redis.zRange('chats:ann', 0, -1, { REV: true });
      return [rooms, await redis.mGet(rooms.map((room) => `chat:${room}:text`))];
    };
    assert.equal(await say('work', now, 'bob', 'hello'), 1);
    assert.equal(await say('home', now + 1, 'eve', 'soup is ready'), 1);
    assert.equal(await say('work', now + 2, 'bob', 'anyone "here"?\r\n'), 0);
    assert.deepEqual(await chats(), [['work', 'home'], ['anyone "here"?\r\n', 'soup is ready']]);
    assert.equal(await redis.zRem('chats:ann', ['work', 'gym']), 1);
    assert.deepEqual(await chats(), [['home'], ['soup is ready']]);
    assert.deepEqual(await redis.mGet(['chat:work:from', 'chat:gym:from']), ['bob', null]);
  },

  async 'live events are heard and forgotten'(redis) {
    const listener = await redis.duplicate().connect();
    const heard = [];
    await listener.subscribe('events:new', (event) => heard.push(event));
    for (let minute = 0; minute < 5; minute++) {
      const event = { score: now + 60 * minute, value: `goal ${minute}` };
      assert.equal(await redis.zAdd('events', event), 1);
      assert.equal(await redis.publish('events:new', event.value), 1);
      await waitUntil(() => heard.at(-1) === event.value);
    }
    await listener.unsubscribe('events:new');
    await listener.close();
    assert.deepEqual(heard, ['goal 0', 'goal 1', 'goal 2', 'goal 3', 'goal 4']);
    const lately = await redis.zRangeByScore('events', `(${now + 120}`, '+inf');
    assert.deepEqual(lately, ['goal 3', 'goal 4']);
    assert.equal(await redis.zCount('events', now + 60, now + 180), 3);
    assert.equal(await redis.zRemRangeByScore('events', '-inf', `(${now + 120}`), 2);
    assert.equal(await redis.zCard('events'), 3);
  },

  async 'visitors are those whose heart beat lately'(redis) {
    for (const [value, second] of [['ann', 0], ['bob', 5], ['ann', 20], ['eve', 31]]) {
      await redis.zAdd('visitors', { score: now + second, value });
    }
    assert.equal(await redis.zRemRangeByScore('visitors', '-inf', now + 31 - 20), 1);
    assert.equal(await redis.zCard('visitors'), 2);
    assert.deepEqual(await redis.zRange('visitors', 0, -1), ['ann', 'eve']);
  },

  async 'of two processes racing on a timestamp one element remains'(redis) {
    const { database, RESP } = redis.options;
    const replaced = await race('node_redis_racer.mjs', RESP, database, racedTimestamps);
    assert.equal(replaced[0] + replaced[1], racedTimestamps);
    const remaining = await redis.zRangeWithScores('readings', 0, -1);
    assert.deepEqual(remaining.map(({ score }) => score), [...Array(racedTimestamps).keys()]);
  },

  async 'expiring set as a list of keys'(redis) {
    for (const [number, ttlS] of [100, 200, 300].entries()) {
      assert.equal(await redis.lPush('sessions', `session:${number}`), number + 1);
      assert.equal(await redis.set(`session:${number}`, `ticket ${number}`), 'OK');
      assert.equal(await redis.expire(`session:${number}`, ttlS), 1);
    }
    await redis.pExpire('session:1', 20);
    await waitUntil(async () => (await redis.ttl('session:1')) === -2);
    const keys = await redis.lRange('sessions', 0, -1);
    assert.deepEqual(keys, ['session:2', 'session:1', 'session:0']);
    assert.deepEqual(await redis.mGet(keys), ['ticket 2', null, 'ticket 0']);
    assertFreshTtl(await redis.ttl('session:2'), 300);
    assert.equal(await redis.lRem('sessions', 0, 'session:1'), 1);
    assert.deepEqual(await redis.lRange('sessions', 0, -1), ['session:2', 'session:0']);
  },
};

if (isZsetd) {
  recipes['top ten of the last 24 hours in one call'] = (redis) =>
    checkTopTen(redis, (key, number) =>
      redis.sendCommand(['ZADD', key, '1', number, 'INCR', 'EX', String(topTen.bucketTtlS)]));
}

// `count` adds 1 to the count of a number in a bucket and returns the new score.
async function checkTopTen(redis, count) {
  const lookups = topTen.randomLookups(topTen.printedSeed());
  const keys = [...lookups.keys()];
  for (const [key, numbers] of lookups) {
    const scores = await Promise.all(numbers.map((number) => count(key, number)));
    assert.deepEqual(scores.map(Number), topTen.runningCounts(numbers));
    const trimmed = await redis.zRemRangeByRank(key, 0, -topTen.kept - 1);
    assert.equal(trimmed, Math.max(0, new Set(numbers).size - topTen.kept));
    assertFreshTtl(await redis.ttl(key), topTen.bucketTtlS);
  }
  await redis.zUnionStore('top', keys);
  assert.equal(await redis.expire('top', topTen.topTtlS), 1);
  const expected = topTen.topTen(lookups);
  assert.deepEqual(await redis.zRange('top', -10, -1), expected.map(([value]) => value));
  const highestFirst = await redis.zRangeWithScores('top', 0, 9, { REV: true });
  assert.deepEqual(highestFirst.map(({ value, score }) => [value, score]), expected.reverse());
  assert.equal(await redis.del(['top', ...keys]), 25);
}

for (const RESP of [2, 3]) {
  for (const [name, recipe] of Object.entries(recipes)) {
    test(`${name}, in RESP${RESP}`, { timeout: 30000 }, async () => {
      const redis = await createClient({ socket: { port }, RESP, database: RESP }).connect();
      try {
        await recipe(redis);
      } finally {
        await redis.close();
      }
    });
  }
}
