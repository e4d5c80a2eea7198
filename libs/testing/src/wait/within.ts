/** within answers what `promise` resolves to, or throws when it takes longer than `deadlineMs`. The timer does not outlive it. */
export async function within<T>(promise: Promise<T>, deadlineMs: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${deadlineMs} ms in vain for ${what}.`)), deadlineMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
