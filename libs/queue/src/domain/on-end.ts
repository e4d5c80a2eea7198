import type { AnyJobDefinition, JobDefinition } from './definition.js';
import type { JsonObject } from './json.js';
import { JobState } from './job-state.js';

/** EndedJob is the payload of a job that follows on the end of another (R14). The database writes it. */
export interface EndedJob {
  /** code is that of the failure or of the refusal; null for a cancelled job. */
  readonly code: string | null;
  readonly jobId: string;
  readonly kind: string;
  /** payload is that of the job that ended, as it was stored: where its definition has a codec, encoded. */
  readonly payload: JsonObject;
  readonly payloadVersion: number;
  /** state: FAILED is refused. */
  readonly state: 'CANCELLED' | 'DEAD_LETTER' | 'FAILED';
}

/** FollowUp is a definition whose payload is an EndedJob. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- variance: what its handler gets is its schema's affair
export type FollowUp = JobDefinition<string, EndedJob, any>;

/** OnEndOptions name the job that follows when one ends so, in the transaction that ends it (R14). */
export interface OnEndOptions {
  /** cancelled: somebody cancelled it (R16). Default none. */
  readonly cancelled?: FollowUp;
  /** deadLetter: its attempts are used up, or its error was permanent. Default none. */
  readonly deadLetter?: FollowUp;
  /** refused: its handler refused it (R12). Default none. */
  readonly refused?: FollowUp;
}

/** DeclaredEnding is what the database is told of one ending of a kind. */
export interface DeclaredEnding {
  readonly followUp: AnyJobDefinition;
  readonly kind: string;
  readonly state: number;
}

const STATES: Readonly<Record<keyof OnEndOptions, number>> = Object.freeze({
  cancelled: JobState.CANCELLED,
  deadLetter: JobState.DEAD_LETTER,
  refused: JobState.FAILED,
});

/** endingsOf answers what follows on the ends of a kind. */
export function endingsOf({ kind, onEnd }: AnyJobDefinition): DeclaredEnding[] {
  return Object.entries(STATES).flatMap(([name, state]) => {
    const followUp = onEnd[name as keyof OnEndOptions];
    return followUp ? [{ followUp, kind, state }] : [];
  });
}

/** problemOfOnEnd answers what is wrong with the option, or undefined. */
export function problemOfOnEnd(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'must be an object';
  for (const [name, followUp] of Object.entries(value as Record<string, unknown>)) {
    if (!Object.hasOwn(STATES, name)) return `has no ${name}: there are ${Object.keys(STATES).join(', ')}`;
    if (followUp === undefined) continue;
    const { codec, kind, request } = (followUp ?? {}) as Partial<AnyJobDefinition>;
    if (typeof kind !== 'string' || typeof request !== 'function') return `.${name} must be made by defineJob`;
    if (codec) return `.${name} must be a definition without a codec: the database writes its payload`;
  }
  return undefined;
}
