import { waitFor } from '@holdfast/testing';
import { atLeast, atMost, exactly, sameCounts, type DemoCheck } from './demo.report.js';
import type { DemoStack } from './demo.stack.js';
import { expectedStatistics, sampleEvents, type SampleEvent } from './sample.events.js';

/** SAMPLES is how many payloads the package holds; another number means another package. */
const SAMPLES = 329;
/** The worker is killed twice: when so many deliveries have arrived, with at least so many on their way. */
const KILLS_AFTER: readonly number[] = [80, 200];
const IN_FLIGHT = 3;
const POSTS_AT_ONCE = 8;
const DEADLINE_MS = 60_000;

/** DemoRun posts every sample to a stack, kills its worker twice in the middle, and checks what became of it all. */
export class DemoRun {
  constructor(
    private readonly stack: DemoStack,
    private readonly say: (line: string) => void,
  ) {}

  async run(): Promise<DemoCheck[]> {
    const events = sampleEvents();
    const api = await this.stack.start();
    this.say(`api ${api}, one worker, a receiver that checks signatures`);
    const [accepted, inFlight] = await Promise.all([this.post(api, events), this.kill()]);
    this.say('waiting for the rest');
    await waitFor(async () => (await this.stack.ledger.left()) === 0, {
      deadlineMs: DEADLINE_MS,
      everyMs: 200,
      what: 'every job to succeed',
    }).catch((error: Error) => this.say(error.message));
    return this.check(events, accepted, inFlight);
  }

  private async check(
    events: readonly SampleEvent[],
    accepted: number,
    inFlight: readonly number[],
  ): Promise<DemoCheck[]> {
    const { ledger, receiver } = this.stack;
    return [
      exactly('events accepted', SAMPLES, accepted),
      exactly('events stored', SAMPLES, await ledger.events()),
      exactly('deliveries by distinct id', SAMPLES, receiver.distinct),
      exactly('events delivered', SAMPLES, receiver.eventIds.size),
      exactly('deliveries recorded', SAMPLES, await ledger.deliveries()),
      exactly('deliveries with a wrong signature', 0, receiver.refused),
      ...inFlight.map((count, kill) => atLeast(`in flight at kill ${kill + 1}`, IN_FLIGHT, count)),
      atMost(
        'duplicate deliveries',
        inFlight.reduce((sum, count) => sum + count, 0),
        receiver.duplicates,
      ),
      sameCounts('statistics by repository and type', expectedStatistics(events), await ledger.statistics()),
      exactly('jobs left', 0, await ledger.left()),
    ];
  }

  /** kill answers how many deliveries were on their way at each kill. */
  private async kill(): Promise<number[]> {
    const { ledger, receiver } = this.stack;
    const inFlight: number[] = [];
    const seen = new Set<string>();
    for (const arrived of KILLS_AFTER) {
      await waitFor(() => receiver.distinct >= arrived, { deadlineMs: DEADLINE_MS, what: `${arrived} deliveries` });
      await receiver.keepAnswers(IN_FLIGHT, DEADLINE_MS);
      await this.stack.killWorker();
      const cut = (await ledger.running()).filter((attempt) => !seen.has(attempt));
      for (const attempt of cut) seen.add(attempt);
      inFlight.push(cut.length);
      receiver.letGo();
      this.say(`worker killed after ${receiver.distinct} deliveries, ${cut.length} in flight; starting it again`);
      await this.stack.startWorker();
    }
    return inFlight;
  }

  /** post answers how many events got a 202. */
  private async post(api: string, events: readonly SampleEvent[]): Promise<number> {
    const queue = [...events];
    let accepted = 0;
    const poster = async (): Promise<void> => {
      for (let event = queue.shift(); event; event = queue.shift()) {
        const response = await fetch(`${api}/events`, {
          body: JSON.stringify(event),
          headers: { 'Content-Type': 'application/json' },
          method: 'POST',
        });
        if (response.status === 202) accepted++;
        await response.arrayBuffer();
      }
    };
    await Promise.all(Array.from({ length: POSTS_AT_ONCE }, poster));
    this.say(`${accepted} events accepted`);
    return accepted;
  }
}
