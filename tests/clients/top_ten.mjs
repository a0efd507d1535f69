// Inputs and expected results of the top-ten recipe for the Node clients. See top_ten.py for the
// scenario.

export const bucketTtlS = 179200;
export const topTtlS = 3600;
export const kept = 30; // number of members that trimming keeps in a bucket

// Returns random numbers in [0, 1) from a seed. Park and Miller 1988, "Random number generators:
// good ones are hard to find".
function randomFrom(seed) {
  let state = (seed % 2147483646) + 1;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

// Prints the seed of one test. SEED in the environment reproduces a failed run.
export function printedSeed() {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`SEED ${seed}`);
  return randomFrom(seed);
}

// Returns the numbers looked up in each of the last 24 hourly buckets, in order, by the bucket's
// key. A few numbers occur often.
export function randomLookups(random) {
  const below = (limit) => Math.floor(random() * limit);
  const phone = () => `${200 + below(800)}-555-${String(below(10000)).padStart(4, '0')}`;
  const numbers = Array.from({ length: 60 }, phone);
  const often = () => numbers[Math.min(below(60), below(60))];
  const lookups = new Map();
  for (let hour = 0; hour < 24; hour++) {
    const time = new Date(Date.UTC(2018, 6, 7, 21 + hour)).toISOString(); // 2018-07-08T20:...
    const key = time.slice(0, 13).replaceAll('-', '').replace('T', '_');
    lookups.set(key, Array.from({ length: 60 + below(60) }, often));
  }
  return lookups;
}

function countInto(counts, member, by) {
  counts.set(member, (counts.get(member) ?? 0) + by);
}

// Returns the count of each looked-up number after its lookup.
export function runningCounts(numbers) {
  const counts = new Map();
  return numbers.map((number) => {
    countInto(counts, number, 1);
    return counts.get(number);
  });
}

// Returns the `number` highest counts as [member, count], lowest first. Equal counts are in the
// order of the members' bytes.
function highest(counts, number) {
  const order = ([member, count], [otherMember, otherCount]) =>
    count - otherCount || (member < otherMember ? -1 : 1);
  return [...counts].sort(order).slice(-number);
}

// Returns the ten most frequent numbers, lowest first, computed from the `kept` highest of each
// bucket.
export function topTen(lookups) {
  const total = new Map();
  for (const numbers of lookups.values()) {
    const counts = new Map();
    for (const number of numbers) countInto(counts, number, 1);
    for (const [number, count] of highest(counts, kept)) countInto(total, number, count);
  }
  return highest(total, 10);
}
