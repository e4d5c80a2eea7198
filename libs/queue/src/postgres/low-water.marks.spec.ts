import type { JobRow } from './job.row.js';
import { LowWaterMarks } from './low-water.marks.js';

function row(id: string, due: string, priority = 5, kind = 'a'): JobRow {
  return { due_text: due, id, kind, priority } as JobRow;
}

describe('LowWaterMarks', () => {
  it('Q14: a quick look starts at the last row of the last claim, per kind and priority', () => {
    const marks = new LowWaterMarks();
    marks.remember([row('1', 'd1'), row('2', 'd2'), row('3', 'd3', 0, 'b')]);
    const quick = marks.of(['a', 'b'], false);
    expect(quick.marks).toHaveLength(20);
    expect([quick.marks[5], quick.markIds[5]]).toEqual(['d2', '2']);
    expect([quick.marks[10], quick.markIds[10]]).toEqual(['d3', '3']);
    expect([quick.marks[0], quick.markIds[0]]).toEqual(['-infinity', '0']);
  });

  it('Q14: a full look starts at the head and forgets nothing', () => {
    const marks = new LowWaterMarks();
    marks.remember([row('1', 'd1')]);
    expect(new Set(marks.of(['a'], true).marks)).toEqual(new Set(['-infinity']));
    expect(marks.of(['a'], false).marks[5]).toBe('d1');
  });

  it('moves back where older jobs were found, and to the head when jobs came back', () => {
    const marks = new LowWaterMarks();
    marks.remember([row('9', 'd9')]);
    marks.remember([row('2', 'd2')]);
    expect(marks.of(['a'], false).marks[5]).toBe('d2');
    marks.clear();
    expect(marks.of(['a'], false).marks[5]).toBe('-infinity');
  });
});
