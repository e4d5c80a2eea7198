import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(__dirname, '..');
const DESIGN = path.join(ROOT, 'docs', 'design');

/** A title begins with its rules and a colon: `'R1, R2: …'`, `'Q4 to Q6: …'`. */
const TITLE = /['"`]((?:[QRTLSAODIHMCPK]\d+)(?:(?:, | and | to |–|-|\/)[QRTLSAODIHMCPK]\d+)*):/g;
const NUMBER = /[QRTLSAODIHMCPK]\d+/g;
/** A rule is defined by a list item `- **Q1** …` or by the first cell of a row, `| K2 | …`. */
const DEFINITION = /^(?:- \*\*|\| )([QRTLSAODIHMCPK]\d+)(?:\*\*| \|)/gm;

const FOLDERS = ['apps', 'bench', 'docs', 'libs', 'migrations', 'tools'];
const SKIPPED = new Set(['node_modules', 'dist']);

/** Walks the workspace's own folders, so that it also works in an unpacked archive without git. */
function filesEndingIn(pattern: RegExp, folders = FOLDERS): string[] {
  return folders.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
      const file = path.join(folder, entry.name);
      if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : filesEndingIn(pattern, [file]);
      return pattern.test(entry.name) ? [file] : [];
    }),
  );
}

/** Answers nothing for a file that was removed since it was listed. */
function read(file: string): string {
  try {
    return readFileSync(path.join(ROOT, file), 'utf8');
  } catch {
    return '';
  }
}

function rulesNamedIn(source: string): string[] {
  return [...source.matchAll(TITLE)].flatMap(([, rules]) => [...rules!.matchAll(NUMBER)].map(([rule]) => rule));
}

function definedRules(): string[] {
  const documents = readdirSync(DESIGN).filter((file) => file.endsWith('.md'));
  return documents.flatMap((file) =>
    [...readFileSync(path.join(DESIGN, file), 'utf8').matchAll(DEFINITION)].map(([, rule]) => rule!),
  );
}

describe('rule numbers', () => {
  const defined = definedRules();

  it('are defined once each in docs/design', () => {
    expect(defined.length).toBeGreaterThan(100);
    expect(defined.filter((rule, index) => defined.indexOf(rule) !== index)).toEqual([]);
  });

  it('in the titles of tests are all defined in docs/design', () => {
    const known = new Set(defined);
    const unknown = filesEndingIn(/(spec|contract|suite)\.ts$/).flatMap((file) =>
      rulesNamedIn(read(file))
        .filter((rule) => !known.has(rule))
        .map((rule) => `${file}: ${rule}`),
    );
    expect(unknown).toEqual([]);
  });

  it('are found in every form a title takes', () => {
    const rule = (letter: string, number: number) => `${letter}${number}`;
    const title = `it('${rule('R', 900)}, ${rule('K', 901)}: nothing', it("${rule('Q', 902)} to ${rule('Q', 903)}: nothing"`;
    expect(rulesNamedIn(title)).toEqual(['R900', 'K901', 'Q902', 'Q903']);
    expect(rulesNamedIn(`raise('P0001'), tenant 'T1'`)).toEqual([]);
  });
});
