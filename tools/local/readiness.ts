import { setTimeout as pause } from 'node:timers/promises';
import { LocalProblem } from './local.problem.js';

const LOOK_EVERY_MS = 100;
const ANSWER_WITHIN_MS = 3_000;

/** untilReady resolves when `GET <url>/health/ready` answers 200, and throws when it has not within the deadline. */
export async function untilReady(name: string, url: string, deadlineMs: number, signal: AbortSignal): Promise<void> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    if (await isReady(url)) return;
    if (performance.now() > end)
      throw new LocalProblem(`${name} was not ready within ${deadlineMs / 1_000} s: see its lines above.`);
    await pause(LOOK_EVERY_MS, undefined, { signal });
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
