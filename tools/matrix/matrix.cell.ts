import type { MatrixStage } from './matrix.stage.js';

/** MatrixCell is one combination that must work. */
export interface MatrixCell {
  /** alone: nothing else may run meanwhile. The others run two at a time. */
  readonly alone: boolean;
  /** axes say what it combines, such as `{ check: 'suite', node: '24' }`; the command line picks cells by them. */
  readonly axes: Readonly<Record<string, string>>;
  /** run answers a line about what it found; it rejects when the combination does not work. */
  run(stage: MatrixStage): Promise<string>;
}

/** titleOf answers a cell's axes in one line. */
export function titleOf({ axes }: MatrixCell): string {
  return Object.entries(axes)
    .map(([axis, value]) => `${axis}=${value}`)
    .join(' ');
}

/**
 * pick answers the cells that every argument fits. `node=other` fits what is not the Node that runs this; the short form of the tests is picked by
 * `tests=short` alone, as it is part of the long one.
 */
export function pick(cells: readonly MatrixCell[], args: readonly string[], node: string): MatrixCell[] {
  const wanted = args.map((arg) => arg.split('=', 2) as [string, string | undefined]);
  const short = args.includes('tests=short');
  return cells.filter(
    ({ axes }) =>
      (short || axes['tests'] !== 'short') &&
      wanted.every(([axis, value]) => {
        if (axis === 'node' && value === 'other') return axes[axis] !== undefined && axes[axis] !== node;
        return axes[axis] !== undefined && axes[axis] === value;
      }),
  );
}
