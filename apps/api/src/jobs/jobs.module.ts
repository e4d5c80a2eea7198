import { Module } from '@nestjs/common';
import { JobsController } from './jobs.controller.js';

/** JobsModule answers questions about jobs. */
@Module({ controllers: [JobsController] })
export class JobsModule {}
