import type { MigrationInterface, QueryRunner } from 'typeorm';

/** CreateEvent1764500000000 makes the table of accepted events. */
export class CreateEvent1764500000000 implements MigrationInterface {
  readonly name = 'CreateEvent1764500000000';

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE event');
  }

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE event (
        id text COLLATE "C" PRIMARY KEY,
        type text NOT NULL,
        repository text,
        payload json NOT NULL,
        jobs json NOT NULL,
        received_at timestamptz NOT NULL
      )`);
  }
}
