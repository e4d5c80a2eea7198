import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * DeliveryEntity is one event on its way to one subscription.
 *
 * Written with the event and its job; the handler fills in what came of it, in the transaction that completes the job. It outlives its subscription
 * and goes with its event.
 */
@Entity({ name: 'delivery' })
export class DeliveryEntity {
  /** attempt is the one that was answered with 2xx; null before. */
  @Column({ type: 'integer', nullable: true })
  attempt!: number | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;

  @Column({ name: 'delivered_at', type: 'timestamptz', nullable: true })
  deliveredAt!: Date | null;

  @PrimaryColumn({ name: 'event_id', type: 'text' })
  eventId!: string;

  /** jobId is a bigint, which the driver hands over as text. */
  @Column({ name: 'job_id', type: 'bigint' })
  jobId!: string;

  /** status is what the receiver answered; null before. */
  @Column({ type: 'integer', nullable: true })
  status!: number | null;

  @PrimaryColumn({ name: 'subscription_id', type: 'text' })
  subscriptionId!: string;

  @PrimaryColumn({ name: 'tenant_id', type: 'text' })
  tenantId!: string;
}
