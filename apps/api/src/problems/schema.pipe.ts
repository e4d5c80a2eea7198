import type { PipeTransform } from '@nestjs/common';
import type { z } from 'zod';
import { Problem, type FieldProblem } from './problem.js';

/** SchemaPipe checks a body against its schema and names every field that is wrong. */
export class SchemaPipe<Schema extends z.ZodType> implements PipeTransform<unknown, z.output<Schema>> {
  constructor(private readonly schema: Schema) {}

  transform(value: unknown): z.output<Schema> {
    const parsed = this.schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const errors = parsed.error.issues.flatMap(fieldProblems);
    const fields = [...new Set(errors.map((error) => error.field))].join(', ');
    throw new Problem(400, `The body has ${errors.length === 1 ? 'a problem' : 'problems'}: ${fields}.`, errors);
  }
}

const MAX_FIELD_LENGTH = 100;

function fieldProblems(issue: z.core.$ZodIssue): FieldProblem[] {
  const path = issue.path.map(String);
  if (issue.code !== 'unrecognized_keys') return [{ field: path.join('.') || '(body)', message: issue.message }];
  return issue.keys.map((key) => ({
    field: [...path, key].join('.').slice(0, MAX_FIELD_LENGTH),
    message: 'this field is not known',
  }));
}
