import type { SchemaName } from '@holdfast/kernel';
import type { ClientConfig } from 'pg';
import { type Candidate, type CandidateOptions, Leadership } from '../ports/leadership.js';
import { AdvisoryLockCandidate } from './advisory-lock.candidate.js';
import { CandidateRegistry } from './candidate.registry.js';
import { lockKeyOf } from './lock.key.js';
import { SessionSource } from './session.source.js';
import type { Stake } from './stake.js';

/** AdvisoryLockLeadershipOptions say which names are meant and how the connection is called. */
export interface AdvisoryLockLeadershipOptions {
  /** applicationName is what `pg_stat_activity` shows. Default `holdfast-leader`. */
  readonly applicationName?: string;
  /** schema is part of every lock's key: applications with schemas of their own do not stand against each other. */
  readonly schema: SchemaName;
}

/**
 * AdvisoryLockLeadership keeps leadership as advisory locks of one session of its own, which all names of this process share (L1–L4).
 *
 * The connection is opened by the first `acquire`, straight to the server or through a pooler in session mode, and closed when nobody stands any more.
 */
export class AdvisoryLockLeadership extends Leadership {
  readonly connections = { leadership: 1 };
  private closing: Promise<void> | undefined;
  private readonly registry = new CandidateRegistry();
  private readonly source: SessionSource;

  /** `config` may be a function, for a configuration that is known only later; it is asked for each new connection. */
  constructor(
    config: ClientConfig | (() => ClientConfig),
    private readonly options: AdvisoryLockLeadershipOptions,
  ) {
    super();
    const { applicationName = 'holdfast-leader', schema } = options;
    this.source = new SessionSource({ applicationName, config, schema });
  }

  candidate(name: string, options: CandidateOptions): Candidate {
    this.registry.check(name, options);
    const home = {
      enter: (candidate: Stake) => this.registry.enter(candidate),
      leave: (candidate: Stake) => this.leave(candidate),
      session: (tickMs: number) => this.source.current(tickMs),
    };
    const candidate = new AdvisoryLockCandidate(home, name, lockKeyOf(this.options.schema, name), options.tickMs);
    this.registry.enter(candidate);
    return candidate;
  }

  close(): Promise<void> {
    this.registry.close();
    this.closing ??= this.source.close();
    return this.closing;
  }

  private async leave(candidate: Stake): Promise<void> {
    this.registry.leave(candidate);
    if (this.registry.empty) await this.source.drop();
  }
}
