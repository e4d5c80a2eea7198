/** A preload that shifts what this process believes the time to be by CLOCK_SHIFT_MS; timers and performance.now() stay true, as they do on a machine whose clock is wrong. */
const shift = Number(process.env.CLOCK_SHIFT_MS ?? '0');
const { now } = Date;
globalThis.Date = new Proxy(Date, {
  apply: (target) => new target(now() + shift).toString(),
  construct: (target, args) => Reflect.construct(target, args.length > 0 ? args : [now() + shift]),
  get: (target, name) => (name === 'now' ? () => now() + shift : target[name]),
});
