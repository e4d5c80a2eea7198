/** Mutant is a fault that is put into a function of the queue in a test database. */
export interface Mutant {
  readonly in: 'enqueue_keyed' | 'intake_requests' | 'requeue_jobs';
  readonly name: string;
  readonly replace: readonly (readonly [from: string, to: string])[];
  /** whenRunning of the definitions that meet the fault. */
  readonly whenRunning: 'merge' | 'rerun';
}

/** MUTANTS are faults that the property must find: one for each thing that it is about. */
export const MUTANTS: readonly Mutant[] = [
  {
    in: 'enqueue_keyed',
    name: 'the lock of a key is not taken',
    replace: [['v_locked := pg_try_advisory_xact_lock', 'v_locked := 0 <> hashint8']],
    whenRunning: 'merge',
  },
  {
    in: 'enqueue_keyed',
    name: 'rerun is ignored',
    replace: [['AND NOT p_rerun AND NOT v_live.held', 'AND NOT v_live.held']],
    whenRunning: 'rerun',
  },
  {
    in: 'enqueue_keyed',
    name: 'hold is ignored',
    replace: [['AND NOT p_rerun AND NOT v_live.held', 'AND NOT p_rerun']],
    whenRunning: 'merge',
  },
  {
    in: 'enqueue_keyed',
    name: 'an old snapshot is answered like a new one',
    replace: [["IF v_isolation <> 'repeatable read' THEN", 'IF true THEN']],
    whenRunning: 'merge',
  },
  {
    in: 'intake_requests',
    name: 'a run satisfies that the caller had not seen',
    replace: [['WHEN r.seen_token = l.lease_token AND NOT r.rerun', 'WHEN NOT r.rerun']],
    whenRunning: 'merge',
  },
  {
    in: 'intake_requests',
    name: 'a request hurries a retry',
    replace: [
      ['NOT g.waits_out AND g.due < g.job_due_at', 'g.due < g.job_due_at'],
      [
        'CASE WHEN j.attempt > 0 OR j.deferred_since IS NOT NULL THEN j.due_at ELSE least(j.due_at, v_pull_due[i]) END',
        'least(j.due_at, v_pull_due[i])',
      ],
    ],
    whenRunning: 'merge',
  },
  {
    in: 'intake_requests',
    name: 'no request pulls a job forward',
    replace: [['NOT g.waits_out AND g.due < g.job_due_at', 'false']],
    whenRunning: 'merge',
  },
  {
    in: 'intake_requests',
    name: 'requests that are folded into another leave no alias',
    replace: [["g.fate IN ('create', 'wait') AND g.id <> g.head)", "g.fate = 'create' AND g.id <> g.head)"]],
    whenRunning: 'merge',
  },
  {
    in: 'intake_requests',
    name: 'a payload that replaces is forgotten while it waits',
    replace: [['replace_payload = v_wait_payload[i] IS NOT NULL,', 'replace_payload = false,']],
    whenRunning: 'rerun',
  },
  {
    in: 'requeue_jobs',
    name: 'a requeue does not take the lock of the key',
    replace: [['NOT pg_try_advisory_xact_lock', '0 = hashint8']],
    whenRunning: 'merge',
  },
  {
    in: 'requeue_jobs',
    name: 'a requeue makes a second live job',
    replace: [['IF live_id IS NOT NULL THEN', 'IF false THEN']],
    whenRunning: 'merge',
  },
];
