import {
  defineJob,
  JobBusyError,
  JobNotFoundError,
  Jobs,
  JobStateError,
  KeyTakenError,
  type,
  type RequeueResult,
} from '@holdfast/queue';
import { ConflictException, Injectable, NotFoundException, ServiceUnavailableException } from '@nestjs/common';
import type { QueueModuleOptions } from '@holdfast/queue';

export const SendMail = defineJob('mail.send', { payload: type<{ to: string; body: string }>() });

@Injectable()
export class OperatorsDesk {
  constructor(private readonly jobs: Jobs) {}

  async deadLetters(cursor?: string) {
    const page = await this.jobs.list({ state: 'DEAD_LETTER', kind: 'mail.send', limit: 100, cursor });
    return {
      next: page.cursor,
      jobs: page.jobs.map(({ id, errorCode, finishedAt }) => ({ id, errorCode, finishedAt })),
    };
  }

  async requeue(id: string) {
    try {
      return await this.jobs.requeue(id);
    } catch (error) {
      if (error instanceof JobNotFoundError) throw new NotFoundException(error.message);
      if (error instanceof KeyTakenError) throw new ConflictException(`Job ${error.liveJobId} does its work.`);
      if (error instanceof JobStateError) throw new ConflictException(error.message);
      if (error instanceof JobBusyError) throw new ServiceUnavailableException(error.message);
      throw error;
    }
  }

  async afterTheOutage() {
    await this.jobs.resumeKind(SendMail.kind);
    let part: RequeueResult | undefined;
    do {
      const filter = { state: 'DEAD_LETTER', kind: 'mail.send', errorCode: 'mail.unreachable' } as const;
      part = await this.jobs.requeueMatching({ ...filter, cursor: part?.cursor ?? undefined });
    } while (part.cursor !== null);
  }

  async forget(id: string) {
    await this.jobs.delete(id);
    await this.jobs.purge({ state: 'CANCELLED', kind: 'mail.send', olderThan: '1h' });
  }
}

export const shown: Pick<QueueModuleOptions, 'redactPayload'> = {
  redactPayload: (_job, payload) => ({ ...(payload as object), body: '…' }),
};
