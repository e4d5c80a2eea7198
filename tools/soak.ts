/**
 * Lets producers and three workers meet every fault there is, in an order that a seed decides, and exits 1 unless everything that was committed was done
 * exactly once: `npm run soak -- --minutes 10 --seed 7`. It brings its own database and leaves nothing running.
 */
import { watchParent } from './local/parent.watch.js';
import { faultTable, memoryGrowth, violations, type SoakEvidence } from './soak/soak.judge.js';
import { soakOptions } from './soak/soak.options.js';
import { SoakRun } from './soak/soak.run.js';

const INTERRUPTED = 130;
const say = (line: string) => void process.stdout.write(`${line}\n`);

function report(evidence: SoakEvidence, seed: number): number {
  const { findings, memory, seconds } = evidence;
  const growth = memoryGrowth(memory);
  say(`\n${faultTable(evidence.faults)}\n`);
  say(
    `${findings.requests} requests committed, ${findings.twiceReceived} told to the receiver again, ${findings.duties} duties (longest gap ${findings.dutyGapSeconds.toFixed(1)} s), ` +
      `memory ${growth ? `${growth.first.toFixed(0)} then ${growth.last.toFixed(0)} MB` : 'not measured'}`,
  );
  const wrong = violations(evidence);
  for (const each of wrong) say(`WRONG: ${each}`);
  say(
    wrong.length === 0
      ? `It holds: ${seconds.toFixed(0)} s of faults, nothing was lost and nothing was done twice (seed ${seed}).`
      : `It does not hold (seed ${seed}).`,
  );
  return wrong.length === 0 ? 0 : 1;
}

async function main(): Promise<number> {
  const options = soakOptions(process.argv.slice(2));
  const soak = new SoakRun(options, say);
  let interrupted = false;
  const stopped = new Promise<number>((resolve) => {
    const interrupt = () => {
      interrupted = true;
      resolve(INTERRUPTED);
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
    watchParent(interrupt);
  });
  say(`soak of ${options.minutes} minutes, seed ${options.seed}`);
  const ran = soak.run().then(
    (evidence) => report(evidence, options.seed),
    (error: unknown) => {
      if (!interrupted)
        say(`The soak failed (seed ${options.seed}): ${error instanceof Error ? error.stack : String(error)}`);
      return 1;
    },
  );
  const code = await Promise.race([ran, stopped]);
  await soak.close();
  return code;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
