/** DemoCheck is one row of the table. */
export interface DemoCheck {
  readonly expected: string;
  readonly found: string;
  readonly holds: boolean;
  readonly what: string;
}

/** exactly is a check that holds for one value alone. */
export function exactly(what: string, expected: number, found: number): DemoCheck {
  return { expected: String(expected), found: String(found), holds: expected === found, what };
}

/** atMost is a check that holds up to a value. */
export function atMost(what: string, most: number, found: number): DemoCheck {
  return { expected: `at most ${most}`, found: String(found), holds: found <= most, what };
}

/** atLeast is a check that holds from a value on. */
export function atLeast(what: string, least: number, found: number): DemoCheck {
  return { expected: `at least ${least}`, found: String(found), holds: found >= least, what };
}

/** sameCounts is a check that two maps say the same; it tells how many entries do. */
export function sameCounts(
  what: string,
  expected: ReadonlyMap<string, number>,
  found: ReadonlyMap<string, number>,
): DemoCheck {
  const same = [...expected].filter(([key, count]) => found.get(key) === count).length;
  return {
    expected: `${expected.size} rows`,
    found: `${same} equal of ${found.size}`,
    holds: same === expected.size && found.size === expected.size,
    what,
  };
}

/** demoTable writes the checks as lines of text. */
export function demoTable(checks: readonly DemoCheck[]): string {
  const rows = [
    ['', 'expected', 'found', ''],
    ...checks.map((check) => [check.what, check.expected, check.found, check.holds ? 'ok' : 'WRONG']),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
