import { property, type Transaction } from '@holdfast/kernel';
import type { EncodedRequest, Enqueued } from '../domain/request.js';
import type { ClientEvent } from '../ports/client.events.js';

/** Answered takes what came of requests. */
export type Answered = (requests: readonly EncodedRequest[], answers: readonly Enqueued[]) => void;

interface Noted {
  readonly disposition: Enqueued['disposition'];
  jobs: number;
  readonly kind: string;
  /** rollbacks to a savepoint before it. */
  readonly rollbacks: number;
}

/** EnqueueTally tells of enqueues once the transaction has committed that holds them (M4). */
export class EnqueueTally {
  private readonly open = new WeakMap<Transaction, Map<string, Noted>>();

  constructor(private readonly tell: (event: ClientEvent) => void) {}

  /** ofOthers: the transaction is another tool's, whose end nobody tells. */
  readonly ofOthers: Answered = (requests, answers) =>
    this.tellAll(counted(new Map(), requests, answers, 0), () => false);

  /** own: the store's own transaction, which has committed when it answers. */
  readonly own: Answered = (requests, answers) => this.tellAll(counted(new Map(), requests, answers, 0), () => true);

  /** within follows a transaction of Holdfast's; it is asked before anything is sent, because one that is being committed takes no callback any more. */
  within(transaction: Transaction): Answered {
    let noted = this.open.get(transaction);
    if (!noted) {
      noted = new Map();
      this.open.set(transaction, noted);
      transaction.afterCommit(() => this.tellAll(noted!, ({ rollbacks }) => rollbacks === rollbacksOf(transaction)));
    }
    const map = noted;
    return (requests, answers) => void counted(map, requests, answers, rollbacksOf(transaction));
  }

  private tellAll(noted: ReadonlyMap<string, Noted>, isConfirmed: (one: Noted) => boolean): void {
    for (const one of noted.values()) {
      const { disposition, jobs, kind } = one;
      this.tell({ type: 'job.enqueued', confirmed: isConfirmed(one), disposition, jobs, kind });
    }
  }
}

function counted(
  noted: Map<string, Noted>,
  requests: readonly EncodedRequest[],
  answers: readonly Enqueued[],
  rollbacks: number,
): Map<string, Noted> {
  for (const [place, { kind }] of requests.entries()) {
    const { disposition } = answers[place]!;
    const key = `${kind} ${disposition} ${rollbacks}`;
    const one = noted.get(key);
    if (one) one.jobs += 1;
    else noted.set(key, { disposition, jobs: 1, kind, rollbacks });
  }
  return noted;
}

function rollbacksOf(transaction: Transaction): number {
  return (property(transaction, 'savepointRollbacks') as number | undefined) ?? 0;
}
