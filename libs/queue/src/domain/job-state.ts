/** JobState is the closed set of states of a job; the numbers are what the table holds. */
export const JobState = {
  PENDING: 0,
  RUNNING: 1,
  SUCCEEDED: 2,
  /** FAILED means refused, nothing else: a job out of attempts is a DEAD_LETTER. */
  FAILED: 3,
  DEAD_LETTER: 4,
  CANCELLED: 5,
} as const;

/** JobStateName is a state by its name, as it is shown to people. */
export type JobStateName = keyof typeof JobState;

/** JobStateCode is a state as the table holds it. */
export type JobStateCode = (typeof JobState)[JobStateName];

const TRANSITIONS: Readonly<Record<JobStateName, readonly JobStateName[]>> = {
  PENDING: ['RUNNING', 'CANCELLED'],
  RUNNING: ['SUCCEEDED', 'PENDING', 'FAILED', 'DEAD_LETTER', 'CANCELLED'],
  SUCCEEDED: [],
  FAILED: ['PENDING'],
  DEAD_LETTER: ['PENDING'],
  CANCELLED: ['PENDING'],
};

const NAMES = Object.keys(JobState) as JobStateName[];

/** canBecome tells whether a job may go from one state to another. */
export function canBecome(from: JobStateName, to: JobStateName): boolean {
  return TRANSITIONS[from].includes(to);
}

/** isFinal tells whether a state ends a job: its key is free again and only an operator brings it back. */
export function isFinal(state: JobStateName): boolean {
  return JobState[state] >= JobState.SUCCEEDED;
}

/** jobStateName answers the name of a state number. Throws RangeError for a number outside the set. */
export function jobStateName(code: number): JobStateName {
  const name = NAMES[code];
  if (name === undefined) throw new RangeError(`${code} is no job state.`);
  return name;
}
