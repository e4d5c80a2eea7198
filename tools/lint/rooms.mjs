/**
 * The second import table: inside a lib, which room may import which, and which packages (docs/design/architecture.md).
 * A room is a folder of `src`, or a file directly in it. `!name` takes files out again by a part of their name.
 */
const pure = ['errors', 'time', 'retry'];
const queueKernel = ['@holdfast/kernel', '@holdfast/kernel/*'];
const core = ['domain', 'errors', 'ports'];
const everything = ['*', '!index', '!core', '!define', '!testing'];
/** What runs without Nest may not reach the files of `handlers` that load it. */
const handlers = ['handlers', '!.decorator', '!.explorer', '!/nest.'];

export const rooms = {
  'libs/kernel/src': {
    errors: { rooms: [] },
    time: { rooms: ['errors'] },
    retry: { rooms: ['errors', 'time'] },
    service: { rooms: pure },
    instance: { rooms: ['errors'] },
    sql: { rooms: pure, packages: ['pg', 'typeorm'] },
    connection: { rooms: [...pure, 'service', 'sql'], packages: ['pg'] },
    transaction: { rooms: [...pure, 'connection', 'sql'], packages: ['pg', 'typeorm'] },
    lease: { rooms: [...pure, 'connection', 'service', 'sql', 'transaction'], packages: ['pg'] },
    notify: { rooms: [...pure, 'connection', 'service', 'sql', 'transaction'], packages: ['pg'] },
    migrate: { rooms: [...pure, 'connection', 'service', 'sql', 'transaction'], packages: ['pg'] },
    // They know the tools of others by their shape alone.
    executors: { rooms: [...pure, 'sql', 'transaction'] },
    hosts: { rooms: [...pure, 'sql', 'transaction'] },
    // The isolation level is a type of the transaction room; tools/entry-points.spec.ts sees to it that nothing of it is loaded.
    pure: { rooms: [...pure, 'transaction'] },
    index: { rooms: ['*', '!typeorm', '!executors', '!hosts'], packages: ['pg'] },
    typeorm: { rooms: ['*', '!index'], packages: [] },
    ...Object.fromEntries(
      ['drizzle', 'knex', 'kysely', 'mikro-orm', 'prisma'].map((tool) => [
        tool,
        { rooms: ['executors', 'instance', 'sql'] },
      ]),
    ),
    ...Object.fromEntries(
      ['nestjs-cls', 'typeorm-transactional'].map((tool) => [tool, { rooms: ['hosts', 'instance', 'transaction'] }]),
    ),
  },
  'libs/queue/src': {
    domain: { rooms: ['errors'], packages: ['@holdfast/kernel/pure', '@standard-schema/spec'] },
    errors: { rooms: ['domain'], packages: ['@holdfast/kernel/pure'] },
    ports: { rooms: ['domain', 'errors'], packages: queueKernel },
    client: { rooms: core, packages: queueKernel },
    handlers: { rooms: core, packages: [...queueKernel, '@nestjs/*', 'reflect-metadata'] },
    runner: { rooms: [...core, ...handlers], packages: queueKernel },
    scheduler: {
      // Its decorator and its explorer know Nest; tools/entry-points.spec.ts sees to it that `core` loads neither.
      rooms: [...core, 'handlers', '!.decorator', '!.explorer'],
      packages: [...queueKernel, '@nestjs/*', 'reflect-metadata'],
    },
    leadership: { rooms: [...core, ...handlers], packages: [...queueKernel, 'pg'] },
    postgres: { rooms: core, packages: [...queueKernel, 'pg'] },
    memory: { rooms: core, packages: queueKernel },
    assembly: {
      rooms: [...core, 'client', ...handlers, 'leadership', 'postgres', 'runner', 'scheduler'],
      packages: [...queueKernel, '@holdfast/migrations', 'pg'],
    },
    health: { rooms: core, packages: [...queueKernel, '@nestjs/*'] },
    // Its module names no Nest: the entry point serves a queue without it, too.
    metrics: {
      rooms: [...core, 'client', 'runner', 'scheduler', '!.decorator', '!.explorer'],
      packages: [...queueKernel, 'prom-client'],
    },
    tracing: { rooms: core, packages: queueKernel },
    http: { rooms: core, packages: [...queueKernel, '@nestjs/*'] },
    cli: { rooms: core, packages: [...queueKernel, '@holdfast/migrations'] },
    module: {
      rooms: everything,
      packages: [...queueKernel, '@holdfast/migrations', '@nestjs/*', 'pg', 'reflect-metadata', 'rxjs', 'typeorm'],
    },
    // `testing/core` is without Nest; tools/entry-points.spec.ts sees to it.
    testing: { rooms: ['*', '!index'], packages: [...queueKernel, '@holdfast/migrations', '@nestjs/*', 'pg'] },
    define: { rooms: ['domain', 'errors'], packages: ['@holdfast/kernel/pure'] },
    core: {
      rooms: [
        '*',
        '!index',
        '!define',
        '!testing',
        '!module',
        '!http',
        '!health',
        '!metrics',
        '!.decorator',
        '!.explorer',
        '!/nest.',
      ],
      packages: queueKernel,
    },
    index: { rooms: ['*', '!define', '!testing'], packages: queueKernel },
  },
  'libs/contracts/src': {
    '*': { rooms: ['*', '!index'], packages: ['@holdfast/queue/define', 'zod'] },
    index: { rooms: ['*'], packages: [] },
  },
  'libs/hub/src': {
    configuration: { rooms: [], packages: ['zod'] },
    tenancy: { rooms: [], packages: [] },
    database: {
      rooms: ['configuration', 'tenancy'],
      packages: ['@holdfast/kernel', '@nestjs/common', '@nestjs/typeorm', 'typeorm'],
    },
    http: {
      rooms: ['configuration'],
      packages: ['@holdfast/queue', '@nestjs/common', '@nestjs/core', '@nestjs/terminus'],
    },
    index: { rooms: ['*'], packages: [] },
  },
  'migrations/src': {
    '*': { rooms: ['*', '!index'], packages: ['@holdfast/kernel', '@holdfast/kernel/*'] },
    index: { rooms: ['*'], packages: ['@holdfast/kernel', '@holdfast/kernel/*'] },
  },
};
