import { channelOf, Doors, pgPool, SchemaName } from '@holdfast/kernel';
import { type TestDatabase, waitFor } from '@holdfast/testing';
import {
  type AttachedHandler,
  createQueue,
  defineJob,
  type HoldfastQueue,
  type QueueEvent,
  type QueueOptions,
  type RunOptions,
  type,
} from '../../src/core.js';

export const Note = defineJob('test.note', {
  backoff: { delays: ['40ms'] },
  payload: type<{ n: number; text?: string }>(),
  whenRunning: 'rerun',
});
/** What no test waits for: whoever is not woken is not seen. */
const NEVER = '1h';

/** HandlingOptions are what a test says of a queue. */
export type HandlingOptions = Pick<QueueOptions, 'directUrl' | 'notifications' | 'schema'> & {
  readonly pool?: number;
  readonly run?: RunOptions;
  readonly url?: string;
};

/** Heard are notifications that a session of its own has heard. */
export interface Heard {
  readonly channels: string[];
  readonly sent: (string | undefined)[];
  flush(): Promise<void>;
}

/** WakingStand has queues on one database whose poll is an hour away, so that what runs was woken. */
export class WakingStand {
  readonly events: QueueEvent[] = [];
  private readonly queues: HoldfastQueue[] = [];

  constructor(readonly db: TestDatabase) {}

  async close(): Promise<void> {
    await Promise.all(this.queues.splice(0).map((queue) => queue.close()));
    this.events.length = 0;
  }

  /** heard are the notifications of a schema, as they come; `sent` is what they carry. `flush` waits until those have come that were committed before. */
  async heard(schema = 'holdfast'): Promise<Heard> {
    const channels: string[] = [];
    const sent: (string | undefined)[] = [];
    const client = await this.db.client();
    client.on('notification', ({ channel, payload }) => {
      channels.push(channel);
      sent.push(payload);
    });
    await client.query(`LISTEN ${client.escapeIdentifier(channelOf(new SchemaName(schema)))}`);
    return { channels, flush: async () => void (await client.query('SELECT 1')), sent };
  }

  async handling(run: AttachedHandler<typeof Note>['run'], options: HandlingOptions = {}): Promise<HoldfastQueue> {
    const queue = this.queue(options);
    queue.handle(Note, { run });
    await queue.start();
    return queue;
  }

  /** doors are the modes in which the doors of a schema are held now, by the pid of who holds them. */
  doors(schema = 'holdfast'): Promise<{ mode: string; pid: number }[]> {
    return this.db.adminQuery<{ mode: string; pid: number }>(
      `SELECT l.pid, l.mode FROM pg_locks l JOIN pg_database d ON d.oid = l.database
         WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.granted
           AND l.classid::bigint = $1 AND (l.objid::bigint - $2 + 4294967296) % 4294967296 < 32`,
      [Number(new Doors(new SchemaName(schema)).numbered('').split(',')[0]), new Doors(new SchemaName(schema)).first],
    );
  }

  /** idle waits until some consumer of a schema keeps its door and has looked behind it. */
  async idle(schema = 'holdfast'): Promise<void> {
    await waitFor(async () => (await this.doors(schema)).some(({ mode }) => mode === 'ExclusiveLock'), {
      what: `an idle consumer of ${schema}`,
    });
  }

  /** listeners are the backends of the listening sessions. */
  async listeners(): Promise<number[]> {
    const rows = await this.db.adminQuery<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE application_name = 'holdfast-listener' AND datname = current_database()`,
    );
    return rows.map(({ pid }) => pid);
  }

  queue(options: HandlingOptions = {}): HoldfastQueue {
    const { pool = 5, run, url, ...rest } = options;
    const queue = createQueue({
      ...rest,
      database: pgPool(this.db.pool({ max: pool, ...(url !== undefined && { connectionString: url }) })),
      migrations: 'up',
      reporter: { report: (event) => void this.events.push(event) },
      run: { poll: NEVER, slots: 2, ...run },
    });
    this.queues.push(queue);
    return queue;
  }

  /** unheld waits until nobody keeps a door of a schema. */
  async unheld(schema = 'holdfast'): Promise<void> {
    await waitFor(async () => (await this.doors(schema)).length === 0, { what: `the doors of ${schema} to be left` });
  }
}

/** Runs notes what has run, and lets a test wait for it. */
export class Runs {
  readonly seen: number[] = [];
  private readonly waiting = new Map<number, () => void>();

  /** run is a handler. */
  readonly run: AttachedHandler<typeof Note>['run'] = ({ payload: { n } }) => {
    this.seen.push(n);
    this.waiting.get(n)?.();
    return Promise.resolve();
  };

  of(n: number): Promise<void> {
    if (this.seen.includes(n)) return Promise.resolve();
    return new Promise((resolve) => this.waiting.set(n, resolve));
  }
}
