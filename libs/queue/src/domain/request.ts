import { parseDuration } from '@holdfast/kernel/pure';
import { InvalidRequestError } from '../errors/invalid-request.error.js';
import type { AnyJobDefinition, PayloadInputOf } from './definition.js';
import { isKind, MAX_KIND_LENGTH } from './kind.js';
import { encodePayload } from './payload.codec.js';
import { unstorable } from './text.js';

/** WhenRunning says whether a run that is already RUNNING satisfies a request with the same key (Q6). */
export type WhenRunning = 'merge' | 'rerun';

/** RequestOptions say when and how a requested job runs. */
export interface RequestOptions {
  /**
   * dedupeKey makes the job unique among live jobs of its kind and tenant (Q4). Default none: it never collides.
   * 1 to 512 bytes, compared byte by byte: a trailing space or another Unicode normal form is another key.
   */
  readonly dedupeKey?: string;
  /** maxAttempts is 1..100 or `'unlimited'`. Default the definition's, or this deployment's override of it. */
  readonly maxAttempts?: number | 'unlimited';
  /** onDuplicate: a pending job with this key takes over this payload (Q5). Default it keeps its own. */
  readonly onDuplicate?: { readonly payload: 'replace' };
  /** priority is 0 (first) to 9 (last). Default the definition's. */
  readonly priority?: number;
  /**
   * runAt is the moment from which the job is due; a past one is due now. Default now. Not together with `runIn`. It is taken as it is: one made from
   * this process's clock is as wrong as that, where `runIn` is not.
   */
  readonly runAt?: Date;
  /** runIn is the delay after which the job is due, by the database's clock: `'10m'`. Not together with `runAt`. */
  readonly runIn?: string;
  /** tenantId is the tenant whose scope the job runs under, 1 to 200 bytes; null is the system. Default the unit of work's (T1). */
  readonly tenantId?: string | null;
}

/** JobRequest is a job that somebody asks for: made by `definition.request(payload, options)`, checked when it is enqueued. */
export interface JobRequest<D extends AnyJobDefinition = AnyJobDefinition> {
  readonly definition: D;
  readonly options: RequestOptions;
  readonly payload: PayloadInputOf<D>;
}

/** EncodedRequest is a request that has been validated and encoded: nothing in it can be refused by the database (Q2). */
export interface EncodedRequest {
  readonly dedupeKey: string | null;
  /** dueInMs or dueAt, or neither for now; dueAt is an ISO 8601 moment. */
  readonly dueAt: string | null;
  readonly dueInMs: number | null;
  readonly kind: string;
  /** maxAttempts is null for `'unlimited'`. */
  readonly maxAttempts: number | null;
  /** payloadJson is the payload as the text that is stored. */
  readonly payloadJson: string;
  readonly payloadVersion: number;
  readonly priority: number;
  /** replacePayload: a pending job with this key takes over this payload (`onDuplicate: { payload: 'replace' }`, Q5). */
  readonly replacePayload: boolean;
  readonly tenantId: string | null;
  readonly whenRunning: WhenRunning;
}

/** Disposition says what became of a request (Q4). */
export type Disposition = 'created' | 'existing' | 'requested';

/** Enqueued is the answer to a request: an id that can be polled from the caller's commit on (Q4). */
export interface Enqueued {
  /** disposition: `created` a job; `existing` names a live job; `requested` is turned into, or joined to, a job by the next intake. */
  readonly disposition: Disposition;
  readonly id: string;
  /** payloadDiffers: the live job that was met carries another payload, which stays unless it was asked to be replaced (Q5). */
  readonly payloadDiffers: boolean;
}

/** EncodingContext is what a process adds to a request. */
export interface EncodingContext {
  /** maxAttempts of this deployment for the kind; undefined leaves the definition's. */
  readonly maxAttempts?: number | null | undefined;
  readonly payloadLimitBytes: number;
  /** tenancy: whether jobs may name a tenant. */
  readonly tenancy: boolean;
  /** tenantId of the unit of work that the request joins. */
  readonly tenantId: string | null;
}

/** The byte limit of a payload unless the module says otherwise: 256 KiB (Q2). */
export const DEFAULT_PAYLOAD_LIMIT_BYTES = 256 * 1024;

const MAX_KEY_BYTES = 512;
const MAX_TENANT_BYTES = 200;
const EARLIEST = Date.UTC(1970, 0, 1);
const LATEST = Date.UTC(9999, 11, 31);

const NAMES: Readonly<Record<keyof RequestOptions, true>> = {
  dedupeKey: true,
  maxAttempts: true,
  onDuplicate: true,
  priority: true,
  runAt: true,
  runIn: true,
  tenantId: true,
};

/** jobRequest makes a frozen request; `definition.request(…)` is how it is written. */
export function jobRequest<D extends AnyJobDefinition>(
  definition: D,
  payload: PayloadInputOf<D>,
  options: RequestOptions = {},
): JobRequest<D> {
  return Object.freeze({ definition, options: Object.freeze({ ...options }), payload });
}

/**
 * encodeRequest validates a request in full and encodes it, before any SQL is sent, so that the caller's transaction stays usable (Q2).
 *
 * Throws InvalidRequestError for an option, InvalidPayloadError or PayloadTooLargeError for the payload.
 */
export async function encodeRequest(request: JobRequest, context: EncodingContext): Promise<EncodedRequest> {
  const { definition, options } = request;
  const refuse = refusalFor(definition.kind);
  if (!isKind(definition.kind))
    refuse('the kind', `is not made of lower-case words joined by dots, at most ${MAX_KIND_LENGTH} characters`);
  refuseUnknown(options, refuse);
  const { dueAt, dueInMs } = encodeDue(options, refuse);
  const replacePayload = encodeReplace(options.onDuplicate, refuse);
  const dedupeKey = encodeText(options.dedupeKey ?? null, 'dedupeKey', MAX_KEY_BYTES, refuse);
  const maxAttempts = encodeAttempts(options.maxAttempts, definition, context, refuse);
  const priority = encodePriority(options.priority ?? definition.priority, refuse);
  const tenantId = encodeTenant(options.tenantId, context, refuse);
  const payloadJson = await encodePayload(definition, request.payload, context.payloadLimitBytes);
  return {
    dedupeKey,
    dueAt,
    dueInMs,
    kind: definition.kind,
    maxAttempts,
    payloadJson,
    payloadVersion: definition.version,
    priority,
    replacePayload,
    tenantId,
    whenRunning: definition.whenRunning,
  };
}

type Refuse = (field: string, reason: string) => never;

function encodeAttempts(
  asked: number | 'unlimited' | undefined,
  definition: AnyJobDefinition,
  context: EncodingContext,
  refuse: Refuse,
): number | null {
  if (asked === undefined) return context.maxAttempts === undefined ? definition.maxAttempts : context.maxAttempts;
  if (asked === 'unlimited') return null;
  if (!Number.isInteger(asked) || asked < 1 || asked > 100)
    return refuse('maxAttempts', "must be a whole number from 1 to 100, or 'unlimited'");
  return asked;
}

function encodeDue(options: RequestOptions, refuse: Refuse): Pick<EncodedRequest, 'dueAt' | 'dueInMs'> {
  if (options.runAt !== undefined && options.runIn !== undefined) refuse('runAt', 'and runIn exclude each other');
  if (options.runIn !== undefined) return { dueAt: null, dueInMs: durationMs(options.runIn, refuse) };
  if (options.runAt === undefined) return { dueAt: null, dueInMs: null };
  const time = momentOf(options.runAt);
  if (!(time >= EARLIEST && time <= LATEST)) refuse('runAt', 'must be a valid Date between the years 1970 and 9999');
  return { dueAt: new Date(time).toISOString(), dueInMs: null };
}

function durationMs(value: string, refuse: Refuse): number {
  try {
    return parseDuration(value);
  } catch (error) {
    return refuse('runIn', `is refused: ${(error as Error).message.replace(/\.$/, '')}`);
  }
}

function encodePriority(priority: number, refuse: Refuse): number {
  if (!Number.isInteger(priority) || priority < 0 || priority > 9)
    refuse('priority', 'must be a whole number from 0 (first) to 9 (last)');
  // −0 is a whole number too, and travels as "-0".
  return priority + 0;
}

/** Anything but the one form there is would quietly keep the payload that is there. */
function encodeReplace(asked: unknown, refuse: Refuse): boolean {
  if (asked === undefined) return false;
  if (typeof asked !== 'object' || asked === null || Object.keys(asked).some((name) => name !== 'payload'))
    return refuse('onDuplicate', "must be { payload: 'replace' }");
  const { payload } = asked as { payload?: unknown };
  if (payload !== undefined && payload !== 'replace') refuse('onDuplicate.payload', "must be 'replace'");
  return payload === 'replace';
}

function encodeTenant(asked: string | null | undefined, context: EncodingContext, refuse: Refuse): string | null {
  if (asked !== undefined && asked !== null && !context.tenancy)
    refuse('tenantId', 'cannot be set while tenancy is off: turn it on with the option tenancy');
  // The one of a transaction that somebody else opened is checked like one that is named.
  return encodeText(asked === undefined ? context.tenantId : asked, 'tenantId', MAX_TENANT_BYTES, refuse);
}

function encodeText(text: string | null, field: string, maxBytes: number, refuse: Refuse): string | null {
  if (text === null) return null;
  if (typeof text !== 'string') return refuse(field, 'must be a string');
  if (text === '') refuse(field, 'is empty');
  // A UTF-16 unit is at least one byte: a huge text is not encoded only to be measured.
  if (text.length > maxBytes || Buffer.byteLength(text) > maxBytes) refuse(field, `is over ${maxBytes} bytes`);
  const wrong = unstorable(text);
  if (wrong) refuse(field, `contains ${wrong}`);
  return text;
}

/** A Date of another realm is a Date as well; anything else is NaN. */
function momentOf(value: unknown): number {
  return Object.prototype.toString.call(value) === '[object Date]' ? Number((value as Date).getTime()) : Number.NaN;
}

/** A name that there is not would be an option that quietly does nothing. */
function refuseUnknown(options: object, refuse: Refuse): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(NAMES, name));
  if (unknown === undefined) return;
  refuse(unknown, `is no option of a request, those there are: ${Object.keys(NAMES).join(', ')}`);
}

function refusalFor(kind: unknown): Refuse {
  return (field, reason) => {
    throw new InvalidRequestError(
      typeof kind === 'string' ? kind.slice(0, MAX_KIND_LENGTH) : String(kind),
      field,
      reason,
    );
  };
}
