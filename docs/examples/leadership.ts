import { Leadership, type Candidate } from '@holdfast/queue';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';

const TICK_MS = 10_000;

/** PriceFeed keeps one connection to a supplier that allows one: whichever process leads has it. */
@Injectable()
export class PriceFeed implements OnModuleInit, OnApplicationShutdown {
  private readonly candidate: Candidate;
  private readonly log = new Logger(PriceFeed.name);
  private ticking: NodeJS.Timeout | undefined;

  constructor(leadership: Leadership) {
    this.candidate = leadership.candidate('price-feed', { tickMs: TICK_MS });
    this.candidate.onLost((reason) => this.log.warn(`No longer the leader: ${reason.message}`));
  }

  onModuleInit(): void {
    this.ticking = setInterval(() => void this.tick().catch((error: unknown) => this.log.error(error)), TICK_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.ticking);
    await this.candidate.release();
  }

  private async tick(): Promise<void> {
    // Takes the name where it is free, proves it where it is held.
    if (!(await this.candidate.acquire())) return;
    await this.candidate.transaction(async (executor) => {
      await executor.query('UPDATE price SET stale = true WHERE quoted_at < now() - $1::interval', ['5 minutes']);
    });
  }
}
