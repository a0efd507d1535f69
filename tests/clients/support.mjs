// Functions that the tests of both Node clients share.

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

// Checks a time to live, in seconds, that was set after this process started.
export function assertFreshTtl(ttlS, setS) {
  assert.ok(ttlS <= setS && ttlS >= setS - Math.ceil(process.uptime()), `${ttlS} is not about ${setS}`);
}

// Runs the script in two processes, which start together when both are ready. Returns the final
// message of each. Each process receives a name and the arguments.
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

// Called by a racer: reports that it is ready, and waits until both are.
export async function untilBothAreReady() {
  const go = once(process, 'message');
  process.send('ready');
  await go;
}
