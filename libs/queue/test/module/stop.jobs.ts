import { defineJob, type } from '../../src/define.js';

/** StopPayload says how long a handler works; `stay`: until it is told to stop. */
export interface StopPayload {
  readonly ms: number;
  readonly n: number;
  readonly stay?: boolean;
}

const payload = type<StopPayload>();
export const Attached = defineJob('stop.attached', { payload });
export const Detached = defineJob('stop.detached', { payload });
/** Its handler never returns. */
export const Stubborn = defineJob('stop.stubborn', { payload: type<object>() });
