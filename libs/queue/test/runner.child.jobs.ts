import { defineJob } from '../src/domain/definition.js';
import type { EndedJob } from '../src/domain/on-end.js';
import { type } from '../src/domain/payload.schema.js';

type Step = 'block' | 'die' | 'nothing' | 'stop' | 'wait' | 'write';

/** Steps are what a job's handler does, by attempt; the last one repeats. */
export interface Steps {
  readonly blockMs?: number;
  readonly name: string;
  readonly steps: readonly (readonly Step[])[];
}

const payload = type<Steps>();
/** The server's bound and the lease are short, so that the tests need not wait long. */
export const Attached = defineJob('child.attached', { backoff: { delays: ['0ms'] }, payload, timeout: '600ms' });
export const Patient = defineJob('child.patient', { backoff: { delays: ['0ms'] }, payload, timeout: '20s' });
export const Detached = defineJob('child.detached', { backoff: { delays: ['0ms'] }, payload, timeout: '20s' });
export const Grouped = defineJob('child.grouped', {
  backoff: { delays: ['0ms'] },
  groupCommit: { delay: '10ms', size: 8 },
  payload,
  timeout: '600ms',
});
/** Released follows on the dead letter of Doomed. */
export const Released = defineJob('child.released', { payload: type<EndedJob>() });
export const Doomed = defineJob('child.doomed', {
  backoff: { delays: ['0ms'] },
  onEnd: { deadLetter: Released },
  payload,
  timeout: '20s',
});
