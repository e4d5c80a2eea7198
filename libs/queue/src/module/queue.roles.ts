/**
 * QueueRole is what a process does: `enqueue` writes requests, which every process may; `run` runs jobs; `schedule` stands for leadership and runs the
 * duties of the leader.
 */
export type QueueRole = 'enqueue' | 'run' | 'schedule';

/** QueueRoles are the roles of this process, with what was wrong about them. */
export interface QueueRoles {
  readonly problems: readonly string[];
  readonly run: boolean;
  readonly schedule: boolean;
}

const ROLES: readonly string[] = ['enqueue', 'run', 'schedule'];
const VARIABLE = 'HOLDFAST_ROLES';

/**
 * queueRoles decides the roles of this process: those in the code, else those of the environment (`HOLDFAST_ROLES=enqueue,run`), else all.
 *
 * It is known before any provider is made, because the list of providers depends on it.
 */
export function queueRoles(roles: readonly QueueRole[] | undefined, env: NodeJS.ProcessEnv = process.env): QueueRoles {
  const fromEnvironment = env[VARIABLE]?.trim();
  const source = roles === undefined && fromEnvironment ? VARIABLE : 'roles';
  const given: readonly string[] =
    roles ?? (fromEnvironment ? fromEnvironment.split(',').map((role) => role.trim()) : ROLES);
  const unknown = given.filter((role) => !ROLES.includes(role));
  const problems: string[] = [];
  if (given.length === 0) problems.push(`${source} is empty: name ${ROLES.join(', ')}`);
  if (unknown.length > 0) problems.push(`${source} names ${unknown.join(', ')}, known are ${ROLES.join(', ')}`);
  return { problems, run: given.includes('run'), schedule: given.includes('schedule') };
}
