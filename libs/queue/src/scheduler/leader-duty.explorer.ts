import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { InvalidDutyError } from '../errors/invalid-duty.error.js';
import type { Explored } from '../handlers/explored.js';
import { classesOf, marksAlong, type NestProvider, sourceOf } from '../handlers/nest.provider.js';
import { foundOnce } from '../handlers/nest.singletons.js';
import type { DutyContext } from '../ports/duty.js';
import type { DutyEntry } from './duty.registry.js';
import { LEADER_DUTIES, type LeaderDutyMetadata } from './leader-duty.decorator.js';

/** LeaderDutyExplorer finds the methods that `@LeaderDuty` marked, and answers data; it registers nothing. */
@Injectable()
export class LeaderDutyExplorer {
  constructor(private readonly discovery: DiscoveryService) {}

  /** explore answers every duty once, and an InvalidDutyError for each whose class is no singleton, is misplaced or is there twice. */
  explore(): Explored<DutyEntry> {
    const { mistakes, singletons } = foundOnce(this.discovery, LEADER_DUTIES);
    return {
      entries: singletons.flatMap(dutiesOf),
      mistakes: mistakes.map(({ reason, source }) => new InvalidDutyError(source, reason)),
    };
  }
}

function dutiesOf(provider: NestProvider): DutyEntry[] {
  const instance = provider.instance as Record<string | symbol, unknown>;
  const marked = classesOf(provider).find((candidate) => Reflect.hasMetadata(LEADER_DUTIES, candidate));
  // What replaces a duty in a test need not have it.
  return marksAlong<LeaderDutyMetadata>(marked, LEADER_DUTIES, (one, other) => one.method === other.method)
    .filter(({ method }) => typeof instance[method] === 'function')
    .map(({ method, plan }) => ({
      ...plan,
      identity: instance,
      run: (ctx: DutyContext) => (instance[method] as (ctx: DutyContext) => unknown)(ctx),
      source: `${String(method)} of ${sourceOf(provider)}`,
    }));
}
