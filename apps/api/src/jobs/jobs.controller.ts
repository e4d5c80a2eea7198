import { Jobs } from '@holdfast/queue';
import { Controller, Get, Param, UseGuards } from '@nestjs/common';
import { Scope, TenantGuard } from '../access/tenant.guard.js';
import { TenantScope } from '../access/tenant.scope.js';
import { Problem } from '../problems/problem.js';
import { jobView, type JobView } from './job.view.js';

/** An id is a number within bigint. */
const JOB_ID = /^[1-9]\d{0,17}$/;

/** JobsController tells whoever got a 202 what became of their job. */
@Controller('jobs')
@UseGuards(TenantGuard)
export class JobsController {
  constructor(private readonly jobs: Jobs) {}

  /**
   * find answers a job of the tenant's by its id or by the id of the request that it came from; never its payload (H2).
   *
   * The queue's tables have no row level security (T3): another tenant's job is told from one of this tenant's here, and is answered like none.
   */
  @Get(':id')
  async find(@Scope() scope: TenantScope, @Param('id') id: string): Promise<JobView> {
    const job = JOB_ID.test(id) ? await this.jobs.find(id) : undefined;
    if (job?.tenantId === scope.tenantId) return jobView(job);
    throw new Problem(
      404,
      'There is no job with this id. An id can be looked up once the transaction that enqueued it has committed.',
    );
  }
}
