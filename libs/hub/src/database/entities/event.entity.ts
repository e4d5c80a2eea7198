import { Column, Entity, PrimaryColumn } from 'typeorm';

/** AcceptedJob is one job that an event led to, as its answer names it. */
export interface AcceptedJob {
  readonly id: string;
  readonly kind: string;
  /** subscriptionId is where a delivery goes. */
  readonly subscriptionId?: string;
}

/** EventEntity is an accepted event. Its id is the sender's delivery id, so that a delivery sent twice is accepted once; each tenant has ids of its own. */
@Entity({ name: 'event' })
export class EventEntity {
  @PrimaryColumn({ type: 'text' })
  id!: string;

  /** jobs are kept with the event: the answer to a delivery sent again is the first one's. */
  @Column({ type: 'json' })
  jobs!: readonly AcceptedJob[];

  /** payload is of type json, not jsonb, which would refuse U+0000 and reorder keys. */
  @Column({ type: 'json' })
  payload!: object;

  @Column({ name: 'received_at', type: 'timestamptz' })
  receivedAt!: Date;

  /** repository is `owner/name`, or null for an event that belongs to none. */
  @Column({ type: 'text', nullable: true })
  repository!: string | null;

  @PrimaryColumn({ name: 'tenant_id', type: 'text' })
  tenantId!: string;

  @Column({ type: 'text' })
  type!: string;
}
