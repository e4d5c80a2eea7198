import { defineJob, type DetachedContext, type DetachedHandler, JobHandler, type JobOf, type } from '@holdfast/queue';

export const ImportRows = defineJob('rows.import', { payload: type<{ pages: number }>(), timeout: '2h' });

export abstract class Source {
  abstract importPage(page: number, signal: AbortSignal): Promise<void>;
}

@JobHandler(ImportRows, { detached: true })
export class ImportRowsHandler implements DetachedHandler<typeof ImportRows> {
  constructor(private readonly source: Source) {}

  async run(job: JobOf<typeof ImportRows>, ctx: DetachedContext) {
    const { pages } = job.payload;
    for (let page = 0; page < pages; page += 1) {
      await this.source.importPage(page, ctx.signal);
      await ctx.report((page + 1) / pages); // at most one write a second, however often it is called
    }
  }
}
