import { pause, type CommitUnknownError } from '@holdfast/kernel';
import { LeaseLostError } from '../errors/lease-lost.error.js';
import type { JobStore } from '../ports/job-store.js';
import type { Run } from './run.js';

const VERDICT_PAUSE_MS = 250;
const VERDICT_TRIES = 40;

/** CommitAnswer is what became of a commit. */
export type CommitAnswer =
  | { readonly type: 'committed' }
  | { readonly type: 'failed'; readonly connectionLost: boolean; readonly error: unknown }
  | { readonly type: 'lost'; readonly error: Error };

/** answerOf asks what became of a COMMIT without an answer: by the row, so that it is never both done and failed (R3). It never rejects. */
export async function answerOf(
  { claimed, lease, ref }: Run,
  store: JobStore,
  error: CommitUnknownError,
): Promise<CommitAnswer> {
  for (let tries = 1; tries <= VERDICT_TRIES; tries += 1) {
    try {
      const verdict = await store.verdict(lease, claimed.attempt);
      if (verdict === 'settled') return { type: 'committed' };
      if (verdict === 'held') return { type: 'failed', connectionLost: true, error };
      return { type: 'lost', error: new LeaseLostError(ref.id, { cause: error }) };
    } catch {
      await pause(Math.min(5_000, VERDICT_PAUSE_MS * tries), new AbortController().signal);
    }
  }
  return { type: 'failed', connectionLost: true, error };
}
