import { once } from 'node:events';
import { createServer } from 'node:net';
import { LocalProblem } from './local.problem.js';

const TRIES = 50;

/**
 * choosePort answers the port for a part: the one that the variable names, which must be free, or the first free one from the default on.
 * A port that another part of this start was given counts as taken.
 */
export async function choosePort(variable: string, standard: number, given: ReadonlySet<number>): Promise<number> {
  const asked = process.env[variable];
  if (asked) {
    const port = Number(asked);
    if (!Number.isInteger(port) || port < 1 || port > 65_535)
      throw new LocalProblem(`${variable}: expected a port from 1 to 65535, not "${asked}".`);
    if (given.has(port) || !(await isFree(port)))
      throw new LocalProblem(
        `${variable}: port ${port} is taken. Stop what listens there, or set ${variable} to another.`,
      );
    return port;
  }
  for (let port = standard; port < standard + TRIES; port++) {
    if (given.has(port) || !(await isFree(port))) continue;
    if (port !== standard) console.log(`[start] ${variable}: port ${standard} is taken, using ${port}.`);
    return port;
  }
  throw new LocalProblem(`No free port between ${standard} and ${standard + TRIES - 1}. Set ${variable} to one.`);
}

/** isFree says whether nobody listens on a port of the loopback interface. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
