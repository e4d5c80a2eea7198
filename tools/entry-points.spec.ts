import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(__dirname, '..');
const LIST = 'console.log(JSON.stringify(Object.keys(require.cache)))';

/** The packages of node_modules that a process has loaded after it required an entry point. */
function packagesLoadedBy(entry: string): Set<string> {
  const args = ['-C', '@holdfast/source', '-r', join(__dirname, 'register.cjs'), '-e', `require('${entry}'); ${LIST}`];
  const done = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(done.stderr);
  const files = JSON.parse(done.stdout) as string[];
  const names = files.map((file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1]);
  // What compiles the sources on the fly is not of the entry point.
  return new Set(names.filter((name) => name !== undefined && !name.startsWith('@swc/')).map(String));
}

describe('an entry point loads no more than it says', () => {
  it.each(['@holdfast/queue/define', '@holdfast/kernel/pure'])('%s loads no package at all', (entry) => {
    expect([...packagesLoadedBy(entry)]).toEqual([]);
  });

  it.each(['@holdfast/queue/core', '@holdfast/queue/testing/core'])('%s loads neither Nest nor TypeORM', (entry) => {
    const loaded = [...packagesLoadedBy(entry)];
    expect(loaded).toContain('pg');
    expect(loaded.filter((name) => name.startsWith('@nestjs/') || name === 'typeorm')).toEqual([]);
  });

  it('M1: @holdfast/queue/metrics brings prom-client and no Nest; the other entry points of the queue load no prom-client', () => {
    const loaded = [...packagesLoadedBy('@holdfast/queue/metrics')];
    expect(loaded).toContain('prom-client');
    expect(loaded.filter((name) => name.startsWith('@nestjs/') || name === 'typeorm')).toEqual([]);
    for (const entry of ['@holdfast/queue', '@holdfast/queue/core'])
      expect([...packagesLoadedBy(entry)]).not.toContain('prom-client');
  });

  it.each(['drizzle', 'knex', 'kysely', 'mikro-orm', 'nestjs-cls', 'prisma', 'typeorm-transactional'])(
    'T4: @holdfast/kernel/%s loads no package but pg: the tool is known by its shape',
    (tool) => {
      const loaded = [...packagesLoadedBy(`@holdfast/kernel/${tool}`)];
      expect(loaded.filter((name) => !/^(pg|pg-.*|pgpass|postgres-.*|split2|xtend)$/.test(name))).toEqual([]);
    },
  );

  it('@holdfast/kernel loads pg and not TypeORM, and so does @holdfast/migrations', () => {
    expect([...packagesLoadedBy('@holdfast/kernel')]).not.toContain('typeorm');
    expect([...packagesLoadedBy('@holdfast/migrations')]).not.toContain('typeorm');
  });
});
