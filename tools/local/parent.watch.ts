const LOOK_EVERY_MS = 1_000;

/**
 * watchParent calls `gone` when the process that started this one has ended: `npm`, for one, does not pass every signal on. Whoever wants a
 * process to outlive the shell that started it starts it from one that stays, as `nohup npm start &` does.
 */
export function watchParent(gone: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    gone();
  }, LOOK_EVERY_MS);
  timer.unref();
}
