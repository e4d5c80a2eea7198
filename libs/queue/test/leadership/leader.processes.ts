import { type SpawnedProcess, spawnTs, type TestDatabase } from '@holdfast/testing';

/** LeaderProcesses are processes that stand for one name, and the record of what they did as leaders. */
export class LeaderProcesses {
  private readonly children: SpawnedProcess[] = [];

  constructor(private readonly db: TestDatabase) {}

  /** createTables makes the records. */
  async createTables(): Promise<void> {
    await this.db.adminQuery('CREATE TABLE committed (who text, began timestamptz, ended timestamptz)');
    await this.db.adminQuery('CREATE TABLE belief (who text, from_ns numeric, until_ns numeric)');
  }

  /** end kills what still runs and forgets what was recorded. */
  async end(): Promise<void> {
    for (const child of this.children.splice(0)) {
      child.signal('SIGCONT');
      if (!child.exited) await child.kill();
    }
    await this.db.adminQuery('TRUNCATE committed, belief');
  }

  /** kill kills a process; whatever it believed ends there. */
  async kill(who: string, child: SpawnedProcess): Promise<void> {
    const killedAt = process.hrtime.bigint().toString();
    await child.kill();
    await this.db.adminQuery('UPDATE belief SET until_ns = least(until_ns, $2) WHERE who = $1', [who, killedAt]);
  }

  /** overlaps answers how often two processes committed as leaders at once, and believed to be it at once. */
  async overlaps(): Promise<{ beliefs: number; commits: number }> {
    const [row] = await this.db.adminQuery<{ beliefs: number; commits: number }>(
      `SELECT (SELECT count(*)::int FROM committed a JOIN committed b ON a.who < b.who AND a.began < b.ended AND b.began < a.ended) AS commits,
              (SELECT count(*)::int FROM belief a JOIN belief b ON a.who < b.who AND a.from_ns < b.until_ns AND b.from_ns < a.until_ns) AS beliefs`,
    );
    return row!;
  }

  /** start answers a process that has said it is ready. */
  async start(
    who: string,
    tickMs: number,
    url = this.db.url,
    env: Record<string, string> = {},
  ): Promise<SpawnedProcess> {
    const child = spawnTs('libs/queue/test/leadership/leader.child.ts', {
      env: { DATABASE_URL: url, RECORD_URL: this.db.url, TICK_MS: String(tickMs), WHO: who, ...env },
    });
    this.children.push(child);
    await child.event('ready');
    return child;
  }

  /** commits answers how many acts of a process were committed through the leader's connection. */
  async commits(who: string): Promise<number> {
    const [row] = await this.db.adminQuery<{ n: number }>('SELECT count(*)::int AS n FROM committed WHERE who = $1', [
      who,
    ]);
    return row!.n;
  }
}
