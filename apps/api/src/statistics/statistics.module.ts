import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RepositoryStatisticsEntity } from '../database/repository-statistics.entity.js';
import { StatisticsController } from './statistics.controller.js';

/** StatisticsModule answers for what has been counted. */
@Module({ controllers: [StatisticsController], imports: [TypeOrmModule.forFeature([RepositoryStatisticsEntity])] })
export class StatisticsModule {}
