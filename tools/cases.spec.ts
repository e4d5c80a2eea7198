import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(__dirname, '..');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

/** A row of the table of proofs: its number, and its tests as `file`: title, one after another. */
const ROW = /^\| (K\d+) \| [^|]+ \| ([^|]*) \|$/gm;
const PROOF = /^`([^`]+)`: (.+)$/;
const CASE = /^\| (K\d+) \|/gm;
const NUMBER = /K\d+/g;

const proofs = read('docs/cases.md');
const rows = [...proofs.matchAll(ROW)].map(([, number, cell]) => ({
  number: number!,
  tests: cell!.split('<br>').map((text) => PROOF.exec(text.trim())),
}));
const waiting = proofs.slice(proofs.indexOf('## Cases that wait')).match(NUMBER) ?? [];

describe('docs/cases.md', () => {
  it('has every case of the design, as proved or as waiting for its part', () => {
    const cases = [...read('docs/design/cases.md').matchAll(CASE)].map(([, number]) => number!);
    const named = new Set([...rows.map(({ number }) => number), ...waiting]);
    expect(cases.length).toBeGreaterThan(70);
    expect(cases.filter((number) => !named.has(number))).toEqual([]);
  });

  it('names tests for each case that it calls proved, and each of them exists under the number of its case', () => {
    expect(rows.length).toBeGreaterThan(50);
    const wrong = rows.flatMap(({ number, tests }) =>
      tests.filter((test) => !test || !exists(number, test[1]!, test[2]!)).map((test) => `${number}: ${test?.[0]}`),
    );
    expect(wrong).toEqual([]);
  });
});

function exists(number: string, file: string, title: string): boolean {
  if (!title.split(':')[0]!.match(NUMBER)?.includes(number) || !existsSync(path.join(ROOT, file))) return false;
  const source = read(file);
  return source.includes(title) || source.includes(title.replaceAll("'", "\\'"));
}
