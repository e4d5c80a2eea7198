import { Problem, type FieldProblem } from '../problems/problem.js';
import { SchemaPipe } from '../problems/schema.pipe.js';
import { eventBody, repositoryOf } from './event.body.js';

const pipe = new SchemaPipe(eventBody);

function problemsOf(body: unknown): readonly FieldProblem[] {
  try {
    pipe.transform(body);
  } catch (error) {
    if (error instanceof Problem) return error.errors;
    throw error;
  }
  return [];
}

function nested(levels: number): unknown {
  let value: unknown = 'leaf';
  for (let level = 0; level < levels; level++) value = { deeper: value };
  return value;
}

describe('the body of POST /events', () => {
  it('is taken as it is, U+0000, lone surrogates and __proto__ included', () => {
    const payload = JSON.parse('{"text":"a\\u0000b","half":"\\ud800","__proto__":{"x":1}}') as object;
    const taken = pipe.transform({ payload, type: 'push' });
    expect(JSON.stringify(taken.payload)).toBe(JSON.stringify(payload));
  });

  it.each([
    ['no object at all', [], '(body)'],
    ['no body', undefined, '(body)'],
    ['no type', { payload: {} }, 'type'],
    ['a type in capitals', { payload: {}, type: 'Push' }, 'type'],
    ['U+0000 in the type', { payload: {}, type: 'push\0' }, 'type'],
    ['no payload', { type: 'push' }, 'payload'],
    ['a list as payload', { payload: [], type: 'push' }, 'payload'],
    ['an empty id', { id: '', payload: {}, type: 'push' }, 'id'],
    ['an id with a line break', { id: 'a\r\nb', payload: {}, type: 'push' }, 'id'],
    ['a long id', { id: 'a'.repeat(101), payload: {}, type: 'push' }, 'id'],
    ['a repository without owner', { payload: {}, repository: 'hub', type: 'push' }, 'repository'],
    ['an unknown field', { payload: {}, type: 'push', typo: 1 }, 'typo'],
    ['a number beyond a double', { payload: JSON.parse('{"a":[1,1e999]}') as object, type: 'push' }, 'payload.a.1'],
    ['nesting that no parser takes back', { payload: nested(5_000), type: 'push' }, 'payload.deeper.deeper.deeper'],
  ])('names the field: %s', (_, body, field) => {
    const problems = problemsOf(body);
    expect(problems.map((problem) => problem.field)).toEqual([field]);
  });

  it('names every field that is wrong', () => {
    const fields = problemsOf({ id: 7, payload: 'x', repository: '', type: '' }).map((problem) => problem.field);
    expect(new Set(fields)).toEqual(new Set(['id', 'payload', 'repository', 'type']));
  });

  it('names at most twenty', () => {
    const unknown = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`field${n}`, n]));
    expect(problemsOf({ payload: {}, type: 'push', ...unknown })).toHaveLength(20);
  });

  it.each([
    ['the field', { payload: { repository: { full_name: 'a/b' } }, repository: 'c/d' }, 'c/d'],
    ['the payload', { payload: { repository: { full_name: 'a/b' } } }, 'a/b'],
    ['none', { payload: { repository: { full_name: 7 } } }, null],
    ['none', { payload: { repository: null } }, null],
  ])('finds the repository in %s', (_, body, repository) => {
    expect(repositoryOf({ type: 'push', ...body })).toBe(repository);
  });
});
