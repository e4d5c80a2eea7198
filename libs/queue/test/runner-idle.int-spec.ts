import { ControlConnections, pgPool, type SchemaName, type SqlResult, type Statement } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase, within } from '@holdfast/testing';
import { defineJob } from '../src/domain/definition.js';
import { type } from '../src/domain/payload.schema.js';
import { JobHandlerRegistry } from '../src/handlers/job-handler.registry.js';
import { PostgresJobStore } from '../src/postgres/postgres.job-store.js';
import { Runner } from '../src/runner/runner.js';
import { resolveRunnerOptions } from '../src/runner/runner.options.js';
import { SCHEMA } from './store.harness.js';

const Send = defineJob('mail.send', { payload: type<object>() });
/** The part of a poll by which it may come earlier. */
const JITTER = 0.2;

/** It writes down the name of every statement, and looks that nothing goes another way. */
class WatchedConnections extends ControlConnections {
  readonly sent: string[] = [];

  override query(): never {
    throw new Error('A statement without a name.');
  }

  override run<Params, Row>(
    statement: Statement<Params, Row>,
    schema: SchemaName,
    params: Params,
  ): Promise<SqlResult<Row>> {
    this.sent.push(
      statement
        .bind(schema, params)
        .name.replace(/^holdfast-/, '')
        .replace(/-[0-9a-f]{8}$/, ''),
    );
    return super.run(statement, schema, params);
  }

  override transaction(): never {
    throw new Error('A transaction of several statements.');
  }
}

describe('An idle runner', () => {
  let db: TestDatabase;

  beforeAll(async () => (db = await createTestDatabase()));
  afterAll(() => db.drop());

  it('P8, Q12, R18: looks in full at the start, and then asks once a poll whether anything waits, which is less than a statement a second', async () => {
    const config = { connectionString: db.url };
    const connections = new WatchedConnections(config, { applicationName: 'holdfast', deadlineMs: 5_000, max: 3 });
    const keeper = new WatchedConnections(config, { applicationName: 'keeper', deadlineMs: 5_000, max: 1 });
    const store = new PostgresJobStore({ connections, keeper, schema: SCHEMA });
    const registry = new JobHandlerRegistry();
    const handler = { run: () => Promise.resolve() };
    registry.register({ definition: Send, handler, mode: 'attached', source: 'the test' } as never);
    const looks: string[][] = [];
    let enough: () => void = () => undefined;
    const seen = new Promise<void>((resolve) => (enough = resolve));
    const reporter = {
      report: (event: { type: string }) => {
        if (event.type !== 'claim.answered') return;
        looks.push(connections.sent.splice(0));
        if (looks.length === 6) enough();
      },
    };
    const runner = new Runner({ database: pgPool(db.pool()), options: { pollMs: 20 }, registry, reporter, store });
    await runner.start();
    await within(seen, 10_000, 'six looks');
    await runner.stop();
    await store.close();

    const first = [
      'declare-endings',
      'intake-requests',
      'reap-jobs',
      'find-unknown-kinds',
      'claim-suspect',
      'claim-jobs',
    ];
    const idle = ['find-work'];
    expect(looks.slice(0, 6)).toEqual([first, idle, idle, idle, idle, idle]);
    expect(keeper.sent).toEqual([]);
    const shortestPollMs = resolveRunnerOptions({}, 'the test').pollMs * (1 - JITTER);
    expect((idle.length / shortestPollMs) * 1_000).toBeLessThan(1);
  });
});
