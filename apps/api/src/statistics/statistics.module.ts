import { Module } from '@nestjs/common';
import { StatisticsController } from './statistics.controller.js';

/** StatisticsModule answers for what has been counted. */
@Module({ controllers: [StatisticsController] })
export class StatisticsModule {}
