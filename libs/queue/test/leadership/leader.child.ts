import { ConnectionLostError, pause, SchemaName } from '@holdfast/kernel';
import { Pool } from 'pg';
import { AdvisoryLockLeadership } from '../../src/leadership/advisory-lock.leadership.js';

/**
 * A process that stands for a name, and acts while it leads, in both senses of L3. It is given DATABASE_URL for its leadership, RECORD_URL for what
 * it records besides, TICK_MS and WHO; with SLOW its acts last longer than the server lets them.
 *
 * `committed` has what it committed through the leader's connection: from when to when, by the database's clock. `belief` has for how long it
 * believed when it looked, by the clock that all processes of a machine share.
 */

const ACTS_PER_TICK = 20;
const tickMs = Number(process.env.TICK_MS);
const who = process.env.WHO!;
const tell = (event: string, fields: object = {}) => process.send?.({ event, who, ...fields });

async function main(): Promise<void> {
  const leadership = new AdvisoryLockLeadership(
    { connectionString: process.env.DATABASE_URL },
    { schema: new SchemaName('holdfast') },
  );
  const candidate = leadership.candidate('acts', { tickMs });
  const records = new Pool({ application_name: 'child-records', connectionString: process.env.RECORD_URL, max: 2 });
  records.on('error', () => undefined);
  const ending = new AbortController();
  let led = false;
  candidate.onLost((reason) => {
    led = false;
    tell('lost', { reason: reason.message });
  });

  const pauseMs = (ms: number) => pause(ms, ending.signal);

  /** What this process could start now, it could start until then. */
  const believe = async () => {
    const from = process.hrtime.bigint();
    const leftMs = candidate.beliefLeftMs;
    if (leftMs === 0) return;
    const until = from + BigInt(Math.floor(leftMs * 1e6));
    const insert = 'INSERT INTO belief (who, from_ns, until_ns) VALUES ($1, $2, $3)';
    await records.query(insert, [who, from.toString(), until.toString()]);
  };

  const commit = () =>
    candidate.transaction(async (sql) => {
      if (process.env.SLOW) await sql.query('SELECT pg_sleep(60)');
      const began = await sql.query<{ at: string }>('SELECT clock_timestamp()::text AS at');
      const insert = 'INSERT INTO committed (who, began, ended) VALUES ($1, $2::timestamptz, clock_timestamp())';
      await sql.query(insert, [who, began.rows[0]!.at]);
    });

  const act = async () => {
    while (!ending.signal.aborted) {
      // Both may fail, when the lead or the database is lost: then there was no act.
      await believe().catch(() => undefined);
      if (candidate.isLeader) await commit().catch((error: unknown) => tell('refused', { error: String(error) }));
      await pauseMs(tickMs / ACTS_PER_TICK);
    }
  };

  const tick = async () => {
    while (!ending.signal.aborted) {
      const leads = await candidate.acquire().catch((error: unknown) => {
        tell(error instanceof ConnectionLostError ? 'unreachable' : 'refused', { error: String(error) });
        return false;
      });
      if (leads && !led) tell('elected');
      led = leads;
      tell('tick', { leads });
      await pauseMs(tickMs);
    }
  };

  process.on('message', (message: { do: string }) => {
    if (message.do === 'report') tell('report', { leads: candidate.isLeader });
  });
  process.once('SIGTERM', () => {
    ending.abort();
    const beliefEnded = process.hrtime.bigint().toString();
    void candidate
      .release()
      .then(() => records.query('UPDATE belief SET until_ns = least(until_ns, $2) WHERE who = $1', [who, beliefEnded]))
      .then(() => tell('released'))
      .then(() => leadership.close())
      .then(() => records.end())
      .then(() => process.exit(0));
  });
  tell('ready');
  await Promise.all([tick(), act()]);
}

void main();
