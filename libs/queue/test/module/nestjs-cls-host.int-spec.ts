import 'reflect-metadata';
import { nestjsCls } from '@holdfast/kernel/nestjs-cls';
import { typeOrm } from '@holdfast/kernel/typeorm';
import { createTestDatabase } from '@holdfast/testing';
import { ClsPluginTransactional, Propagation, Transactional, TransactionHost } from '@nestjs-cls/transactional';
import { TransactionalAdapterTypeOrm } from '@nestjs-cls/transactional-adapter-typeorm';
import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { ClsModule } from 'nestjs-cls';
import { DataSource } from 'typeorm';
import { JobQueue, QueueModule } from '../../src/index.js';
import { enqueueAll, type HostedNotes, proveHost } from './host.proof.js';

@Injectable()
class Notes implements HostedNotes {
  constructor(
    private readonly host: TransactionHost<TransactionalAdapterTypeOrm>,
    private readonly jobs: JobQueue,
  ) {}

  @Transactional()
  async keep(id: number, fail?: 'fail'): Promise<void> {
    await this.write(id);
    if (fail) throw new Error('undo');
  }

  @Transactional()
  async keepWithNested(id: number): Promise<void> {
    await expect(this.nested(id + 100)).rejects.toThrow('undo');
    await this.write(id);
  }

  @Transactional(Propagation.Nested)
  async nested(id: number): Promise<void> {
    await this.write(id);
    throw new Error('undo');
  }

  private async write(id: number): Promise<void> {
    await this.host.tx.query('INSERT INTO note VALUES ($1)', [id]);
    await enqueueAll(this.jobs, id);
  }
}

describe('nestjsCls, with @nestjs-cls/transactional and its adapter for TypeORM', () => {
  proveHost(async () => {
    const db = await createTestDatabase();
    await db.adminQuery('CREATE TABLE note (id int PRIMARY KEY)');
    const dataSource = await db.dataSource({ poolSize: 4 });

    @Module({ exports: [DataSource], providers: [{ provide: DataSource, useValue: dataSource }] })
    class DatabaseModule {}

    const app = await Test.createTestingModule({
      imports: [
        ClsModule.forRoot({
          global: true,
          plugins: [
            new ClsPluginTransactional({
              adapter: new TransactionalAdapterTypeOrm({ dataSourceToken: DataSource }),
              imports: [DatabaseModule],
            }),
          ],
        }),
        QueueModule.forRootAsync({
          imports: [DatabaseModule],
          inject: [DataSource, TransactionHost],
          roles: ['enqueue'],
          useFactory: (source: DataSource, txHost: TransactionHost<TransactionalAdapterTypeOrm>) => ({
            database: typeOrm(source),
            transactionHost: nestjsCls(txHost),
          }),
        }),
      ],
      providers: [Notes],
    }).compile();
    app.useLogger(false);
    await app.init();
    return { app, db, notes: app.get(Notes) };
  });
});
