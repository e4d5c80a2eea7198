const ID = /^[1-9]\d{0,18}$/;
const MAX_ID = 2n ** 63n - 1n;

/** isJobId tells whether a text can be the id of a job. */
export function isJobId(id: unknown): id is string {
  return typeof id === 'string' && ID.test(id) && BigInt(id) <= MAX_ID;
}
