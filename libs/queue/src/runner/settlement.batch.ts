import { isConnectionLost } from '@holdfast/kernel';
import type { JobStore, LeasedSettlement, SettleAnswer } from '../ports/job-store.js';

const MAX_BATCH = 500;

interface Waiting {
  readonly item: LeasedSettlement;
  readonly reject: (error: unknown) => void;
  readonly resolve: (held: SettleAnswer) => void;
}

/**
 * SettlementBatch sends settlements to the store, many in one statement: while one is on its way the next ones gather.
 *
 * Nothing is acknowledged before it is durable. A batch that the server refuses is sent again one by one, so that one bad member harms no other (K3).
 */
export class SettlementBatch {
  private sending = false;
  private waiting: Waiting[] = [];

  constructor(private readonly store: JobStore) {}

  /** settle answers whether the lease was still held; it rejects when the store was not reached or refused it. */
  settle(item: LeasedSettlement): Promise<SettleAnswer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, reject, resolve });
      if (this.sending) return;
      this.sending = true;
      // What ends in the same turn of the event loop goes together.
      setImmediate(() => void this.sendAll());
    });
  }

  private async send(batch: readonly Waiting[]): Promise<void> {
    try {
      const held = await this.store.settle(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => resolve(held[index] ?? false));
    } catch (error) {
      if (batch.length === 1 || isConnectionLost(error)) {
        for (const { reject } of batch) reject(error);
        return;
      }
      for (const one of batch) await this.send([one]);
    }
  }

  private async sendAll(): Promise<void> {
    while (this.waiting.length > 0) {
      const batch = this.waiting.slice(0, MAX_BATCH);
      this.waiting = this.waiting.slice(MAX_BATCH);
      await this.send(batch);
    }
    this.sending = false;
  }
}
