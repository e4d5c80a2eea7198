import { spawnSync } from 'node:child_process';
import { parseBenchOptions } from './src/bench.options.js';
import { BenchServer } from './src/bench.server.js';
import type { BenchCase, CaseResult } from './src/case.js';
import { p1 } from './src/p1.case.js';
import { p2 } from './src/p2.case.js';
import { p3 } from './src/p3.case.js';
import { installPeers } from './src/peers.js';
import { q7 } from './src/q7.case.js';
import { tableOf, writeJson } from './src/report.js';

const CASES: readonly BenchCase[] = [p1, p2, p3, q7];

async function main(): Promise<void> {
  const options = parseBenchOptions(process.argv.slice(2));
  const names = CASES.map(({ name }) => name);
  const unknown = options.only?.filter((name) => !names.includes(name)) ?? [];
  if (unknown.length > 0) throw new Error(`There is no case ${unknown.join(', ')}; there are ${names.join(', ')}.`);
  const node = installPeers();
  const server = await BenchServer.start();
  const results: CaseResult[] = [];
  try {
    for (const bench of CASES.filter(({ name }) => options.only?.includes(name) ?? true)) {
      console.log(`\n${bench.name}  ${bench.title}`);
      const result = await bench.run({ log: console.log, node, options, server });
      console.log(tableOf(result));
      results.push(result);
    }
    const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
    if (options.json) writeJson(options.json, { node: version, postgres: await server.version() }, results);
  } finally {
    await server.stop();
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
