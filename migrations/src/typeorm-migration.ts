/** TypeOrmQueryRunner is what a migration uses of TypeORM's QueryRunner. TypeORM itself is no dependency of this package. */
export interface TypeOrmQueryRunner {
  readonly isTransactionActive: boolean;
  query(text: string): Promise<unknown>;
}

/** TypeOrmMigration is TypeORM's MigrationInterface, as far as it is used. */
export interface TypeOrmMigration {
  readonly name: string;
  readonly transaction?: boolean;
  down(queryRunner: TypeOrmQueryRunner): Promise<void>;
  up(queryRunner: TypeOrmQueryRunner): Promise<void>;
}

/** TypeOrmMigrationClass is what a DataSource takes in its `migrations`. */
export type TypeOrmMigrationClass = new () => TypeOrmMigration;
