/** DemoCell is what was expected of one tenant, or of the whole, and what was found. */
export interface DemoCell {
  readonly holds: boolean;
  readonly text: string;
}

/** DemoCheck is one row of the table: a cell per tenant, or one alone. */
export interface DemoCheck {
  readonly cells: readonly DemoCell[];
  readonly what: string;
}

/** exactly holds for one value alone. */
export function exactly(expected: number, found: number): DemoCell {
  return { holds: expected === found, text: expected === 0 ? String(found) : `${found} of ${expected}` };
}

/** between holds from one value to another. */
export function between(least: number, most: number, found: number): DemoCell {
  const bounds = most === Infinity ? `at least ${least}` : least === 0 ? `at most ${most}` : `${least} to ${most}`;
  return { holds: found >= least && found <= most, text: `${found} (${bounds})` };
}

/** sameCounts holds when two maps say the same; it tells how many entries do. */
export function sameCounts(expected: ReadonlyMap<string, number>, found: ReadonlyMap<string, number>): DemoCell {
  const same = [...expected].filter(([key, count]) => found.get(key) === count).length;
  const holds = same === expected.size && found.size === expected.size;
  return { holds, text: `${same} of ${expected.size}${found.size === expected.size ? '' : `, ${found.size} found`}` };
}

/** holds tells whether every cell of a check does. */
export function holds({ cells }: DemoCheck): boolean {
  return cells.every((cell) => cell.holds);
}

/** demoTable writes the checks as lines of text, a column for each tenant. */
export function demoTable(tenants: readonly string[], checks: readonly DemoCheck[]): string {
  const rows = [
    ['', ...tenants, ''],
    ...checks.map((check) => [
      check.what,
      ...tenants.map((_, column) => check.cells[column]?.text ?? ''),
      holds(check) ? 'ok' : 'WRONG',
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
