import type { MigrationInterface, QueryRunner } from 'typeorm';

/** CreateStatisticsAndDelivery1764500000001 makes the tables that the worker's handlers write. */
export class CreateStatisticsAndDelivery1764500000001 implements MigrationInterface {
  readonly name = 'CreateStatisticsAndDelivery1764500000001';

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE delivery');
    await queryRunner.query('DROP TABLE repository_statistics');
  }

  async up(queryRunner: QueryRunner): Promise<void> {
    // One row per repository and type: a job changes exactly one row, so that two of them can wait for each other but never in a circle.
    await queryRunner.query(`
      CREATE TABLE repository_statistics (
        repository text COLLATE "C" NOT NULL,
        event_type text COLLATE "C" NOT NULL,
        events bigint NOT NULL,
        last_event_id text NOT NULL,
        last_event_at timestamptz NOT NULL,
        PRIMARY KEY (repository, event_type)
      ) WITH (fillfactor = 70)`);
    await queryRunner.query(`
      CREATE TABLE delivery (
        job_id bigint PRIMARY KEY,
        event_id text COLLATE "C" NOT NULL,
        status integer NOT NULL,
        attempt integer NOT NULL,
        delivered_at timestamptz NOT NULL
      )`);
    await queryRunner.query('CREATE INDEX delivery_event_id ON delivery (event_id)');
  }
}
