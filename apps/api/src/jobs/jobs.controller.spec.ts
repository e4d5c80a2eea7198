import 'reflect-metadata';
import { JobsController } from './jobs.controller.js';

describe('JobsController', () => {
  it('H2: an id without a job is answered with what is true: nothing removes jobs yet', async () => {
    const controller = new JobsController({ find: () => Promise.resolve(undefined) });
    const refusal = controller.find('7');
    await expect(refusal).rejects.toMatchObject({ status: 404 });
    await expect(refusal).rejects.not.toThrow(/kept|for ever|purge/);
  });
});
