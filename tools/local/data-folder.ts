import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { reachable, serverUser } from '@holdfast/testing';
import { LocalProblem } from './local.problem.js';

/**
 * dataFolder answers where the local server keeps its data between starts, and makes it.
 *
 * It is the one that HOLDFAST_DATA_FOLDER names, else `.holdfast/` in the repository. As root the server runs under another account; where that cannot reach the repository (a clone in root's
 * home), it is a folder of `/var/tmp` that belongs to this clone.
 */
export function dataFolder(root: string): string {
  const folder = dataFolderPath(root);
  mkdirSync(folder, { recursive: true });
  if (process.getuid && statSync(folder).uid !== process.getuid()) {
    throw new LocalProblem(
      `${folder} belongs to another account. Remove it, or name another with HOLDFAST_DATA_FOLDER.`,
    );
  }
  chmodSync(folder, 0o755);
  return folder;
}

/** dataFolderPath answers the same place and makes nothing. */
export function dataFolderPath(root: string): string {
  const named = process.env.HOLDFAST_DATA_FOLDER;
  if (named) return resolve(named);
  return reachable(root, serverUser()) ? join(root, '.holdfast') : elsewhere(root);
}

/** serverFolder answers where in it PostgreSQL has its files. */
export function serverFolder(folder: string): string {
  return join(folder, 'postgres');
}

function elsewhere(root: string): string {
  const clone = createHash('sha256').update(root).digest('hex').slice(0, 12);
  return join('/var/tmp', `holdfast-${basename(root)}-${clone}`);
}
