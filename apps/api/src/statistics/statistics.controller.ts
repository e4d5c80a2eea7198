import { REPOSITORY } from '@holdfast/contracts';
import { RepositoryStatisticsEntity } from '@holdfast/hub';
import { Controller, Get, Param, UseGuards } from '@nestjs/common';
import { Scope, TenantGuard } from '../access/tenant.guard.js';
import { TenantScope } from '../access/tenant.scope.js';
import { Problem } from '../problems/problem.js';
import { statisticsView, type StatisticsView } from './statistics.view.js';

const MAX_TYPES = 1_000;

/** StatisticsController shows what the jobs of the worker came to. */
@Controller('repositories')
@UseGuards(TenantGuard)
export class StatisticsController {
  /** find answers the tenant's counts of a repository by type, the first thousand types by name. */
  @Get(':owner/:name/statistics')
  async find(
    @Scope() scope: TenantScope,
    @Param('owner') owner: string,
    @Param('name') name: string,
  ): Promise<StatisticsView> {
    const repository = `${owner}/${name}`;
    const rows = REPOSITORY.test(repository) ? await rowsOf(scope, repository) : [];
    if (rows.length > 0) return statisticsView(repository, rows);
    throw new Problem(404, 'No event of this repository has been counted: the worker does so soon after its 202.');
  }
}

async function rowsOf(scope: TenantScope, repository: string): Promise<RepositoryStatisticsEntity[]> {
  const options = { order: { eventType: 'ASC' }, take: MAX_TYPES, where: { repository } } as const;
  return scope.read(({ manager }) => manager.find(RepositoryStatisticsEntity, options));
}
