/**
 * Posts 329 real webhook payloads to a running stack as three tenants with subscriptions of their own, kills its worker twice in the middle, pauses a
 * subscription, and exits non-zero unless nothing was lost, nothing counted twice, and no tenant saw anything of another's: `npm run demo`. It brings its
 * own database (or takes the empty one of `DATABASE_URL`) and leaves nothing running.
 */
import type { DemoFindings } from './demo/demo.checks.js';
import { demoTable, holds } from './demo/demo.report.js';
import { DemoRun } from './demo/demo.run.js';
import { DemoStack } from './demo/demo.stack.js';
import { watchParent } from './local/parent.watch.js';

const INTERRUPTED = 130;
const LOSSLESS =
  'It holds: two workers were killed, nothing was lost, nothing was counted twice, and no tenant saw anything of another.';

async function main(): Promise<number> {
  const stack = new DemoStack(process.env.DATABASE_URL);
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  let interrupted = false;
  const stopped = new Promise<number>((resolve) => {
    const interrupt = () => {
      interrupted = true;
      resolve(INTERRUPTED);
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
    watchParent(interrupt);
  });
  const report = ({ perTenant, whole }: DemoFindings) => {
    const wrong = [...perTenant, ...whole].filter((check) => !holds(check));
    const names = stack.tenants.map(({ plan }) => plan.name);
    say(`\n${demoTable(names, perTenant)}\n${demoTable([''], whole)}\n`);
    say(wrong.length === 0 ? LOSSLESS : `WRONG: ${wrong.map((check) => check.what).join(', ')}.`);
    return wrong.length === 0 ? 0 : 1;
  };
  const ran = new DemoRun(stack, say).run().then(report, (error: unknown) => {
    if (!interrupted)
      say(`The demo failed: ${error instanceof Error ? error.message : String(error)}\n${stack.words()}`);
    return 1;
  });
  const code = await Promise.race([ran, stopped]);
  await stack.stop();
  return code;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  },
);
