import { LocalProblem } from './local/local.problem.js';
import { LocalStart } from './local/local.start.js';
import { watchParent } from './local/parent.watch.js';

/** `npm start`: everything on this machine, until Ctrl-C. */
const local = new LocalStart();

// A terminal sends Ctrl-C to npm as well, which sends it on: it may come twice, and the second must not cut the first short.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => local.stop());
watchParent(() => local.stop());

local.run().then(
  () => {
    console.log('[start] Everything has been stopped.');
    process.exit(0);
  },
  (error: unknown) => {
    if (error instanceof LocalProblem) console.error(`[start] ${error.message} Everything has been stopped.`);
    else console.error(error);
    process.exit(1);
  },
);
