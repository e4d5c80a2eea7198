import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** SoakServer is the PostgreSQL of one soak; its keeper ends it with the soak, also when that is killed. */
export class SoakServer {
  private constructor(
    private readonly keeper: ChildProcess,
    readonly url: string,
  ) {}

  static async start(): Promise<SoakServer> {
    const keeper = fork(join(__dirname, 'server.keeper.ts'), { detached: true });
    const [answer] = (await Promise.race([once(keeper, 'message'), once(keeper, 'exit')])) as [unknown];
    const { url } = (answer ?? {}) as { url?: string };
    if (url === undefined) throw new Error('The server of the soak did not start: see its output above.');
    return new SoakServer(keeper, url);
  }

  async restart(how: 'fast' | 'immediate'): Promise<void> {
    const answered = once(this.keeper, 'message');
    this.keeper.send({ restart: how });
    const [answer] = (await answered) as [{ failed?: string }];
    if (answer.failed) throw new Error(`The server did not come back: ${answer.failed}`);
  }

  async stop(): Promise<void> {
    const ended = once(this.keeper, 'exit');
    if (this.keeper.connected) this.keeper.disconnect();
    if (this.keeper.exitCode === null) await ended;
  }
}
