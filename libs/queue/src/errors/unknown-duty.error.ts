import { HoldfastError } from '@holdfast/kernel/pure';

/** UnknownDutyError says that no duty of a name is here, and none ever ran. */
export class UnknownDutyError extends HoldfastError {
  constructor(
    readonly duty: string,
    readonly known: readonly string[],
  ) {
    super(
      'queue.unknown_duty',
      `There is no duty ${JSON.stringify(duty)}; this process has ${known.length > 0 ? known.join(', ') : 'none'}.`,
    );
  }
}
