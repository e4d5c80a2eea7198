import 'reflect-metadata';
import { z } from 'zod';
import { defineJob } from '../domain/definition.js';
import { done, type Outcome } from '../domain/outcome.js';
import { InvalidHandlerError } from '../errors/invalid-handler.error.js';
import type {
  AttachedContext,
  AttachedHandler,
  DetachedContext,
  DetachedHandler,
  Finished,
  JobOf,
  RunContext,
} from './handler.interface.js';
import { JOB_HANDLER, JobHandler } from './job-handler.decorator.js';

const Render = defineJob('invoice.render', {
  payload: z.object({ invoiceId: z.string(), pages: z.string().transform(Number) }),
});
const Deliver = defineJob('webhook.deliver', { payload: z.object({ eventId: z.string() }) });
const Redeliver = defineJob('webhook.redeliver', { payload: z.object({ eventId: z.string() }) });

@JobHandler(Render)
class RenderHandler implements AttachedHandler<typeof Render> {
  run = async (job: JobOf<typeof Render>, ctx: AttachedContext): Promise<void> => {
    const pages: number = job.payload.pages;
    await ctx.tx.sql.query('SELECT $1', [pages]);
  };
}

@JobHandler(Deliver, { detached: true })
class DeliverHandler implements DetachedHandler<typeof Deliver> {
  async run(job: JobOf<typeof Deliver>, ctx: DetachedContext): Promise<Finished> {
    return ctx.finish(async () => done({ outcome: job.kind }));
  }
}

@JobHandler(Deliver)
@JobHandler(Redeliver, { detached: true })
class EitherHandler {
  async run(job: JobOf<typeof Deliver>, ctx: RunContext): Promise<Outcome> {
    return done({ outcome: ctx.signal.aborted ? job.payload.eventId : 'a' });
  }
}

// @ts-expect-error -- forgot detached
@JobHandler(Deliver)
class ForgotDetached {
  async run(job: JobOf<typeof Deliver>, ctx: DetachedContext): Promise<Finished> {
    return ctx.finish(async () => done({ outcome: job.kind }));
  }
}

// @ts-expect-error -- an attached handler marked detached
@JobHandler(Render, { detached: true })
class MarkedDetached {
  async run(_job: JobOf<typeof Render>, ctx: AttachedContext): Promise<void> {
    await ctx.tx.sql.query('SELECT 1');
  }
}

// @ts-expect-error -- the payload of another definition
@JobHandler(Render)
class WrongPayload {
  async run(job: JobOf<typeof Deliver>): Promise<void> {
    expect(job.payload.eventId).toBeDefined();
  }
}

// @ts-expect-error -- an attached handler has nothing to finish
@JobHandler(Deliver)
class WrongAnswer {
  async run(): Promise<Finished> {
    return { type: 'finished' };
  }
}

// @ts-expect-error -- no run
@JobHandler(Render)
class NoRun {}

// @ts-expect-error -- detached is said by true, or not at all
const NotDetached = JobHandler(Deliver, { detached: false });

describe('JobHandler', () => {
  it('writes down the definition and the mode, and nothing else', () => {
    expect(Reflect.getMetadata(JOB_HANDLER, RenderHandler)).toEqual([{ definition: Render, mode: 'attached' }]);
    expect(Reflect.getMetadata(JOB_HANDLER, DeliverHandler)).toEqual([{ definition: Deliver, mode: 'detached' }]);
    expect(Reflect.getMetadata(JOB_HANDLER, EitherHandler)).toHaveLength(2);
  });

  it('refuses a definition that an import cycle left undefined, by the name of the class', () => {
    const missing = undefined as unknown as typeof Render;
    expect(() => JobHandler(missing)(RenderHandler)).toThrow(InvalidHandlerError);
    expect(() => JobHandler(missing)(RenderHandler)).toThrow(/RenderHandler.*import each other/);
  });

  it('refuses a class that is marked twice for a kind', () => {
    expect(() => JobHandler(Deliver)(EitherHandler)).toThrow(/marked twice for the kind webhook.deliver/);
  });

  it('does not compile with a context, a payload or an answer that does not fit', () => {
    expect([ForgotDetached, MarkedDetached, WrongPayload, WrongAnswer, NoRun, NotDetached]).toHaveLength(6);
  });
});
