import { pgPool, UnitOfWork } from '@holdfast/kernel';
import { Pool } from 'pg';

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
const unitOfWork = new UnitOfWork(pgPool(pool));

export async function closeShop(shopId: string): Promise<void> {
  await unitOfWork.run(async (tx) => {
    await tx.sql.query('UPDATE shop SET closed_at = now() WHERE id = $1', [shopId]);
    tx.afterCommit(() => console.log(`${shopId} is closed`));
  });
}
