import type { Transaction, UnitOfWork } from '@holdfast/kernel';

/** TenantScope is what a request may touch: every unit of work of its runs under the tenant whose key it came with (T1, T2). */
export class TenantScope {
  constructor(
    readonly tenantId: string,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** read runs a unit of work that refuses writes. */
  read<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.unitOfWork.run(work, { readOnly: true, tenantId: this.tenantId });
  }

  /** run runs a unit of work. */
  run<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.unitOfWork.run(work, { tenantId: this.tenantId });
  }
}
