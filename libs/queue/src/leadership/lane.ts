import { startTimer } from '@holdfast/kernel';

/** LaneOptions bound a wait in a lane. */
export interface LaneOptions {
  /** late makes the error of one that has waited `withinMs` in vain; its work is then never begun. */
  readonly late: () => Error;
  readonly withinMs: number;
}

/** Lane lets one piece of work through at a time, in the order of arrival. */
export class Lane {
  private last: Promise<void> = Promise.resolve();

  /** run answers what `work` answers. Without options the wait has no bound: whatever goes through such a lane has a deadline of its own. */
  run<T>(work: () => Promise<T>, options?: LaneOptions): Promise<T> {
    return new Promise((resolve, reject) => {
      let late = false;
      const timer =
        options &&
        startTimer(options.withinMs, () => {
          late = true;
          reject(options.late());
        });
      const turn = async () => {
        timer?.clear();
        if (late) return;
        try {
          resolve(await work());
        } catch (error) {
          reject(error);
        }
      };
      this.last = this.last.then(turn);
    });
  }
}
