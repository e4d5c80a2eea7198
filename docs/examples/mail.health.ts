import type { HealthResult } from '@holdfast/queue';
import { Injectable } from '@nestjs/common';

@Injectable()
export class MailHealth {
  suspended = false;

  check(key: string): HealthResult {
    return { [key]: this.suspended ? { status: 'degraded', message: 'Mail is suspended.' } : { status: 'up' } };
  }
}
