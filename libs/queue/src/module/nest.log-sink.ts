import { inspect } from 'node:util';
import { Logger } from '@nestjs/common';
import type { LogSink } from '../runner/logging.reporter.js';

const METHODS = { debug: 'debug', error: 'error', info: 'log', warn: 'warn' } as const;

/** nestLogSink writes the runner's lines to Nest's logger; the full error follows its line (R8). */
export function nestLogSink(logger = new Logger('Holdfast')): LogSink {
  return (level, message, fields) => {
    const error = fields['error'];
    logger[METHODS[level]](error === undefined ? message : `${message}\n${shown(error)}`);
  };
}

/** What was thrown may throw again when it is looked at (K36). */
function shown(error: unknown): string {
  try {
    return inspect(error);
  } catch {
    return 'What was thrown cannot be shown.';
  }
}
