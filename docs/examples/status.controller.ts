import { Jobs } from '@holdfast/queue';
import { Controller, Get, NotFoundException, Param } from '@nestjs/common';

@Controller('jobs')
export class StatusController {
  constructor(private readonly jobs: Jobs) {}

  @Get(':id')
  async find(@Param('id') id: string) {
    const job = await this.jobs.find(id);
    if (!job) throw new NotFoundException();
    return { state: job.state, outcome: job.outcome, attempt: job.attempt };
  }
}
