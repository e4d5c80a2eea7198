import 'reflect-metadata';
import { defineJob } from '../domain/definition.js';
import { done } from '../domain/outcome.js';
import { type } from '../domain/payload.schema.js';
import { InvalidInterceptorError } from '../errors/invalid-interceptor.error.js';
import { InvalidListenerError } from '../errors/invalid-listener.error.js';
import type { EventOf } from '../ports/queue.events.js';
import type { HoldfastQueue } from '../assembly/holdfast.queue.js';
import type { Finished } from './handler.interface.js';
import { InterceptJobs, JOB_INTERCEPTOR } from './intercept-jobs.decorator.js';
import { JobHandler } from './job-handler.decorator.js';
import type { JobAnswer, JobCall, JobInterceptor } from './job.interceptor.js';
import { JOB_EVENTS, OnJobEvent } from './on-job-event.decorator.js';

const Render = defineJob('invoice.render', { payload: type<{ invoiceId: string }>() });
const Deliver = defineJob('webhook.deliver', { payload: type<{ eventId: string }>() });

type Next = () => Promise<JobAnswer>;

@InterceptJobs()
class All implements JobInterceptor {
  async intercept(call: JobCall, next: Next): Promise<JobAnswer> {
    if (call.mode === 'attached') await call.ctx.tx.sql.query('SELECT 1', []);
    // @ts-expect-error -- a payload of any definition is unknown
    if (call.mode === 'detached') expect(call.job.payload.eventId).toBeDefined();
    return next();
  }
}

@InterceptJobs({ only: [Deliver], order: 5 })
class OfDeliver implements JobInterceptor<typeof Deliver> {
  async intercept(call: JobCall<typeof Deliver>, next: Next): Promise<JobAnswer> {
    const answer = await next();
    const eventId: string = call.job.payload.eventId;
    return answer.type === 'done' ? done({ ...answer, outcome: eventId }) : answer;
  }
}

@InterceptJobs({ only: [Deliver, Render] })
class OfBoth {
  async intercept(call: JobCall, next: Next): Promise<JobAnswer> {
    return call.definition.kind === 'webhook.deliver' ? next() : done();
  }
}

// @ts-expect-error -- takes the calls of Deliver alone, and would be given all
@InterceptJobs()
class TooNarrow {
  async intercept(_call: JobCall<typeof Deliver>, next: Next): Promise<JobAnswer> {
    return next();
  }
}

// @ts-expect-error -- the calls of another definition
@InterceptJobs({ only: [Render] })
class OfAnother {
  async intercept(_call: JobCall<typeof Deliver>, next: Next): Promise<JobAnswer> {
    return next();
  }
}

// @ts-expect-error -- forgot to return what next() answers
@InterceptJobs()
class Forgetful {
  async intercept(_call: JobCall, next: Next): Promise<void> {
    await next();
  }
}

// @ts-expect-error -- no intercept
@InterceptJobs()
class NoIntercept {}

// @ts-expect-error -- there is no such option
const NoOption = InterceptJobs({ before: 'x' });

abstract class Abstract {
  abstract run(): Promise<void>;
}
// @ts-expect-error -- Nest cannot make an abstract class
const OnAbstract = () => JobHandler(Render)(Abstract);

class Listeners {
  @OnJobEvent('job.dead_lettered', Deliver)
  dead(event: EventOf<'job.dead_lettered'>): string {
    return event.run.id + event.code;
  }

  @OnJobEvent('job.completed')
  @OnJobEvent('job.refused')
  async over({ run }: EventOf<'job.completed' | 'job.refused'>): Promise<void> {
    await Promise.resolve(run);
  }

  @OnJobEvent('leader.lost')
  nothing(): void {}

  // @ts-expect-error -- the event of another type
  @OnJobEvent('job.refused')
  wrong(event: EventOf<'job.dead_lettered'>): void {
    expect(event.error).toBeDefined();
  }
}

/** Each would throw: what it says is that it does not compile either. */
const wrongEvents = [
  // @ts-expect-error -- no such event
  () => OnJobEvent('job.complete'),
  // @ts-expect-error -- an event that is about no job has no definition
  () => OnJobEvent('runner.started', Deliver),
  // @ts-expect-error -- listeners are told nothing of listeners
  () => OnJobEvent('listener.failed'),
];

/** Never called: what it says is that it compiles, and where it does not. */
export function withoutNest(queue: HoldfastQueue): void {
  queue
    .intercept(new All())
    .intercept({ intercept: async (call, next) => (call.job.id === '7' ? done() : next()) }, { order: -1 })
    .intercept(new OfDeliver(), { only: [Deliver] })
    .intercept(
      {
        intercept: async (call, next) => {
          expect(call.job.payload.eventId).toBeDefined();
          return next();
        },
      },
      { only: [Deliver] },
    );
  // @ts-expect-error -- takes the calls of Deliver alone
  queue.intercept(new OfDeliver());
  // @ts-expect-error -- the calls of another definition
  queue.intercept(new OfDeliver(), { only: [Render] });
  // @ts-expect-error -- answers nothing
  queue.intercept({ intercept: async (_call, next) => void (await next()) });
}

describe('InterceptJobs', () => {
  it('R20: writes down its options, and nothing else', () => {
    expect(Reflect.getMetadata(JOB_INTERCEPTOR, All)).toEqual({});
    expect(Reflect.getMetadata(JOB_INTERCEPTOR, OfDeliver)).toEqual({ only: [Deliver], order: 5 });
  });

  it('refuses to be there twice, an unknown option, and a definition that an import cycle left undefined', () => {
    expect(() => InterceptJobs()(All)).toThrow(InvalidInterceptorError);
    expect(() => InterceptJobs({ before: 1 } as never)(OfBoth)).toThrow(/marked twice/);
    class Fresh extends Array {}
    expect(() => InterceptJobs({ before: 1 } as never)(Fresh as never)).toThrow(/Fresh .*before is no option/);
    expect(() => InterceptJobs({ only: [undefined as never] })(Fresh as never)).toThrow(/import each other/);
    expect(() => InterceptJobs(null as never)(Fresh as never)).toThrow(/must be an object/);
  });

  it('does not compile with the calls of another definition, without an answer, or on an abstract class', () => {
    const finished: Finished = { type: 'finished' };
    expect([TooNarrow, OfAnother, Forgetful, NoIntercept, NoOption, OnAbstract, finished]).toHaveLength(7);
  });
});

describe('OnJobEvent', () => {
  it('writes down the method, the event and the kind', () => {
    expect(Reflect.getMetadata(JOB_EVENTS, Listeners)).toEqual(
      expect.arrayContaining([
        { kind: 'webhook.deliver', method: 'dead', type: 'job.dead_lettered' },
        { kind: undefined, method: 'over', type: 'job.completed' },
        { kind: undefined, method: 'over', type: 'job.refused' },
      ]),
    );
  });

  it('refuses what is no method of an instance, and a definition that is none, by the name of the method', () => {
    const decorate = (target: object, value: unknown, ...given: unknown[]) =>
      (OnJobEvent as (...all: unknown[]) => (...all: unknown[]) => void)(...given)(target, 'm', { value });
    const method = () => undefined;
    expect(() => decorate(Listeners, method, 'job.lost')).toThrow(/Listeners.m cannot be used: it is no method/);
    expect(() => decorate(Listeners.prototype, undefined, 'job.lost')).toThrow(InvalidListenerError);
    expect(() => decorate(Listeners.prototype, method, 'job.lost', undefined)).toThrow(/import each other/);
    expect(() => decorate(Listeners.prototype, method, Deliver)).toThrow(/names no event/);
  });

  it('refuses a name that no event has, which would never be called, and names those that are near', () => {
    const decorate = (decorator: unknown) => () =>
      (decorator as (...all: unknown[]) => void)(Listeners.prototype, 'm', { value: () => undefined });
    const [misspelt, ofNoJob, ofListeners] = wrongEvents;
    expect(decorate(misspelt!())).toThrow(/'job\.complete' is no event; there are .*job\.completed, .*job\.started/);
    expect(decorate(ofNoJob!())).toThrow(/runner\.started is about no job, so it takes no definition/);
    expect(decorate(ofListeners!())).toThrow(/'listener\.failed' is no event/);
    expect(decorate(OnJobEvent('toString' as never))).toThrow(/'toString' is no event; there are .*leader\.elected/);
  });
});
