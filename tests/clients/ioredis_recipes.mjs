// The five recipes through ioredis, in RESP2 and in RESP3, each in its own database.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';

import Redis from 'ioredis';

import { assertFreshTtl, isZsetd, port, race, waitUntil } from './support.mjs';
import * as topTen from './top_ten.mjs';

const now = 1531051200;
const racedTimestamps = 200;

const recipes = {
  async 'recency list keeps the latest and expires'(redis) {
    const view = (item, timestamp) =>
      Promise.all([
        redis.zadd('recent:ann', timestamp, item),
        redis.zremrangebyrank('recent:ann', 0, -4),
        redis.expire('recent:ann', 60),
      ]);
    for (const [second, item] of ['tea', 'jam', 'rye'].entries()) {
      assert.deepEqual(await view(item, now + second), [1, 0, 1]);
    }
    assert.deepEqual(await view('tea', now + 3), [0, 0, 1]);
    assert.deepEqual(await view('fig', now + 4), [1, 1, 1]);
    assert.deepEqual(await redis.zrevrange('recent:ann', 0, -1), ['fig', 'tea', 'rye']);
    assertFreshTtl(await redis.ttl('recent:ann'), 60);
    await redis.pexpire('recent:ann', 20);
    await waitUntil(async () => (await redis.exists('recent:ann')) === 0);
    assert.deepEqual(await redis.zrevrange('recent:ann', 0, -1), []);
  },

  async 'top ten of the last 24 hours in two calls'(redis) {
    await checkTopTen(redis, async (key, number) => {
      const [score, expires] = await Promise.all([
        redis.zincrby(key, 1, number),
        redis.expire(key, topTen.bucketTtlS),
      ]);
      assert.equal(expires, 1);
      return score;
    });
  },

  async 'chat list shows the last word of each room'(redis) {
    const say = async (room, timestamp, from, text) => {
      assert.equal(await redis.mset(`chat:${room}:from`, from, `chat:${room}:text`, text), 'OK');
      return redis.zadd('chats:ann', timestamp, room);
    };
    const chats = async () => {
      const rooms = await redis.zrevrange('chats:ann', 0, -1);
      return [rooms, await redis.mget(rooms.map((room) => `chat:${room}:text`))];
    };
    assert.equal(await say('work', now, 'bob', 'hello'), 1);
    assert.equal(await say('home', now + 1, 'eve', 'soup is ready'), 1);
    assert.equal(await say('work', now + 2, 'bob', 'anyone "here"?\r\n'), 0);
    assert.deepEqual(await chats(), [['work', 'home'], ['anyone "here"?\r\n', 'soup is ready']]);
    assert.equal(await redis.zrem('chats:ann', 'work', 'gym'), 1);
    assert.deepEqual(await chats(), [['home'], ['soup is ready']]);
    assert.deepEqual(await redis.mget('chat:work:from', 'chat:gym:from'), ['bob', null]);
  },

  async 'live events are heard and forgotten'(redis) {
    const listener = redis.duplicate();
    assert.equal(await listener.subscribe('events:new'), 1);
    for (let minute = 0; minute < 5; minute++) {
      const heard = once(listener, 'message');
      assert.equal(await redis.zadd('events', now + 60 * minute, `goal ${minute}`), 1);
      assert.equal(await redis.publish('events:new', `goal ${minute}`), 1);
      assert.deepEqual(await heard, ['events:new', `goal ${minute}`]);
    }
    await listener.quit();
    const lately = await redis.zrangebyscore('events', `(${now + 120}`, '+inf');
    assert.deepEqual(lately, ['goal 3', 'goal 4']);
    assert.equal(await redis.zcount('events', now + 60, now + 180), 3);
    assert.equal(await redis.zremrangebyscore('events', '-inf', `(${now + 120}`), 2);
    assert.equal(await redis.zcard('events'), 3);
  },

  async 'visitors are those whose heart beat lately'(redis) {
    for (const [visitor, second] of [['ann', 0], ['bob', 5], ['ann', 20], ['eve', 31]]) {
      await redis.zadd('visitors', now + second, visitor);
    }
    assert.equal(await redis.zremrangebyscore('visitors', '-inf', now + 31 - 20), 1);
    assert.equal(await redis.zcard('visitors'), 2);
    assert.deepEqual(await redis.zrange('visitors', 0, -1), ['ann', 'eve']);
  },

  async 'of two processes racing on a timestamp one element remains'(redis) {
    const { db, protocol } = redis.options;
    const replaced = await race('ioredis_racer.mjs', protocol, db, racedTimestamps);
    assert.equal(replaced[0] + replaced[1], racedTimestamps);
    const remaining = await redis.zrange('readings', 0, -1, 'WITHSCORES');
    const scores = remaining.filter((_, index) => index % 2 === 1).map(Number);
    assert.deepEqual(scores, [...Array(racedTimestamps).keys()]);
  },

  async 'expiring set as a list of keys'(redis) {
    for (const [number, ttlS] of [100, 200, 300].entries()) {
      assert.equal(await redis.lpush('sessions', `session:${number}`), number + 1);
      assert.equal(await redis.set(`session:${number}`, `ticket ${number}`), 'OK');
      assert.equal(await redis.expire(`session:${number}`, ttlS), 1);
    }
    await redis.pexpire('session:1', 20);
    await waitUntil(async () => (await redis.ttl('session:1')) === -2);
    const keys = await redis.lrange('sessions', 0, -1);
    assert.deepEqual(keys, ['session:2', 'session:1', 'session:0']);
    assert.deepEqual(await redis.mget(keys), ['ticket 2', null, 'ticket 0']);
    assertFreshTtl(await redis.ttl('session:2'), 300);
    assert.equal(await redis.lrem('sessions', 0, 'session:1'), 1);
    assert.deepEqual(await redis.lrange('sessions', 0, -1), ['session:2', 'session:0']);
  },
};

if (isZsetd) {
  recipes['top ten of the last 24 hours in one call'] = (redis) =>
    checkTopTen(redis, (key, number) =>
      redis.zadd(key, 1, number, 'INCR', 'EX', topTen.bucketTtlS));
}

// `count` adds 1 to the count of a number in a bucket and returns the new score.
async function checkTopTen(redis, count) {
  const lookups = topTen.randomLookups(topTen.printedSeed());
  const keys = [...lookups.keys()];
  for (const [key, numbers] of lookups) {
    const scores = await Promise.all(numbers.map((number) => count(key, number)));
    assert.deepEqual(scores.map(Number), topTen.runningCounts(numbers));
    const trimmed = await redis.zremrangebyrank(key, 0, -topTen.kept - 1);
    assert.equal(trimmed, Math.max(0, new Set(numbers).size - topTen.kept));
    assertFreshTtl(await redis.ttl(key), topTen.bucketTtlS);
  }
  await redis.zunionstore('top', keys.length, ...keys);
  assert.equal(await redis.expire('top', topTen.topTtlS), 1);
  const expected = topTen.topTen(lookups);
  assert.deepEqual(await redis.zrange('top', -10, -1), expected.map(([number]) => number));
  const highestFirst = await redis.zrange('top', 0, 9, 'REV', 'WITHSCORES');
  assert.deepEqual(highestFirst, expected.reverse().flatMap(([n, score]) => [n, String(score)]));
  assert.equal(await redis.del('top', ...keys), 25);
}

for (const protocol of [2, 3]) {
  for (const [name, recipe] of Object.entries(recipes)) {
    test(`${name}, in RESP${protocol}`, { timeout: 30000 }, async () => {
      const redis = new Redis({ port, protocol, db: protocol });
      try {
        await recipe(redis);
      } finally {
        await redis.quit();
      }
    });
  }
}
