import 'reflect-metadata';
import { InvalidDutyError } from '../errors/invalid-duty.error.js';
import { rememberDecorated } from '../handlers/decorated.classes.js';
import type { Duty, DutyOptions } from '../ports/duty.js';
import type { DutyPlan } from '../ports/duty.ledger.js';
import { checkedPlan } from './duty.registry.js';

/** LeaderDutyMetadata is what the decorator writes on a class, one for each duty. */
export interface LeaderDutyMetadata {
  readonly method: string | symbol;
  readonly plan: DutyPlan;
}

/** LEADER_DUTIES is where the metadata is; the explorer alone reads it. */
export const LEADER_DUTIES = Symbol.for('holdfast.leader-duties');

type DutyDecorator = <Method extends Duty>(
  target: object,
  name: string | symbol,
  method: TypedPropertyDescriptor<Method>,
) => void;

/**
 * LeaderDuty makes a method of a provider a duty of the leader: `@LeaderDuty({ name: 'report.sweep', every: '1h', deadline: '1m' })` (S3).
 *
 * Of all processes with the role schedule one calls it, every so often from start to start, by the database's clock and whoever leads. A method that takes
 * anything but a DutyContext does not compile. Throws InvalidDutyError for what is no method of an instance, and for options that are wrong.
 */
export function LeaderDuty(options: DutyOptions): DutyDecorator {
  return (target, method, descriptor) => {
    const isStatic = typeof target === 'function';
    const owner = isStatic ? target : target.constructor;
    const source = method === undefined ? owner.name : `${owner.name}.${String(method)}`;
    if (isStatic || typeof descriptor?.value !== 'function')
      throw new InvalidDutyError(source, 'it is no method of an instance: put @LeaderDuty on one');
    const metadata: LeaderDutyMetadata = { method, plan: checkedPlan(source, options) };
    const present = (Reflect.getOwnMetadata(LEADER_DUTIES, owner) ?? []) as readonly LeaderDutyMetadata[];
    Reflect.defineMetadata(LEADER_DUTIES, [...present, metadata], owner);
    rememberDecorated({ decorator: `@LeaderDuty(${metadata.plan.name})`, isDuty: true, target: owner });
  };
}
