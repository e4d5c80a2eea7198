import { Column, Entity, PrimaryColumn } from 'typeorm';

/** StoredEventEntity is an event as the api stored it; the worker only reads it. */
@Entity({ name: 'event', synchronize: false })
export class StoredEventEntity {
  @PrimaryColumn({ type: 'text' })
  id!: string;

  @Column({ type: 'json' })
  payload!: object;

  @Column({ name: 'received_at', type: 'timestamptz' })
  receivedAt!: Date;

  @Column({ type: 'text', nullable: true })
  repository!: string | null;

  @Column({ type: 'text' })
  type!: string;
}
