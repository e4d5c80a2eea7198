import { HoldfastError } from '@holdfast/kernel/pure';

/** SecondQueueError says that an application set up the queue more than once: which of them a provider would get is a matter of luck. */
export class SecondQueueError extends HoldfastError {
  constructor(readonly count: number) {
    super(
      'queue.second_queue',
      `QueueModule was set up ${count} times in one application: call forRoot once, in the root module. It is global, so no other module imports it.`,
    );
  }
}
