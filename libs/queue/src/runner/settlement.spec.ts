import { ConnectionLostError } from '@holdfast/kernel';
import { defineJob } from '../domain/definition.js';
import { type } from '../domain/payload.schema.js';
import type { Settlement } from '../domain/settlement.js';
import { handlerEntry } from '../handlers/handler.entry.js';
import { MemoryJobStore } from '../memory/memory.job-store.js';
import type { LeasedSettlement, SettleAnswer } from '../ports/job-store.js';
import type { RunnerEvent } from '../ports/runner.events.js';
import { KIND, order, OVER_MS, request } from '../testing/job-store.harness.js';
import { planKind } from './kind.plan.js';
import { Run } from './run.js';
import { resolveRunnerOptions } from './runner.options.js';
import { SettlementBatch } from './settlement.batch.js';
import { SettlementRecorder } from './settlement.js';

const Send = defineJob(KIND, { payload: type<object>() });
const failure = { attempt: 1, code: 'test.failed' };
const FAILURES: Settlement[] = [
  { delayMs: 0, failure, verb: 'retry' },
  { delayMs: 0, failure, verb: 'defer' },
  { delayMs: 0, failure, verb: 'lose' },
  { failure, verb: 'bury' },
  { code: 'test.closed', params: null, verb: 'refuse' },
  { verb: 'giveBack' },
];

/** The answer to its first settlement is lost: after it was written, or before, while the reaper takes the lease. */
class ForgetfulStore extends MemoryJobStore {
  forgets: 'reaped' | 'written' | undefined;

  override async settle(settlements: readonly LeasedSettlement[]): Promise<SettleAnswer[]> {
    const { forgets } = this;
    this.forgets = undefined;
    if (forgets === undefined) return super.settle(settlements);
    if (forgets === 'written') await super.settle(settlements);
    else await this.reap([KIND], 1);
    throw new ConnectionLostError('settle', new Error('gone'));
  }
}

async function told(forgets: 'reaped' | 'written', settlement: Settlement): Promise<string[]> {
  const store = new ForgetfulStore();
  const events: RunnerEvent[] = [];
  const reporter = { report: (event: RunnerEvent) => void events.push(event) };
  await store.enqueueNow([request()]);
  const [claimed] = await store.claim(order({ leaseMs: forgets === 'reaped' ? OVER_MS : 60_000 }));
  const handler = { run: () => Promise.resolve() };
  const entry = handlerEntry({ definition: Send, handler, mode: 'detached', source: 'the test' });
  const run = new Run(claimed!, planKind(entry, resolveRunnerOptions({}, 'the test')), performance.now());
  store.forgets = forgets;
  const recorder = new SettlementRecorder(store, new SettlementBatch(store), reporter);
  await recorder.record(run, { type: 'record', error: new Error('failed'), settlement });
  return events.map((event) => event.type);
}

describe('SettlementRecorder', () => {
  it.each(FAILURES)(
    'R2: $verb, whose answer was lost and whose lease the reaper took, is a lost lease',
    async (settlement) => {
      expect(await told('reaped', settlement)).toEqual(['job.lost']);
    },
  );

  it.each(FAILURES)(
    'R2, R5: $verb, whose answer was lost after it was written, is told as written',
    async (settlement) => {
      const [event] = await told('written', settlement);
      expect(['job.retried', 'job.deferred', 'job.dead_lettered', 'job.refused', 'job.given_back']).toContain(event);
    },
  );
});
