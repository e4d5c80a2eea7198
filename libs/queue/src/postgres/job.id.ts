const ID = /^[1-9]\d{0,18}$/;
const MAX_ID = 2n ** 63n - 1n;

/** isJobId tells whether a text can be the id of a job. */
export function isJobId(id: unknown): id is string {
  return typeof id === 'string' && ID.test(id) && BigInt(id) <= MAX_ID;
}

/** byJobId compares ids for a sort: statements on the same jobs, or on their narrow rows, lock them in one order and cannot deadlock. */
export function byJobId(one: string, other: string): number {
  return BigInt(one) < BigInt(other) ? -1 : 1;
}
