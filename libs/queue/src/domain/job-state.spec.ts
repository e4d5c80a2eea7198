import { canBecome, isFinal, JobState, jobStateName, type JobStateName } from './job-state.js';

const names = Object.keys(JobState) as JobStateName[];

describe('JobState', () => {
  it('has the numbers that the table holds', () => {
    expect(names.map((name) => jobStateName(JobState[name]))).toEqual(names);
    expect(() => jobStateName(6)).toThrow(RangeError);
  });

  it('knows its final states', () => {
    expect(names.filter(isFinal)).toEqual(['SUCCEEDED', 'FAILED', 'DEAD_LETTER', 'CANCELLED']);
  });

  it('allows the transitions of the diagram and no others', () => {
    const allowed = names.flatMap((from) => names.filter((to) => canBecome(from, to)).map((to) => `${from} ${to}`));
    expect(allowed.sort()).toEqual([
      'CANCELLED PENDING',
      'DEAD_LETTER PENDING',
      'FAILED PENDING',
      'PENDING CANCELLED',
      'PENDING RUNNING',
      'RUNNING CANCELLED',
      'RUNNING DEAD_LETTER',
      'RUNNING FAILED',
      'RUNNING PENDING',
      'RUNNING SUCCEEDED',
    ]);
  });
});
