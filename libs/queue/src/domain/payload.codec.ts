import { failureClassOf } from '@holdfast/kernel/pure';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { InvalidPayloadError } from '../errors/invalid-payload.error.js';
import { NewerPayloadError } from '../errors/newer-payload.error.js';
import { UnreadablePayloadError } from '../errors/unreadable-payload.error.js';
import type { AnyJobDefinition, PayloadOf } from './definition.js';
import type { JsonObject } from './json.js';
import { payloadPath } from './payload.path.js';
import { PayloadWriter } from './payload.writer.js';

/**
 * PayloadCodec stores a payload in another form than it has in code: dates, encryption.
 *
 * Either side may answer a promise. What `encode` answers must be an object that JSON can say; the schema sees what `decode` answers.
 */
export interface PayloadCodec<Input = unknown> {
  /** decode gets what was stored and the version that stored it; upcasts run on what it answers. */
  decode(stored: JsonObject, version: number): unknown;
  encode(payload: Input): JsonObject | Promise<JsonObject>;
}

/** Upcasts bring an older payload up by one version each, keyed by the version they start from. */
export type Upcasts = Readonly<Record<number, (payload: never) => unknown>>;

/**
 * encodePayload answers the text that is stored: the input as it was given, once the schema has accepted it (Q3).
 *
 * Throws InvalidPayloadError or PayloadTooLargeError.
 */
export async function encodePayload(
  definition: AnyJobDefinition,
  payload: unknown,
  limitBytes: number,
): Promise<string> {
  const result = await validated(definition, payload);
  if (result.issues) {
    const issue = firstIssue(result.issues);
    throw new InvalidPayloadError(definition.kind, issue.path, issue.reason);
  }
  const stored = definition.codec ? await encoded(definition, payload) : payload;
  return new PayloadWriter(definition.kind, limitBytes).write(stored);
}

/**
 * decodePayload answers the payload a handler gets: decoded, brought up to the definition's version, parsed by the schema (Q3).
 *
 * Throws UnreadablePayloadError (permanent) when that is not possible, NewerPayloadError (unavailable) for one of a newer deployment.
 */
export async function decodePayload<D extends AnyJobDefinition>(
  definition: D,
  stored: unknown,
  version: number,
): Promise<PayloadOf<D>> {
  if (version > definition.version) throw new NewerPayloadError(definition.kind, version, definition.version);
  const current = await upcast(definition, stored, version);
  let result: StandardSchemaV1.Result<unknown>;
  try {
    result = await definition.schema['~standard'].validate(current);
  } catch (error) {
    throw new UnreadablePayloadError(definition.kind, 'payload', 'made the schema throw', error);
  }
  if (!result.issues) return result.value;
  const issue = firstIssue(result.issues);
  throw new UnreadablePayloadError(definition.kind, issue.path, issue.reason);
}

async function encoded(definition: AnyJobDefinition, payload: unknown): Promise<unknown> {
  try {
    return await definition.codec?.encode(payload);
  } catch (error) {
    throw new InvalidPayloadError(definition.kind, 'payload', 'made the codec throw', { cause: error });
  }
}

function firstIssue(issues: readonly StandardSchemaV1.Issue[]): { path: string; reason: string } {
  const [issue] = issues;
  const segments = (issue?.path ?? []).map((segment) => (typeof segment === 'object' ? segment.key : segment));
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  return {
    path: payloadPath(segments),
    reason: `is refused by the schema: ${issue?.message ?? 'no reason given'}${more}`,
  };
}

async function upcast(definition: AnyJobDefinition, stored: unknown, version: number): Promise<unknown> {
  try {
    let payload: unknown = definition.codec ? await definition.codec.decode(stored as JsonObject, version) : stored;
    for (let from = version; from < definition.version; from += 1) {
      const step = definition.upcasts[from] as ((payload: unknown) => unknown) | undefined;
      if (!step)
        throw new UnreadablePayloadError(
          definition.kind,
          'payload',
          `has version ${version} and there is no upcast from ${from}`,
        );
      payload = step(payload);
    }
    return payload;
  } catch (error) {
    // A codec that could not reach its key store has said nothing about the payload: the job waits.
    if (error instanceof UnreadablePayloadError || failureClassOf(error) === 'unavailable') throw error;
    throw new UnreadablePayloadError(definition.kind, 'payload', 'made the codec or an upcast throw', error);
  }
}

async function validated(definition: AnyJobDefinition, payload: unknown): Promise<StandardSchemaV1.Result<unknown>> {
  try {
    return await definition.schema['~standard'].validate(payload);
  } catch (error) {
    throw new InvalidPayloadError(definition.kind, 'payload', 'made the schema throw', { cause: error });
  }
}
