import 'reflect-metadata';
import { runWorker } from '@holdfast/queue';
import { collectDefaultMetrics, register } from 'prom-client';
import { MeasuredModule } from './metrics.module.js';

collectDefaultMetrics();
void runWorker(MeasuredModule, { healthPort: 3001, metrics: register });
