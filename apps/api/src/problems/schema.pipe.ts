import type { PipeTransform } from '@nestjs/common';
import type { z } from 'zod';
import { Problem, type FieldProblem } from './problem.js';

/** A body of nothing but mistakes does not get an answer of its own size. */
const MAX_PROBLEMS = 20;
const MAX_FIELD_LENGTH = 100;

/** SchemaPipe checks a body, or a query, against its schema and names every field that is wrong, at most twenty. */
export class SchemaPipe<Schema extends z.ZodType> implements PipeTransform<unknown, z.output<Schema>> {
  constructor(
    private readonly schema: Schema,
    private readonly part: 'body' | 'query' = 'body',
  ) {}

  transform(value: unknown): z.output<Schema> {
    const parsed = this.schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const errors = parsed.error.issues.flatMap((issue) => this.problemsOf(issue)).slice(0, MAX_PROBLEMS);
    const fields = [...new Set(errors.map((error) => error.field))].join(', ');
    throw new Problem(
      400,
      `The ${this.part} has ${errors.length === 1 ? 'a problem' : 'problems'}: ${fields}.`,
      errors,
    );
  }

  private problemsOf(issue: z.core.$ZodIssue): FieldProblem[] {
    if (issue.code !== 'unrecognized_keys') return [{ field: this.fieldOf(issue.path), message: issue.message }];
    return issue.keys.map((key) => ({ field: this.fieldOf([...issue.path, key]), message: 'this field is not known' }));
  }

  private fieldOf(path: readonly PropertyKey[]): string {
    return path.map(String).join('.').slice(0, MAX_FIELD_LENGTH) || `(${this.part})`;
  }
}
