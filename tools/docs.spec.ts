import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(__dirname, '..');
const EXAMPLES = path.join(ROOT, 'docs', 'examples');

const LINK = /\]\((?!https?:|#)([^)\s#]+)(#[^)\s]*)?\)/g;
const FENCED = /^```[\s\S]*?^```$/gm;
/** The codes of the library's own errors, as its sources write them and as the table of codes lists them. */
const CODE = /'((?:kernel|migrate|queue)\.[a-z_]+)'/g;
/** What is written like a code and is none: events, and duties of the leader. */
const NO_CODES: readonly string[] = [
  'queue.depth',
  'queue.depth_cleared',
  'queue.postgres_health',
  'queue.retention',
  'queue.unhandled_kinds',
];
const LISTED = /^\| `((?:kernel|migrate|queue)\.[a-z_]+)` \|/gm;
const TYPESCRIPT = /^```ts\n([\s\S]*?)^```$/gm;

/** The guides and the READMEs: their examples must compile. The design shows planned shapes too, and is not among them. */
const guides = ['README.md', ...['libs/kernel', 'libs/queue', 'migrations'].flatMap(markdownIn), ...markdownIn('docs')];
const documents = [...guides, ...markdownIn('docs/adr'), ...markdownIn('docs/design')];

function markdownIn(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `${folder}/${file}`);
}

function sourcesIn(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/spec\.ts$/.test(file))
    .map((file) => path.join(folder, file));
}

function read(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

/** Without indentation, so that a method can be quoted outside its class. */
function flat(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.length > 0)
    .join('\n');
}

describe('documents', () => {
  it('link to files that exist', () => {
    const broken = documents.flatMap((file) =>
      [...read(file).replaceAll(FENCED, '').matchAll(LINK)]
        .filter(([, target]) => !existsSync(path.join(ROOT, path.dirname(file), target!)))
        .map(([, target]) => `${file}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('list every decision', () => {
    const index = read('docs/adr/README.md');
    const decisions = readdirSync(path.join(ROOT, 'docs/adr')).filter((file) => /^\d{4}-.*\.md$/.test(file));
    expect(decisions.filter((file) => !index.includes(`(${file})`))).toEqual([]);
  });

  it('quote only TypeScript that stands in docs/examples, where it is type-checked', () => {
    const examples = readdirSync(EXAMPLES).map((file) => flat(readFileSync(path.join(EXAMPLES, file), 'utf8')));
    const blocks = guides.flatMap((file) =>
      [...read(file).matchAll(TYPESCRIPT)].map(([, code]) => ({ file, code: code! })),
    );
    const foreign = blocks.filter(({ code }) => !examples.some((example) => example.includes(flat(code))));
    expect(blocks.length).toBeGreaterThan(5);
    expect(foreign).toEqual([]);
  });

  it('list every error code, and no other', () => {
    const sources = ['libs/kernel/src', 'libs/queue/src'].flatMap(sourcesIn);
    const written = new Set(sources.flatMap((file) => [...read(file).matchAll(CODE)].map(([, code]) => code)));
    const listed = [...read('docs/troubleshooting.md').matchAll(LISTED)].map(([, code]) => code);
    expect(written.size).toBeGreaterThan(20);
    expect(listed).toEqual([...written].filter((code) => !NO_CODES.includes(String(code))).sort());
  });
});
