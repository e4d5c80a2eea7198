import type { SchemaName } from '@holdfast/kernel';

/** Cancelling says whether there are requests to cancel: not before their table has been made. */
export interface Cancelling {
  readonly cancels?: boolean | undefined;
}

/** asked tells whether somebody asked for the job `j` to be cancelled (R16). */
export function asked(schema: SchemaName): string {
  return `EXISTS (SELECT FROM ${schema.of('job_cancel')} c WHERE c.job_id = j.id)`;
}

/** heldRun tells whether the run of the job `j` satisfies no more enqueue of its key: it was held (R11), or asked to be cancelled. */
export function heldRun(schema: SchemaName, { cancels }: Cancelling): string {
  const held = `EXISTS (SELECT FROM ${schema.of('job_hold')} h WHERE h.job_id = j.id AND h.token = j.lease_token)`;
  return cancels ? `(${held} OR ${asked(schema)})` : held;
}
