import 'reflect-metadata';
import { runWorker } from '@holdfast/queue';
import { AppModule } from './app.module.js';
import { MailHealth } from './mail.health.js';

void runWorker(AppModule, {
  healthPort: 3001,
  checks: (app) => ({ mail: () => app.get(MailHealth).check('mail') }),
});
