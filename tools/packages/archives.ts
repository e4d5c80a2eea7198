import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { run } from './command.js';

const ROOT = resolve(__dirname, '../..');

/** The published packages, in the order of their dependencies. */
const FOLDERS = ['libs/kernel', 'migrations', 'libs/queue'];

/** Manifest is what is read of a package.json. */
export interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly name: string;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly version: string;
}

/** Archive is a package as `npm pack` made it. */
export interface Archive {
  readonly file: string;
  /** files are the paths inside it. */
  readonly files: readonly string[];
  readonly manifest: Manifest;
}

/** buildArchives builds the published packages from nothing and packs them into a folder. What `dist` held of earlier builds is gone. */
export async function buildArchives(place: string): Promise<Archive[]> {
  for (const folder of FOLDERS) rmSync(join(ROOT, folder, 'dist'), { force: true, recursive: true });
  const projects = FOLDERS.map((folder) => `${folder}/tsconfig.build.json`);
  await run(process.execPath, ['node_modules/typescript/bin/tsc', '-b', ...projects], { cwd: ROOT });
  const target = join(place, 'archives');
  mkdirSync(target);
  const archives: Archive[] = [];
  for (const folder of FOLDERS) archives.push(await pack(join(ROOT, folder), target));
  return archives;
}

async function pack(folder: string, target: string): Promise<Archive> {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const told = await run('npm', ['pack', '--json', '--silent', '--ignore-scripts', '--pack-destination', target], {
    cwd: folder,
  });
  const [packed] = JSON.parse(told) as { filename: string; files: { path: string }[] }[];
  if (!packed) throw new Error(`npm packed nothing of ${manifest.name}.`);
  return { file: join(target, packed.filename), files: packed.files.map(({ path }) => path), manifest };
}
