import { waitFor } from '@holdfast/testing';
import { demoFindings, IN_FLIGHT, type DemoFindings } from './demo.checks.js';
import { SAMPLES, tenantPlans } from './demo.plan.js';
import type { DemoStack } from './demo.stack.js';
import type { HubTenant } from './hub.tenant.js';

/** The worker is killed twice: when so many deliveries have arrived, with at least so many on their way. */
const KILLS_AFTER: readonly number[] = [100, 250];
const POSTS_AT_ONCE = 8;
const DEADLINE_MS = 60_000;

/** DemoRun posts every sample to a stack, as three tenants, kills its worker twice in the middle, pauses a subscription, and checks what became of it all. */
export class DemoRun {
  constructor(
    private readonly stack: DemoStack,
    private readonly say: (line: string) => void,
  ) {}

  async run(): Promise<DemoFindings> {
    const api = await this.stack.start(tenantPlans());
    const { ledger, tenants } = this.stack;
    this.say(`api ${api}, one worker, receivers that check signatures`);
    for (const { plan } of tenants)
      this.say(
        `  ${plan.name}: ${plan.subscriptions.map(({ manner, name }) => `${name}${manner === 'steady' ? '' : ` (${manner})`}`).join(', ')}`,
      );
    const [, inFlight] = await Promise.all([this.post(), this.kill()]);
    this.say('waiting for the rest');
    await waitFor(async () => (await ledger.left()) === 0, {
      deadlineMs: DEADLINE_MS,
      everyMs: 200,
      what: 'every job to end',
    }).catch((error: Error) => this.say(error.message));
    return demoFindings(this.stack, inFlight);
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
      this.say(`worker killed after ${receiver.distinct} deliveries, ${cut.length} in flight`);
      if (inFlight.length === 1) await this.pause();
      this.say('starting it again');
      await this.stack.startWorker();
    }
    return inFlight;
  }

  /** pause takes place while no worker runs: what the subscription has in the queue is there to be refused. */
  private async pause(): Promise<void> {
    for (const tenant of this.stack.tenants) {
      for (const subscription of tenant.subscriptions.filter(({ plan }) => plan.manner === 'paused in the middle')) {
        const queued = () => this.stack.ledger.queued(subscription.id);
        await waitFor(async () => (await queued()) > 0, { what: 'deliveries in the queue of what is paused' });
        await tenant.pause(subscription);
        this.say(`${tenant.plan.name} pauses ${subscription.plan.name} with ${await queued()} deliveries in the queue`);
      }
    }
  }

  private async post(): Promise<void> {
    const queue = interleaved(this.stack.tenants);
    const poster = async (): Promise<void> => {
      for (let next = queue.shift(); next; next = queue.shift()) await next();
    };
    await Promise.all(Array.from({ length: POSTS_AT_ONCE }, poster));
    const accepted = this.stack.tenants.reduce((sum, tenant) => sum + tenant.accepted.size, 0);
    this.say(`${accepted} of ${SAMPLES} events accepted`);
  }
}

/** interleaved answers what is posted, the tenants taking turns. */
function interleaved(tenants: readonly HubTenant[]): (() => Promise<void>)[] {
  const most = Math.max(...tenants.map(({ plan }) => plan.events.length));
  return Array.from({ length: most }, (_, turn) => turn).flatMap((turn) =>
    tenants.flatMap((tenant) => {
      const event = tenant.plan.events[turn];
      return event ? [() => tenant.post(event)] : [];
    }),
  );
}
