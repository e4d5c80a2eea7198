// The limit of claim and completion by arrays, with a plain client and nothing around it: argv: connection string, number of jobs, connections.
import { Pool } from 'pg';

const CLAIM = `UPDATE bench_limit SET state = 1 WHERE id = ANY(ARRAY(
  SELECT id FROM bench_limit WHERE state = 0 ORDER BY id LIMIT 500 FOR UPDATE SKIP LOCKED)) RETURNING id`;
const COMPLETE = 'UPDATE bench_limit SET state = 2 WHERE id = ANY($1::bigint[]) AND state = 1';

async function drain(pool: Pool): Promise<number> {
  let done = 0;
  for (;;) {
    const { rows } = await pool.query<{ id: string }>({ name: 'claim', text: CLAIM });
    if (rows.length === 0) return done;
    await pool.query({ name: 'complete', text: COMPLETE, values: [rows.map((row) => row.id)] });
    done += rows.length;
  }
}

async function main(connectionString: string, jobs: number, connections: number): Promise<void> {
  const pool = new Pool({ connectionString, max: connections });
  await pool.query(
    `CREATE TABLE bench_limit (id bigint PRIMARY KEY, state smallint NOT NULL DEFAULT 0, payload json NOT NULL)`,
  );
  await pool.query(`CREATE INDEX ON bench_limit (id) WHERE state = 0`);
  await pool.query(
    `INSERT INTO bench_limit (id, payload) SELECT n, json_build_object('n', n) FROM generate_series(1, $1::int) n`,
    [jobs],
  );
  await pool.query('VACUUM ANALYZE bench_limit');
  const started = process.hrtime.bigint();
  const done = await Promise.all(Array.from({ length: connections }, () => drain(pool)));
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  const { rows } = await pool.query<{ left: number }>('SELECT count(*)::int AS left FROM bench_limit WHERE state <> 2');
  const total = done.reduce((sum, part) => sum + part, 0);
  console.log(JSON.stringify({ seconds, jobs: total, distinct: total, left: rows[0]?.left, effects: 0 }));
  await pool.end();
}

const [connectionString = '', jobs = '0', connections = '4'] = process.argv.slice(2);
void main(connectionString, Number(jobs), Number(connections));
