import 'reflect-metadata';
import type { Jobs, JobStatus } from '@holdfast/queue';
import { TenantScope } from '../access/tenant.scope.js';
import { JobsController } from './jobs.controller.js';

const scope = new TenantScope('a', undefined as never);
const find = (job: Partial<JobStatus> | undefined) =>
  new JobsController({ find: () => Promise.resolve(job) } as Partial<Jobs> as Jobs).find(scope, '7');

describe('JobsController', () => {
  it('H2: an id without a job is answered with what is true: nothing removes jobs yet', async () => {
    const refusal = find(undefined);
    await expect(refusal).rejects.toMatchObject({ status: 404 });
    await expect(refusal).rejects.not.toThrow(/kept|for ever|purge/);
  });

  it.each([0.25, null])('H2, R15: shows the progress %p that its job has reported', async (progress) => {
    const now = new Date();
    const job = { attempt: 1, createdAt: now, dueAt: now, finishedAt: null, id: '7', progress, tenantId: 'a' };
    expect(await find(job)).toMatchObject({ id: '7', progress });
  });

  it.each(['b', null])('H2, T1: a job of the tenant %j is answered like none', async (tenantId) => {
    const none = await find(undefined).catch((error: unknown) => error);
    expect(await find({ tenantId }).catch((error: unknown) => error)).toEqual(none);
  });
});
