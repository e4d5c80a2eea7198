import { setTimeout as later } from 'node:timers/promises';
import { ambientTransaction, outsideTransactions, runInTransaction } from './ambient-transaction.js';
import type { Transaction } from './transaction.js';

describe('outsideTransactions', () => {
  const here = {};
  const there = {};
  const transaction = {} as Transaction;

  it('Q1: what it starts sees no transaction of any database, also later; the caller keeps its own', async () => {
    const look = () => [ambientTransaction(here), ambientTransaction(there)];
    const seen = await runInTransaction(here, transaction, () =>
      runInTransaction(there, transaction, async () => {
        const atOnce = outsideTransactions(look);
        const afterwards = await outsideTransactions(async () => {
          await later(1);
          return look();
        });
        return { afterwards, atOnce, caller: look() };
      }),
    );
    expect(seen).toEqual({
      afterwards: [undefined, undefined],
      atOnce: [undefined, undefined],
      caller: [transaction, transaction],
    });
  });
});
