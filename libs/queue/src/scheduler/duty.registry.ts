import { parseDuration } from '@holdfast/kernel';
import { isKind } from '../domain/kind.js';
import { DuplicateDutyError } from '../errors/duplicate-duty.error.js';
import { InvalidDutyError } from '../errors/invalid-duty.error.js';
import type { Duty, DutyOptions } from '../ports/duty.js';
import type { DutyPlan } from '../ports/duty.ledger.js';

/** DutyEntry is one duty with the place it comes from. */
export interface DutyEntry extends DutyPlan {
  /** identity tells, with the source, the same duty that was found twice from another one of its name. */
  readonly identity: unknown;
  readonly run: Duty;
  /** source names the class, the method and the module for messages. */
  readonly source: string;
}

const DEFAULT_DEADLINE = '1m';
const LEAST_MS = 100;
const NAMES: readonly string[] = ['deadline', 'every', 'name'];

/** DutyRegistry knows the duties of this process. It knows no Nest: the explorer, or a program without Nest, registers here. */
export class DutyRegistry {
  /** warnings are what the start should say of duties that were not found. */
  readonly warnings: string[] = [];
  private readonly known = new Map<string, DutyEntry>();
  private sealed = false;

  get entries(): readonly DutyEntry[] {
    return [...this.known.values()];
  }

  find(name: string): DutyEntry | undefined {
    return this.known.get(name);
  }

  /** register adds a duty. The same one twice is one; two of one name throw DuplicateDutyError, one that comes after the start InvalidDutyError. */
  register(entry: DutyEntry): void {
    const present = this.known.get(entry.name);
    if (present && present.identity === entry.identity && present.source === entry.source) return;
    if (this.sealed) throw new InvalidDutyError(entry.source, 'name the duties before start()');
    if (present) throw new DuplicateDutyError(entry.name, [present.source, entry.source]);
    this.known.set(entry.name, entry);
  }

  /** seal takes no duty from here on: the scheduler has read them. */
  seal(): void {
    this.sealed = true;
  }
}

/** checkedPlan checks what a duty was declared with. Throws InvalidDutyError with the first mistake. */
export function checkedPlan(source: string, options: DutyOptions): DutyPlan {
  const given: unknown = options;
  if (typeof given !== 'object' || given === null) {
    throw new InvalidDutyError(source, "it takes options: { name: 'report.sweep', every: '1h' }");
  }
  const [unknown] = Object.keys(given).filter((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw new InvalidDutyError(source, `${unknown} is no option of a duty`);
  if (!isKind(options.name)) {
    const what = 'must be lower-case words joined by dots, at most 100 characters, such as report.sweep';
    throw new InvalidDutyError(source, `its name ${what}, not ${JSON.stringify(options.name)}`);
  }
  return {
    deadlineMs: durationOf(source, 'deadline', options.deadline ?? DEFAULT_DEADLINE),
    everyMs: durationOf(source, 'every', options.every),
    name: options.name,
  };
}

function durationOf(source: string, name: 'deadline' | 'every', value: string): number {
  let ms: number;
  try {
    ms = parseDuration(value);
  } catch (error) {
    throw new InvalidDutyError(source, `its ${name} is wrong: ${(error as Error).message.replace(/\.$/, '')}`);
  }
  if (ms < LEAST_MS) throw new InvalidDutyError(source, `its ${name} must be at least ${LEAST_MS}ms, not ${value}`);
  return ms;
}
