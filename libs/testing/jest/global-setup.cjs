const { fork } = require('node:child_process');
const path = require('node:path');

const root = path.resolve(__dirname, '../../..');
const START_WITHIN_MS = 180_000;

/** Starts the keeper of the run's PostgreSQL and hands its address to the test files. */
module.exports = async function globalSetup() {
  const keeper = fork(path.join(root, 'libs/testing/src/server/keeper.main.ts'), {
    cwd: root,
    detached: true,
    execArgv: ['-C', '@holdfast/source', '-r', path.join(root, 'tools/register.cjs')],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  globalThis.__HOLDFAST_KEEPER__ = keeper;
  const ready = await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('The keeper of the test server said nothing.')), START_WITHIN_MS);
    keeper.once('error', reject);
    keeper.once('exit', (code) => reject(new Error(`The keeper of the test server ended with code ${code}.`)));
    keeper.once('message', (message) => {
      clearTimeout(late);
      if (message.ready) resolve(message.ready);
      else reject(new Error(message.failed));
    });
  });
  process.env.HOLDFAST_TESTBED = JSON.stringify(ready);
};
