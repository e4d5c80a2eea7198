import 'reflect-metadata';
import { Pool } from 'pg';
import { createQueue, pgPool } from '../core.js';
import { defineJob } from '../domain/definition.js';
import { done, type Outcome, refuse } from '../domain/outcome.js';
import { type } from '../domain/payload.schema.js';
import type { BatchResult, BatchResults } from './batch.results.js';
import type { AttachedContext, BatchContext, BatchHandler, JobOf } from './handler.interface.js';
import { JOB_HANDLER, JobHandler } from './job-handler.decorator.js';

const Count = defineJob('visit.count', { payload: type<{ page: string }>() });
const Other = defineJob('visit.other', { payload: type<{ shop: number }>() });

@JobHandler(Count, { batch: { size: 100 } })
class CountHandler implements BatchHandler<typeof Count> {
  async runBatch(jobs: readonly JobOf<typeof Count>[], ctx: BatchContext): Promise<BatchResults> {
    await ctx.tx.sql.query('SELECT $1', [jobs.map(({ payload }) => payload.page)]);
    return jobs.map((job): BatchResult => (job.payload.page === '' ? refuse('visit.nowhere') : done()));
  }
}

@JobHandler(Count, { batch: { size: 100 } })
class ByIdHandler implements BatchHandler<typeof Count> {
  runBatch = async (jobs: readonly JobOf<typeof Count>[]) => new Map([[jobs[0]!.id, new Error('no')]]);
}

@JobHandler(Count, { batch: { size: 100 } })
class SilentHandler implements BatchHandler<typeof Count> {
  runBatch = async () => undefined;
}

// @ts-expect-error -- one outcome for all of them
@JobHandler(Count, { batch: { size: 100 } })
class OneForAll {
  runBatch = async (): Promise<Outcome> => done();
}

// @ts-expect-error -- results that are none
@JobHandler(Count, { batch: { size: 100 } })
class WrongResults {
  runBatch = async () => ['done'];
}

// @ts-expect-error -- a map by something that is no id
@JobHandler(Count, { batch: { size: 100 } })
class ByNumber {
  runBatch = async () => new Map([[1, done()]]);
}

// @ts-expect-error -- the payload of another definition
@JobHandler(Count, { batch: { size: 100 } })
class WrongPayload {
  runBatch = async (jobs: readonly JobOf<typeof Other>[]) => void jobs[0]?.payload.shop;
}

// @ts-expect-error -- a handler of single jobs
@JobHandler(Count, { batch: { size: 100 } })
class Single {
  run = async (_job: JobOf<typeof Count>, _ctx: AttachedContext) => undefined;
}

// @ts-expect-error -- a handler of batches that is not marked as one
@JobHandler(Count)
class Unmarked {
  runBatch = async () => undefined;
}

// @ts-expect-error -- a batch is never detached
const both = () => JobHandler(Count, { batch: { size: 100 }, detached: true })(CountHandler);

describe('A handler of batches', () => {
  it('R21: is marked with its size', () => {
    const metadata: unknown[] = [CountHandler, ByIdHandler, SilentHandler].map((handler) =>
      Reflect.getMetadata(JOB_HANDLER, handler),
    );
    expect(metadata).toEqual(Array(3).fill([{ batchSize: 100, definition: Count, mode: 'batch' }]));
  });

  it('R21: does not compile with results, a payload or options that do not fit, and is refused where it does', () => {
    expect([OneForAll, WrongResults, ByNumber, WrongPayload, Single, Unmarked]).toHaveLength(6);
    expect(both).toThrow(/leave out detached/);
  });

  it('R21: is given to a queue without Nest as it is', () => {
    const queue = createQueue({ database: pgPool(new Pool()) });
    queue.handle(Count, new CountHandler(), { batch: { size: 10 } });
    expect(queue.registry.find('visit.count')).toMatchObject({ batchSize: 10, mode: 'batch' });
    // @ts-expect-error -- no runBatch
    expect(() => queue.handle(Other, { run: async () => undefined }, { batch: { size: 10 } })).toThrow(/runBatch/);
  });
});
