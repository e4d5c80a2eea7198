const { once } = require('node:events');

/** Lets go of the keeper and waits until it has stopped the server. */
module.exports = async function globalTeardown() {
  const keeper = globalThis.__HOLDFAST_KEEPER__;
  if (!keeper || keeper.exitCode !== null) return;
  const exited = once(keeper, 'exit');
  keeper.disconnect();
  await exited;
};
