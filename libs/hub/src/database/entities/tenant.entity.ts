import { Column, Entity, PrimaryColumn } from 'typeorm';

/** TenantEntity is a customer of the hub. Under a tenant's scope its own row is the only one there is. */
@Entity({ name: 'tenant' })
export class TenantEntity {
  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @PrimaryColumn({ type: 'text' })
  id!: string;

  @Column({ type: 'text' })
  name!: string;

  /** retentionDays is how long the tenant's events and their deliveries are kept. */
  @Column({ name: 'retention_days', type: 'integer' })
  retentionDays!: number;
}
