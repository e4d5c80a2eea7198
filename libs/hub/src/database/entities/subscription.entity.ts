import { Column, Entity, PrimaryColumn } from 'typeorm';

/** SubscriptionEntity says where a tenant's events of some types are sent, and what the deliveries are signed with. */
@Entity({ name: 'subscription' })
export class SubscriptionEntity {
  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  /** eventTypes are exact (`issues.opened`), a beginning (`issues.*`), or `*` for all. */
  @Column({ name: 'event_types', type: 'text', array: true })
  eventTypes!: readonly string[];

  @PrimaryColumn({ type: 'text' })
  id!: string;

  /** pausedAt is null while events are delivered. */
  @Column({ name: 'paused_at', type: 'timestamptz', nullable: true })
  pausedAt!: Date | null;

  /** previousSecret signs as well until `previousSecretUntil`, so that a receiver can change over. */
  @Column({ name: 'previous_secret', type: 'text', nullable: true })
  previousSecret!: string | null;

  @Column({ name: 'previous_secret_until', type: 'timestamptz', nullable: true })
  previousSecretUntil!: Date | null;

  /** secret signs each delivery. Whoever needs it to sign reads it; no route shows it. */
  @Column({ type: 'text' })
  secret!: string;

  @Column({ name: 'tenant_id', type: 'text' })
  tenantId!: string;

  @Column({ type: 'text' })
  url!: string;
}
