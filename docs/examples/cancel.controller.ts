import { Jobs } from '@holdfast/queue';
import { ConflictException, Controller, NotFoundException, Param, Post } from '@nestjs/common';

@Controller('jobs')
export class CancelController {
  constructor(private readonly jobs: Jobs) {}

  @Post(':id/cancel')
  async cancel(@Param('id') id: string) {
    const answer = await this.jobs.cancel(id, { tenantId: 'acme' }); // the tenant of who asks: another's job is not there
    if (answer.disposition === 'not_found') throw new NotFoundException();
    if (answer.disposition === 'final') throw new ConflictException(`It has ended already: ${answer.state}.`);
    return { id: answer.id, cancelled: answer.disposition === 'cancelled' };
  }
}
