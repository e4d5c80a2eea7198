import 'reflect-metadata';
import { UnitOfWork } from '@holdfast/queue';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { TenantScope } from '../src/access/tenant.scope.js';
import { EventAcceptance } from '../src/events/event.acceptance.js';
import { startApi } from '../src/start-api.js';

const HOUR_MS = 3_600_000;

describe('when an event was received', () => {
  let app: NestExpressApplication;
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
    const { url: DATABASE_URL } = await database.createRole({ owner: true });
    app = await startApi({ DATABASE_URL, LOG_LEVEL: 'error', PORT: '0' });
  });

  afterAll(async () => {
    jest.useRealTimers();
    await app.close();
    await database.drop();
  });

  it("H5: is said by the database's clock, with the same moment in the event and in its job, however wrong the api's is", async () => {
    jest.useFakeTimers({
      doNotFake: [
        'clearImmediate',
        'clearInterval',
        'clearTimeout',
        'hrtime',
        'nextTick',
        'performance',
        'queueMicrotask',
        'setImmediate',
        'setInterval',
        'setTimeout',
      ],
      now: Date.now() - 24 * HOUR_MS,
    });
    const scope = new TenantScope('skewed', app.get(UnitOfWork));
    await app.get(EventAcceptance).accept(scope, { id: 'one', payload: {}, type: 'push' });
    const [row] = await database.adminQuery<{ recent: boolean; same: boolean }>(
      `SELECT received_at > clock_timestamp() - interval '1 hour' AS recent,
         received_at = (job.payload ->> 'receivedAt')::timestamptz AS same
       FROM event, holdfast.job WHERE job.kind = 'event.record'`,
    );
    expect(row).toEqual({ recent: true, same: true });
  });
});
