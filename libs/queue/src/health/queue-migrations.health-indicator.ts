import { errorChain, HoldfastError } from '@holdfast/kernel';
import { LATE, problemIn } from './problem.words.js';
import { type HealthFinding, HealthIndicator } from './health.indicator.js';
import { type Look, SharedLook } from './shared.look.js';

/** Tables change seldom: for so long they are taken for what they were. */
const FRESH_MS = 60_000;
const OF_MIGRATIONS = /^migrate\./;

/**
 * QueueMigrationsHealthIndicator tells whether this version can run on the tables that are there (C2, K50): down names what is missing.
 *
 * Where the database cannot be asked it is degraded, whatever it knew before: whether it can is the database's own key.
 */
export class QueueMigrationsHealthIndicator extends HealthIndicator {
  private readonly fitting: SharedLook<void>;

  /** `check` rejects with what Migrator throws when the tables do not fit. */
  constructor(check: () => Promise<void>) {
    super();
    this.fitting = new SharedLook({ freshMs: FRESH_MS, look: check });
  }

  protected async look(timeoutMs: number): Promise<HealthFinding> {
    const look = await this.fitting.take(timeoutMs);
    if (look.type === 'found') return { status: 'up' };
    const misfit = misfitIn(look);
    if (misfit) return { details: { code: misfit.code }, message: misfit.message, status: 'down' };
    const problem = look.type === 'late' ? LATE : problemIn(look.error);
    return { message: `The migrations could not be looked at: ${problem}.`, status: 'degraded' };
  }
}

/** What the migrator says is of its own making: names of migrations and of the schema, and the remedy. */
function misfitIn(look: Look<void>): HoldfastError | undefined {
  if (look.type !== 'failed') return undefined;
  return errorChain(look.error).find(
    (link): link is HoldfastError => link instanceof HoldfastError && OF_MIGRATIONS.test(link.code),
  );
}
