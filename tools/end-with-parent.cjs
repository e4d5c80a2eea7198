/**
 * Preloaded into child processes: when the parent is gone, however it went, the child is told to stop as by SIGTERM,
 * and ends by force if it does not. The channel to the parent alone does not keep the child alive.
 */
const GRACE_MS = Number(process.env.HOLDFAST_PARENT_GONE_GRACE_MS ?? 10_000);

if (process.channel) {
  process.once('disconnect', () => {
    process.kill(process.pid, 'SIGTERM');
    setTimeout(() => process.exit(1), GRACE_MS).unref();
  });
  process.channel.unref();
}
