import examples from '@octokit/webhooks-examples';

/** SampleEvent is one real payload of GitHub's webhooks, as it is posted. */
export interface SampleEvent {
  readonly id: string;
  readonly payload: object;
  readonly type: string;
}

const WORD = /^[a-z][a-z0-9_]*$/;

/** sampleEvents answers every example of the package; the ids are made of name and position, so that a posting can be repeated. */
export function sampleEvents(): SampleEvent[] {
  return examples.flatMap(({ examples: payloads, name }) =>
    payloads.map((payload, position) => ({ id: `demo-${name}-${position}`, payload, type: typeOf(name, payload) })),
  );
}

/** expectedStatistics counts `repository type` pairs from the payloads alone: what the statistics must say when each event counts once. */
export function expectedStatistics(events: readonly SampleEvent[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { payload, type } of events) {
    const { repository } = payload as { repository?: { full_name?: string } };
    const key = `${repository?.full_name ?? '(none)'} ${type}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** `issues.opened`: the webhook and what happened, where the payload says so in a word. */
function typeOf(name: string, payload: object): string {
  const { action } = payload as { action?: unknown };
  return typeof action === 'string' && WORD.test(action) ? `${name}.${action}` : name;
}
