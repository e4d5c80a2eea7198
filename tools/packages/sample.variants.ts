/** SampleCheck is a way in which an application resolves the packages: its own modules' format, or what its compiler alone is told. */
export type SampleCheck = 'bundler' | 'commonjs' | 'module' | 'node10';

/** SampleVariant is a kind of application that the packages are installed into. */
export interface SampleVariant {
  /** absent are packages that nobody may have brought in. */
  readonly absent: readonly string[];
  /** checks: `commonjs` and `module` are compiled and run, `bundler` and `node10` compiled alone, after the format that they build on. */
  readonly checks: readonly SampleCheck[];
  /** dependencies are the application's own, beside the packages. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** entries are the entry points that it can load. Default: all. */
  readonly entries?: readonly string[];
  readonly name: string;
  /** sample is the folder of its sources in samples/. */
  readonly sample: 'nest' | 'plain';
}

const types = { '@types/node': '^20', '@types/pg': '^8' };

/**
 * The applications: what is current, what is a major version behind, the lowest version of everything that is supported, and neither Nest nor
 * TypeORM. TypeScript before 6 still resolves as `node10` with `module: commonjs`, which NestJS 11 projects have and which knows no `exports`.
 */
export const variants: readonly SampleVariant[] = [
  {
    name: 'nest-12-typeorm-1',
    sample: 'nest',
    absent: [],
    checks: ['commonjs', 'module', 'bundler'],
    dependencies: {
      '@nestjs/common': '^12',
      '@nestjs/core': '^12',
      pg: '^8',
      'prom-client': '^15.1',
      'reflect-metadata': '^0.2',
      rxjs: '^7',
      typeorm: '^1',
      typescript: '~6.0',
      ...types,
    },
  },
  {
    name: 'nest-11-typeorm-0.3',
    sample: 'nest',
    absent: [],
    checks: ['commonjs', 'module', 'node10'],
    dependencies: {
      '@nestjs/common': '^11',
      '@nestjs/core': '^11',
      pg: '^8',
      'prom-client': '^15.1',
      'reflect-metadata': '^0.2',
      rxjs: '^7',
      typeorm: '^0.3.20',
      typescript: '~5.9',
      ...types,
    },
  },
  {
    name: 'lowest',
    sample: 'nest',
    absent: [],
    checks: ['commonjs', 'node10'],
    dependencies: {
      '@nestjs/common': '11.0.1',
      '@nestjs/core': '11.0.1',
      pg: '8.11.0',
      'prom-client': '15.1.0',
      'reflect-metadata': '0.1.13',
      rxjs: '7.1.0',
      typeorm: '0.3.20',
      typescript: '5.5.4',
      '@types/node': '^20',
      '@types/pg': '8.11.0',
    },
  },
  {
    name: 'plain-pg',
    sample: 'plain',
    absent: ['@nestjs', 'reflect-metadata', 'rxjs', 'typeorm'],
    checks: ['commonjs', 'module', 'bundler'],
    dependencies: { pg: '^8', 'prom-client': '^15.1', typescript: '~6.0', ...types },
    entries: [
      '@holdfast/kernel',
      '@holdfast/kernel/drizzle',
      '@holdfast/kernel/knex',
      '@holdfast/kernel/kysely',
      '@holdfast/kernel/mikro-orm',
      '@holdfast/kernel/nestjs-cls',
      '@holdfast/kernel/prisma',
      '@holdfast/kernel/pure',
      '@holdfast/kernel/typeorm-transactional',
      '@holdfast/migrations',
      '@holdfast/queue/core',
      '@holdfast/queue/define',
      '@holdfast/queue/metrics',
      '@holdfast/queue/testing/core',
    ],
  },
];
