// The recipes that need only one call on zsetd, through the generic command call of ioredis.

import assert from 'node:assert/strict';
import { once } from 'node:events';
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

  async 'more points first, then the earlier one'(redis) {
    const form = ['FORM', 'TUPLE', 32, '31:DESC', 'END'];
    await redis.call('ZADD', 'game', ...form, '3100/1795478000', 'anna', '3100/1795477000', 'ben');
    assert.deepEqual(await redis.zrevrange('game', 0, -1), ['ben', 'anna']);
    await redis.call('ZADD', 'ids', 'FORM', 'INT64', '9007199254740993', 'post:1');
    assert.equal(BigInt(await redis.zscore('ids', 'post:1')), 9007199254740993n);
  },

  async 'trending posts'(redis) {
    const form = ['FORM', 'HALFLIFE', 86400, 'MAXLEN', 10000];
    for (const [votes, post] of [[1, 'post:1'], [5, 'post:2'], [3, 'post:3'], [3, 'post:1']]) {
      await redis.call('ZINCRBY', 'trending', votes, post, ...form);
    }
    assert.deepEqual(await redis.zrevrange('trending', 0, 1), ['post:2', 'post:1']);
    const score = Number(await redis.zscore('trending', 'post:1'));
    assert.ok(score > 3.99 && score <= 4);
    assert.equal(await redis.zcount('trending', 2, '+inf'), 3);
  },

  async 'a job whose worker dies is lost unless it is leased'(redis, steady) {
    const doomed = redis.duplicate();
    const due = Date.now();
    await redis.zadd('jobs', due - 2, 'mail', due - 1, 'report');
    const lease = (worker, time) =>
      worker.call('BZMOVEBYSCORE', 0, 'jobs', 'running', '-inf', 'nowms', 'ADD', time);
    assert.equal((await doomed.call('BZPOPBYSCORE', 0, 'jobs', '-inf', 'nowms'))[1], 'mail');
    assert.equal((await lease(doomed, 200))[1], 'report');
    const leaseEnds = Number(await redis.zscore('running', 'report'));
    doomed.disconnect();

    let found = [];
    while (found.length === 0) {
      found = await steady.call('ZMOVEBYSCORE', 'running', 'jobs', '-inf', 'nowms', 'COUNT', 100);
    }
    assert.ok(Date.now() >= leaseEnds);
    assert.equal((await lease(steady, 30000))[1], 'report');
    assert.equal(await steady.zrem('running', 'report'), 1);
    assert.equal(await redis.exists('jobs', 'running'), 0);
  },

  async 'jobs with their data'(redis) {
    const added = await redis.multi().zadd('jobs', 10, 'job:1', 20, 'job:2')
      .call('ZSETDATA', 'jobs', 'job:1', 'mail anna', 'job:2', Buffer.from([0, 255])).exec();
    assert.deepEqual(added, [[null, 2], [null, 2]]);
    assert.deepEqual(await redis.call('ZMOVEBYSCORE', 'jobs', 'running', '-inf', 15, 'WITHDATA'),
                     ['job:1', '10', 'mail anna']);
    assert.deepEqual(await redis.call('ZGETDATA', 'running', 'job:1', 'job:2'), ['mail anna', null]);
    const [job, data] = (await redis.callBuffer('ZRANGE', 'jobs', 0, -1, 'WITHDATA')).flat();
    assert.deepEqual([job.toString(), [...data]], ['job:2', [0, 255]]);
    assert.equal(await redis.zrem('running', 'job:1'), 1);
    assert.equal(await redis.zadd('running', 1, 'job:1'), 1);
    assert.deepEqual(await redis.call('ZGETDATA', 'running', 'job:1'), [null]);
  },

  async 'a recency list in one call'(redis) {
    for (const item of [1, 2, 3, 4]) {
      assert.equal(await redis.call('ZADD', 'seen', 'MAXLEN', 2, 'EX', 60, item, `item:${item}`), 1);
    }
    assert.deepEqual(await redis.zrange('seen', 0, -1), ['item:3', 'item:4']);
    assertFreshTtl(await redis.ttl('seen'), 60);
  },

  async 'a leaderboard'(redis) {
    await redis.zadd('scores', 50, 'ann', 40, 'bob', 40, 'cid', 30, 'dan');
    assert.equal(await redis.call('ZREVRANK', 'scores', 'bob', 'TIES', 'COMPETITION'), 1);
    assert.deepEqual(await redis.call('ZMRANK', 'scores', 'ann', 'none'), [3, null]);
    assert.equal(await redis.call('ZRANKOF', 'scores', 45, 'REV'), 1);
    assert.deepEqual(await redis.call('ZRANGE', 'scores', 0, -1, 'MATCH', '?o?'), ['bob']);
    assert.deepEqual(await redis.call('ZADD', 'scores', 'IFEQ', 50, 'GET', 51, 'ann'), ['50']);
    assert.deepEqual(await redis.call('ZADD', 'scores', 'IFEQ', 50, 'GET', 50, 'ann'), ['51']);
    await redis.zadd('scores', 50, 'ann');
    const around = await redis.call('ZAROUND', 'scores', 'cid', 1, 1, 'REV', 'WITHSCORES');
    assert.deepEqual([around[0], around[1].flat()], [1, ['ann', '50', 'cid', '40', 'bob', '40']]);
    assert.equal(await redis.call('ZMOVE', 'scores', 'league', 'ann', 'bob'), 2);
    assert.deepEqual(await redis.zrange('scores', 0, -1), ['dan', 'cid']);
  },

  async 'the top ten without a temporary key'(redis) {
    await redis.zadd('a', 1, 'x', 2, 'y', 3, 'z');
    await redis.zadd('b', 10, 'x');
    const top = await redis.call('ZUNION', 2, 'a', 'b', 'REV', 'LIMIT', 0, 2, 'WITHSCORES');
    assert.deepEqual(top.flat(), ['x', '11', 'z', '3']);
  },

  async 'members expire'(redis) {
    assert.equal(await redis.call('ZADDEX', 'online', 'EX', 60, 'MEMBERS', 1, 17, 'user:42'), 1);
    await assert.rejects(redis.call('ZADDEX', 'online', 'EX', 0, 'MEMBERS', 1, 3, 'user:7'), /expire time/);
    assert.equal(await redis.call('ZADDEX', 'online', 'INCR', 'EX', 60, 'MEMBERS', 1, 1, 'user:42'), '18');
    assert.deepEqual(await redis.zrange('online', 0, -1), ['user:42']);
    const [left] = await redis.call('ZTTL', 'online', 'MEMBERS', 1, 'user:42');
    assertFreshTtl(left, 60);
    assert.deepEqual(await redis.call('ZPERSIST', 'online', 'MEMBERS', 2, 'user:42', 'user:7'), [1, -2]);
    assert.deepEqual(await redis.call('ZEXPIRE', 'online', 0, 'MEMBERS', 1, 'user:42'), [2]);
    assert.equal(await redis.exists('online'), 0);
  },

  async 'changes of members are announced'(redis, listener) {
    await redis.config('SET', 'notify-keyspace-events', 'Iz');
    const announced = once(listener, 'message');
    await listener.subscribe('__subkeyspaceitem@0__:scores\nanna');
    await redis.zadd('scores', 1, 'bert', 2, 'anna');
    assert.deepEqual(await announced, ['__subkeyspaceitem@0__:scores\nanna', 'zadd']);
    await redis.config('SET', 'notify-keyspace-events', '');
  },

  async 'a live top two'(redis, listener) {
    await redis.config('SET', 'notify-keyspace-events', 'r');
    await redis.zadd('scores', 3800, 'bert', 3000, 'carl');
    const announced = once(listener, 'message');
    await listener.subscribe('__toprev@0__:2:scores');
    await redis.zadd('scores', 4200, 'anna', 10, 'dora', 3900, 'bert');
    assert.deepEqual(await announced, [
      '__toprev@0__:2:scores',
      'out carl\nin 0 4200 anna\nmove 0 1 3900 bert',
    ]);
    await redis.config('SET', 'notify-keyspace-events', '');
  },

  async 'integers that a score cannot hold are refused'(redis) {
    await redis.config('SET', 'zset-refuse-inexact-integers', 'yes');
    await assert.rejects(redis.call('ZADD', 'timeline', '9007199254740993', 'post'), /exactly/);
    await redis.config('SET', 'zset-refuse-inexact-integers', 'no');
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
