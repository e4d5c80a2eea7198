import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const ROOT = path.join(__dirname, '..');
const QUEUE = 'libs/queue/src/assembly/queue.options.ts';
const RUNNER = 'libs/queue/src/runner/runner.options.ts';

/** Options of the runner that are said beside `run`, where the module's own rows tell them. */
const BESIDE_RUN = ['classifyError', 'errorDetail', 'kinds', 'tenancy'];

interface Option {
  readonly comment: string;
  readonly name: string;
}

/** optionsOf answers the members of an interface, with what their doc comments say. */
function optionsOf(file: string, interfaceName: string, without: readonly string[] = []): Option[] {
  const text = readFileSync(path.join(ROOT, file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = source.statements.filter(ts.isInterfaceDeclaration).find(({ name }) => name.text === interfaceName);
  if (!found) throw new Error(`${file} has no interface ${interfaceName}.`);
  return found.members
    .map((member) => ({
      comment: ts
        .getJSDocCommentsAndTags(member)
        .map((doc) => doc.getText())
        .join(' ')
        .replaceAll(/\s*\n\s*\*\s?/g, ' '),
      name: member.name!.getText(),
    }))
    .filter(({ name }) => !without.includes(name));
}

/** rowsUnder answers the table below a heading of docs/configuration.md: the first cell's names, and the cell of the default. */
function rowsUnder(heading: string): Map<string, string> {
  const text = readFileSync(path.join(ROOT, 'docs/configuration.md'), 'utf8');
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`There is no section ${heading}.`);
  const [, table = ''] = section.split('| option | default | what |');
  const rows = table
    .split('\n\n')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const cells = rows.map((row) => row.split(' | ').map((cell) => cell.replaceAll(/^\| | \|$/g, '')));
  return new Map(
    cells.flatMap(([names, standard]) =>
      [...names!.matchAll(/`([\w.]+)`/g)].map(([, name]) => [name!, standard!] as const),
    ),
  );
}

describe('every option', () => {
  const groups: [string, readonly Option[], string][] = [
    ['QueueOptions', optionsOf(QUEUE, 'QueueOptions'), 'The module'],
    [
      'RunOptions',
      [...optionsOf(QUEUE, 'RunOptions'), ...optionsOf(RUNNER, 'RunnerOptions', [...BESIDE_RUN, 'leases'])],
      'The runner',
    ],
    [
      'LeaseOptions',
      optionsOf(RUNNER, 'LeaseOptions').map((option) => ({ ...option, name: `leases.${option.name}` })),
      'The runner',
    ],
  ];

  it.each(groups)('of %s has a doc comment that tells its default', (_, options) => {
    expect(options.length).toBeGreaterThan(2);
    expect(options.filter(({ comment }) => !/Default|Required/.test(comment)).map(({ name }) => name)).toEqual([]);
  });

  it.each(groups)('of %s has a row in docs/configuration.md with its default', (_, options, heading) => {
    const rows = rowsUnder(heading);
    const missing = options.filter(({ name }) => !/\S/.test(rows.get(name) ?? '')).map(({ name }) => name);
    expect(missing).toEqual([]);
  });

  it.each(groups)('of %s that is a length of time or a size has its unit there', (_, options, heading) => {
    const rows = rowsUnder(heading);
    const written = (name: string) => (/Bytes$/.test(name) ? /\bKiB\b/ : /^([\d ]+|`'[\d.]+(ms|s|m|h|d)'`)$/);
    const lengths = options.filter(({ name }) => /(Ms|Bytes)$/.test(name) || ['grace', 'poll'].includes(name));
    expect(lengths.filter(({ name }) => !written(name).test(rows.get(name)!)).map(({ name }) => name)).toEqual([]);
  });

  it('that has a row is one', () => {
    const known = new Set(['roles', ...groups.flatMap(([, options]) => options.map(({ name }) => name))]);
    const rows = ['The module', 'The runner'].flatMap((heading) => [...rowsUnder(heading).keys()]);
    expect(rows.filter((name) => !known.has(name))).toEqual([]);
  });
});
