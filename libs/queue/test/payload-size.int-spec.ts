import { pgPool } from '@holdfast/kernel';
import { createTestDatabase, type TestDatabase } from '@holdfast/testing';
import { createQueue, defineJob, type HoldfastQueue, InvalidQueueOptionsError, type } from '../src/core.js';
import { PayloadTooLargeError } from '../src/errors/payload-too-large.error.js';

const MB = 1_000_000;
const Keep = defineJob('size.keep', { payload: type<{ text: string }>() });

describe('The size of a payload', () => {
  let db: TestDatabase;
  let queue: HoldfastQueue;

  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterEach(() => queue.close());
  afterAll(() => db.drop());

  const open = (payloadLimitBytes?: number) =>
    (queue = createQueue({ database: pgPool(db.pool()), ...(payloadLimitBytes ? { payloadLimitBytes } : {}) }));
  const sizes = async () =>
    (
      await db.adminQuery<{ size: number }>(`SELECT length(payload->>'text') AS size FROM holdfast.job ORDER BY id`)
    ).map(({ size }) => size);

  it.each([1, 50, 300])(
    'K92: %d MB is over the default limit: refused in bytes before any SQL, and the transaction goes on',
    async (megabytes) => {
      const { jobs, unitOfWork } = open();
      const payload = { text: 'x'.repeat(megabytes * MB) };
      await unitOfWork.run(async (tx) => {
        const { rows } = await tx.sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        const refused: unknown = await jobs.enqueue(Keep, payload).catch((error: unknown) => error);
        expect(refused).toBeInstanceOf(PayloadTooLargeError);
        expect((refused as Error).message.length).toBeLessThan(500);
        const last = 'SELECT query FROM pg_stat_activity WHERE pid = $1';
        expect(await db.adminQuery(last, [rows[0]!.pid])).toEqual([{ query: 'SELECT pg_backend_pid() AS pid' }]);
        await tx.sql.query('SELECT 1');
      });
      expect(await sizes()).toEqual([]);
    },
  );

  it('K92: 1 and 50 MB are stored under a limit that allows them, 300 MB is refused under every limit', async () => {
    const limit = 64 * 1024 * 1024;
    const { jobs } = open(limit);
    for (const megabytes of [1, 50]) await jobs.enqueue(Keep, { text: 'x'.repeat(megabytes * MB) }, { in: 'own' });
    const tooLarge = jobs.enqueue(Keep, { text: 'x'.repeat(300 * MB) }, { in: 'own' });
    await expect(tooLarge).rejects.toBeInstanceOf(PayloadTooLargeError);
    expect(await sizes()).toEqual([MB, 50 * MB]);
    expect(() => createQueue({ database: pgPool(db.pool()), payloadLimitBytes: limit + 1 })).toThrow(
      InvalidQueueOptionsError,
    );
  });
});
