import { EVENT_ID, EVENT_TYPE, REPOSITORY } from '@holdfast/contracts';
import { z } from 'zod';
import { payloadProblem } from './payload.check.js';

const payload = z
  .custom<object>((value) => isObject(value), 'expected a JSON object')
  .superRefine((value, context) => {
    const problem = payloadProblem(value);
    if (problem) context.addIssue({ code: 'custom', message: problem.message, path: problem.path });
  });

/** eventBody is the body of `POST /events`. */
export const eventBody = z.strictObject({
  /** id is the sender's delivery id: one sent twice is accepted once. Left out, the event gets a new one and is never taken for another. */
  id: z
    .string('expected a string')
    .regex(EVENT_ID, 'expected 1 to 100 letters, digits, dots, colons, dashes or underscores')
    .optional(),
  payload,
  /** repository defaults to the payload's `repository.full_name`. */
  repository: z.string('expected a string').regex(REPOSITORY, 'expected owner/name').optional(),
  type: z
    .string('expected a string')
    .max(100, 'expected at most 100 characters')
    .regex(EVENT_TYPE, 'expected lower-case words joined by dots, such as issues.opened'),
});

/** EventBody is a valid body of `POST /events`. */
export type EventBody = z.infer<typeof eventBody>;

/** repositoryOf answers the repository of an event, or null for one that belongs to none. */
export function repositoryOf(body: EventBody): string | null {
  if (body.repository !== undefined) return body.repository;
  const { repository } = body.payload as { repository?: unknown };
  if (!isObject(repository)) return null;
  const name = (repository as { full_name?: unknown }).full_name;
  return typeof name === 'string' && REPOSITORY.test(name) ? name : null;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
