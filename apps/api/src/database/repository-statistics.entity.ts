import { Column, Entity, PrimaryColumn } from 'typeorm';

/** RepositoryStatisticsEntity is how often a repository had events of a type, as the worker counted them; the api only reads it. */
@Entity({ name: 'repository_statistics', synchronize: false })
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
}
