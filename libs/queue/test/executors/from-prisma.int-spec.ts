import { fromPrisma } from '@holdfast/kernel/prisma';
import { proveExecutor } from './executor.proof.js';
import { prismaClient, type PrismaRawTransaction } from './prisma.client.js';

proveExecutor<PrismaRawTransaction>('fromPrisma', (db) => {
  const prisma = prismaClient(db.url);
  return Promise.resolve({
    close: () => prisma.$disconnect(),
    executorOf: fromPrisma,
    insert: (tx, id) => tx.$executeRawUnsafe('INSERT INTO note (id) VALUES ($1)', id),
    outside: () => ({ 'the client': () => fromPrisma(prisma) }),
    savepoint: (tx, work) => tx.$transaction(work),
    tellsEnd: true,
    transaction: (work) => prisma.$transaction(work),
  });
});
