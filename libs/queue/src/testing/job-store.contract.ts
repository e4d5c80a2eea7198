import { cancelContract } from './job-store.contract.cancel.js';
import { cancelRequestContract } from './job-store.contract.cancel-request.js';
import { claimContract } from './job-store.contract.claim.js';
import { dedupeContract } from './job-store.contract.dedupe.js';
import { endingsContract } from './job-store.contract.endings.js';
import { fenceContract } from './job-store.contract.fence.js';
import { intakeContract } from './job-store.contract.intake.js';
import { leaseContract } from './job-store.contract.lease.js';
import { settleContract } from './job-store.contract.settle.js';
import { transactionContract } from './job-store.contract.transaction.js';
import type { JobStoreHarness } from './job-store.harness.js';

/** JobStoreContractOptions say which part of the contract a store declares to keep. */
export interface JobStoreContractOptions {
  /** transactions: the whole contract; without them only claim, settlement, leases and keys. */
  readonly transactions: boolean;
}

/**
 * describeJobStore runs the contract suite of the JobStore port against an implementation, in any Jest project.
 *
 * `makeStore` is called once; the suite clears the store before each test and closes it at the end.
 */
export function describeJobStore(
  name: string,
  makeStore: () => Promise<JobStoreHarness>,
  { transactions }: JobStoreContractOptions,
): void {
  describe(name, () => {
    let harness: JobStoreHarness;
    const current = () => harness;

    beforeAll(async () => {
      harness = await makeStore();
    });
    beforeEach(() => harness.clear());
    afterAll(() => harness?.close());

    it('declares whether jobs join the transactions of the application', () => {
      expect(harness.store.transactions).toBe(transactions);
    });
    claimContract(current);
    settleContract(current);
    leaseContract(current);
    dedupeContract(current);
    cancelContract(current);
    endingsContract(current);
    if (!transactions) return;
    transactionContract(current);
    fenceContract(current);
    intakeContract(current);
    cancelRequestContract(current);
  });
}
