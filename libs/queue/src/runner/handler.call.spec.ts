import { defineJob } from '../domain/definition.js';
import type { Job } from '../domain/job.js';
import { done, refuse, repeat } from '../domain/outcome.js';
import { type } from '../domain/payload.schema.js';
import { InvalidInterceptorError } from '../errors/invalid-interceptor.error.js';
import { type GivenHandler, handlerEntry } from '../handlers/handler.entry.js';
import type { AttachedContext } from '../handlers/handler.interface.js';
import { JobInterceptorRegistry } from '../handlers/job-interceptor.registry.js';
import type { JobAnswer, JobCall, JobInterceptor } from '../handlers/job.interceptor.js';
import { callHandler } from './handler.call.js';
import { planKind } from './kind.plan.js';
import { resolveRunnerOptions } from './runner.options.js';

const Add = defineJob('sum.add', { payload: type<{ n: number }>() });
const Take = defineJob('sum.take', { payload: type<{ n: number }>() });
const job = { id: '7', payload: { n: 1 } } as Job<never>;
const ctx = {} as AttachedContext;

type Intercept = JobInterceptor['intercept'];

/** A call of `run` with these interceptors around it, the outermost first. */
async function called(run: () => unknown, ...intercepts: Intercept[]): Promise<unknown> {
  const registry = new JobInterceptorRegistry();
  intercepts.forEach((intercept, at) => registry.register({ interceptor: { intercept }, source: `the ${at}th` }));
  const given = { definition: Add, handler: { run }, mode: 'attached', source: 'Adder' };
  const entry = handlerEntry(given as unknown as GivenHandler);
  return callHandler(planKind(entry, resolveRunnerOptions({}, 'the test'), registry.around(Add.kind)), job, ctx);
}

const pass: Intercept = async (_, next) => next();

describe('callHandler (R20)', () => {
  it('R20: stands the interceptors around the handler, the first outermost, and back again', async () => {
    const steps: string[] = [];
    const step =
      (name: string): Intercept =>
      async (_, next) => {
        steps.push(`${name} in`);
        const answer = await next();
        steps.push(`${name} out`);
        return answer;
      };
    await called(() => void steps.push('handler'), step('a'), step('b'));
    expect(steps).toEqual(['a in', 'b in', 'handler', 'b out', 'a out']);
  });

  it('R20: an interceptor is told the job, the definition, the mode, the context and where the handler is from', async () => {
    const calls: JobCall[] = [];
    await called(
      () => undefined,
      async (call, next) => {
        calls.push(call);
        return next();
      },
    );
    expect(calls).toEqual([{ ctx, definition: Add, job, mode: 'attached', source: 'Adder' }]);
    expect(calls[0]?.job).toBe(job);
    expect(Object.isFrozen(calls[0])).toBe(true);
  });

  it('R20: next answers what the handler answered, done() where that was nothing; the interceptor may answer otherwise', async () => {
    const seen: JobAnswer[] = [];
    const look: Intercept = async (_, next) => {
      const answer = await next();
      seen.push(answer);
      return answer;
    };
    await expect(called(() => undefined, look)).resolves.toEqual(done());
    await expect(called(() => repeat('1s'), look)).resolves.toEqual(repeat('1s'));
    expect(seen).toEqual([done(), repeat('1s')]);
    await expect(
      called(
        () => undefined,
        async (_, next) => {
          await next();
          return done({ outcome: 'sum.counted' });
        },
      ),
    ).resolves.toEqual(done({ outcome: 'sum.counted' }));
  });

  it('R20: without next() the handler does not run', async () => {
    const run = jest.fn();
    await expect(called(run, pass, () => Promise.resolve(refuse('sum.closed')))).resolves.toEqual(refuse('sum.closed'));
    expect(run).not.toHaveBeenCalled();
  });

  it('R20: what the handler throws reaches the interceptors, and what they throw is the failure', async () => {
    const failing = () => {
      throw new Error('inner');
    };
    await expect(called(failing, pass)).rejects.toThrow('inner');
    await expect(
      called(failing, (_, next) =>
        next().catch((error: unknown) => {
          throw new Error('outer', { cause: error });
        }),
      ),
    ).rejects.toThrow('outer');
    await expect(
      called(
        () => undefined,
        () => {
          throw new Error('at once');
        },
      ),
    ).rejects.toThrow('at once');
  });

  it.each<[string, Intercept]>([
    ['answers nothing', (async (_: unknown, next: () => Promise<JobAnswer>) => void (await next())) as never],
    ['answers nothing and never called next()', (() => undefined) as never],
  ])(
    'R20: one that %s fails the attempt: a repeat must not become done by a forgotten return',
    async (_, intercept) => {
      await expect(called(() => repeat('1s'), intercept)).rejects.toThrow(/the 0th .*it answered nothing: return what/);
    },
  );

  it('R20: next() called twice fails the attempt, and the handler ran once', async () => {
    const run = jest.fn();
    const twice: Intercept = async (_, next) => {
      await next();
      return next();
    };
    await expect(called(run, twice)).rejects.toThrow(InvalidInterceptorError);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it.each<[string, (next: () => Promise<JobAnswer>) => Promise<JobAnswer>, RegExp]>([
    [
      'answers before next() has',
      (next) => (void next().catch(() => undefined), Promise.resolve(done())),
      /wait for it/,
    ],
    [
      'throws before next() has',
      (next) => (void next().catch(() => undefined), Promise.reject(new Error('early'))),
      /early/,
    ],
  ])('R20: when one %s, the call ends after the handler has returned, and fails', async (_, act, message) => {
    const steps: string[] = [];
    let open = () => undefined as void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const ended = called(
      async () => {
        await gate;
        steps.push('handler');
        throw new Error('nobody looks at this');
      },
      (_call, next) => act(next),
    ).finally(() => steps.push('call'));
    const failed = expect(ended).rejects.toThrow(message);
    await new Promise((resolve) => setImmediate(resolve));
    expect(steps).toEqual([]);
    open();
    await failed;
    expect(steps).toEqual(['handler', 'call']);
  });
});

describe('JobInterceptorRegistry', () => {
  const entry = (source: string, options: object = {}) => ({ interceptor: { intercept: pass }, source, ...options });
  const names = (registry: JobInterceptorRegistry, kind = 'sum.add') =>
    registry.around(kind).map(({ source }) => source);

  it('R20: the lower order is further outside; equal ones stand as they were registered', () => {
    const registry = new JobInterceptorRegistry();
    for (const [source, order] of [
      ['a', 1],
      ['b', undefined],
      ['c', -1],
      ['d', 0],
      ['e', 1],
    ] as const)
      registry.register(entry(source, { order }));
    expect(names(registry)).toEqual(['c', 'b', 'd', 'a', 'e']);
  });

  it('R20: only says which definitions; the others are not touched', () => {
    const registry = new JobInterceptorRegistry();
    registry.register(entry('a', { only: [Take] }));
    registry.register(entry('b'));
    expect([names(registry), names(registry, 'sum.take')]).toEqual([['b'], ['a', 'b']]);
  });

  it('K35: the same instance twice is one, also after the start', () => {
    const registry = new JobInterceptorRegistry();
    const one = entry('a');
    registry.register(one);
    registry.register({ ...one, source: 'again' });
    registry.seal();
    registry.register(one);
    expect(names(registry)).toEqual(['a']);
    expect(() => registry.register(entry('late'))).toThrow(/late cannot be used: name it before start/);
  });

  it.each<[object, RegExp]>([
    [{ interceptor: {} }, /no object with a function intercept/],
    [{ interceptor: undefined }, /no object with a function intercept/],
    [{ order: NaN }, /order must be a finite number/],
    [{ order: '1' }, /order must be a finite number/],
    [{ only: [] }, /only must be a list of definitions/],
    [{ only: [undefined] }, /two files import each other/],
    [{ only: 'sum.add' }, /only must be a list/],
  ])('refuses %j', (wrong, message) => {
    expect(() => new JobInterceptorRegistry().register({ ...entry('a'), ...wrong })).toThrow(message);
  });
});
