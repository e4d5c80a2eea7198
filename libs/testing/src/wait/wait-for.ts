import { setTimeout as pause } from 'node:timers/promises';

/** WaitForOptions bound a wait for a state of the database, or of another process, that sends no event. */
export interface WaitForOptions {
  /** deadlineMs is when the wait fails. Default 15 000. */
  readonly deadlineMs?: number;
  /** everyMs is the pause between two looks. Default 20. */
  readonly everyMs?: number;
  /** what is awaited, for the message: "the job to be finished". */
  readonly what: string;
}

/** waitFor looks until `condition` answers something truthy, answers that, and throws when the deadline passes. Await events where there are events. */
export async function waitFor<T>(condition: () => Promise<T> | T, options: WaitForOptions): Promise<NonNullable<T>> {
  const { deadlineMs = 15_000, everyMs = 20, what } = options;
  const end = performance.now() + deadlineMs;
  for (;;) {
    const answer = await condition();
    if (answer) return answer;
    if (performance.now() > end) throw new Error(`Waited ${deadlineMs} ms in vain for ${what}.`);
    await pause(everyMs);
  }
}
