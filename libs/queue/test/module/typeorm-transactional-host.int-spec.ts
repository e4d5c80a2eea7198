import 'reflect-metadata';
import { typeOrm } from '@holdfast/kernel/typeorm';
import { typeormTransactional } from '@holdfast/kernel/typeorm-transactional';
import { createTestDatabase } from '@holdfast/testing';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import {
  addTransactionalDataSource,
  deleteDataSourceByName,
  initializeTransactionalContext,
  Propagation,
  StorageDriver,
  Transactional,
} from 'typeorm-transactional';
import { JobQueue, QueueModule } from '../../src/index.js';
import { enqueueAll, type HostedNotes, proveHost } from './host.proof.js';

@Injectable()
class Notes implements HostedNotes {
  constructor(
    private readonly dataSource: DataSource,
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

  @Transactional({ propagation: Propagation.NESTED })
  async nested(id: number): Promise<void> {
    await this.write(id);
    throw new Error('undo');
  }

  private async write(id: number): Promise<void> {
    await this.dataSource.query('INSERT INTO note VALUES ($1)', [id]);
    await enqueueAll(this.jobs, id);
  }
}

describe('typeormTransactional, with typeorm-transactional', () => {
  beforeAll(() => {
    initializeTransactionalContext({ storageDriver: StorageDriver.ASYNC_LOCAL_STORAGE });
  });
  afterAll(() => {
    deleteDataSourceByName('default');
  });

  proveHost(async () => {
    const db = await createTestDatabase();
    await db.adminQuery('CREATE TABLE note (id int PRIMARY KEY)');
    const dataSource = addTransactionalDataSource(await db.dataSource({ poolSize: 4 }));
    const app = await Test.createTestingModule({
      imports: [
        QueueModule.forRoot({
          database: typeOrm(dataSource),
          roles: ['enqueue'],
          transactionHost: typeormTransactional(dataSource),
        }),
      ],
      providers: [Notes, { provide: DataSource, useValue: dataSource }],
    }).compile();
    app.useLogger(false);
    await app.init();
    return { app, db, notes: app.get(Notes) };
  });
});
