import { Column, Entity, PrimaryColumn } from 'typeorm';

/** RepositoryStatisticsEntity is how often a tenant's repository had events of a type, as the worker counted them. */
@Entity({ name: 'repository_statistics' })
export class RepositoryStatisticsEntity {
  /** events is a bigint, which the driver hands over as text. */
  @Column({ type: 'bigint' })
  events!: string;

  @PrimaryColumn({ name: 'event_type', type: 'text' })
  eventType!: string;

  @Column({ name: 'last_event_at', type: 'timestamptz' })
  lastEventAt!: Date;

  @Column({ name: 'last_event_id', type: 'text' })
  lastEventId!: string;

  @PrimaryColumn({ type: 'text' })
  repository!: string;

  @PrimaryColumn({ name: 'tenant_id', type: 'text' })
  tenantId!: string;
}
