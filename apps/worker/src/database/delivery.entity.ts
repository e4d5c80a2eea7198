import { Column, Entity, PrimaryColumn } from 'typeorm';

/** DeliveryEntity says that an event reached the webhook. Its key is the job: the row commits together with the job's completion, once. */
@Entity({ name: 'delivery' })
export class DeliveryEntity {
  @Column({ type: 'integer' })
  attempt!: number;

  @Column({ name: 'delivered_at', type: 'timestamptz' })
  deliveredAt!: Date;

  @Column({ name: 'event_id', type: 'text' })
  eventId!: string;

  @PrimaryColumn({ name: 'job_id', type: 'bigint' })
  jobId!: string;

  /** status is what the receiver answered. */
  @Column({ type: 'integer' })
  status!: number;
}
