// What the tests of both Node clients need.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const port = Number(process.env.PORT);
export const isZsetd = process.env.SERVER === 'zsetd';

export async function waitUntil(claim, deadlineMs = 60_000) {
  const deadline = Date.now() + deadlineMs;
  while (!(await claim()) && Date.now() < deadline) await sleep(5);
  assert.ok(await claim());
}

// A time to live, in seconds, that was set since this process began.
export function assertFreshTtl(ttlS, setS) {
  assert.ok(ttlS <= setS && ttlS >= setS - Math.ceil(process.uptime()), `${ttlS} is not about ${setS}`);
}

// Runs the script in two processes, which begin together when both are ready, and gives what each
// tells at its end. Each is given a name and the arguments.
export async function race(script, ...givenArguments) {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const racers = ['left', 'right'].map((name) => fork(path, [name, ...givenArguments.map(String)]));
  const message = async (racer) => (await once(racer, 'message'))[0];
  const messages = () => Promise.all(racers.map(message));
  assert.deepEqual(await messages(), ['ready', 'ready']);
  const results = messages();
  for (const racer of racers) racer.send('go');
  return results;
}

// The racer's side: says that it is ready, and waits until both are.
export async function untilBothAreReady() {
  const go = once(process, 'message');
  process.send('ready');
  await go;
}
