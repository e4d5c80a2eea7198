import { REPOSITORY } from '@holdfast/contracts';
import { sqlStateOf } from '@holdfast/kernel';
import { Controller, Get, Param } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { RepositoryStatisticsEntity } from '../database/repository-statistics.entity.js';
import { Problem } from '../problems/problem.js';
import { statisticsView, type StatisticsView } from './statistics.view.js';

const MAX_TYPES = 1_000;
const UNDEFINED_TABLE = '42P01';

/** StatisticsController shows what the jobs of the worker came to. */
@Controller('repositories')
export class StatisticsController {
  constructor(
    @InjectRepository(RepositoryStatisticsEntity) private readonly statistics: Repository<RepositoryStatisticsEntity>,
  ) {}

  /** find answers the counts of a repository by type, the first thousand types by name. */
  @Get(':owner/:name/statistics')
  async find(@Param('owner') owner: string, @Param('name') name: string): Promise<StatisticsView> {
    const repository = `${owner}/${name}`;
    const rows = REPOSITORY.test(repository) ? await this.rowsOf(repository) : [];
    if (rows.length > 0) return statisticsView(repository, rows);
    throw new Problem(404, 'No event of this repository has been counted: the worker does so soon after its 202.');
  }

  /** The worker makes the table at its first start: before, nothing has been counted. */
  private async rowsOf(repository: string): Promise<RepositoryStatisticsEntity[]> {
    try {
      return await this.statistics.find({ order: { eventType: 'ASC' }, take: MAX_TYPES, where: { repository } });
    } catch (error) {
      if (sqlStateOf(error) === UNDEFINED_TABLE) return [];
      throw error;
    }
  }
}
