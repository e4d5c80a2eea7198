import { holdfastMigrations } from '@holdfast/migrations';
import { DataSource } from 'typeorm';

export const dataSource = new DataSource({
  type: 'postgres',
  url: process.env.DATABASE_URL,
  migrations: [...holdfastMigrations({ parts: ['queue'] }), 'dist/migrations/*.js'],
});
