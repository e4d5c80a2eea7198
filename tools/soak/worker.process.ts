import { spawnTs, TcpProxy, type ProcessExit, type SpawnedProcess } from '@holdfast/testing';

const READY_MS = 120_000;

/** MemorySample is how much memory a worker had, and for how long it had been running. */
export interface MemorySample {
  readonly rss: number;
  readonly uptime: number;
}

/** WorkerProcess is one of the workers: a process behind a proxy of its own, started again after it was ended. */
export class WorkerProcess {
  readonly memory: MemorySample[] = [];
  /** unexpected are the ends that nobody asked for, or that were not as they should. */
  readonly unexpected: string[] = [];
  private child: SpawnedProcess | undefined;
  private ending = false;
  private opened: TcpProxy | undefined;

  constructor(
    readonly name: string,
    private readonly databaseUrl: string,
  ) {}

  get proxy(): TcpProxy {
    if (!this.opened) throw new Error(`${this.name} was not started.`);
    return this.opened;
  }

  async close(): Promise<void> {
    await this.opened?.close();
  }

  /** exhaust has the worker take every connection of its handlers' pool for so long. */
  async exhaust(ms: number): Promise<void> {
    this.child?.send({ exhaustMs: ms });
    await this.child?.event('relieved', ms + READY_MS);
  }

  /** kill ends it by SIGKILL. */
  async kill(): Promise<void> {
    this.ending = true;
    await this.child?.kill();
  }

  signal(signal: NodeJS.Signals): void {
    this.child?.signal(signal);
  }

  async start(): Promise<void> {
    this.opened ??= await TcpProxy.open(this.databaseUrl);
    this.ending = false;
    const child = spawnTs('tools/soak/soak.worker.ts', {
      env: { DATABASE_URL: this.opened.url, RECEIVER_URL: this.databaseUrl },
    });
    this.child = child;
    this.watch(child);
    await child.event('ready', READY_MS);
  }

  /** stop ends it by SIGTERM; an end with another code than 0 is unexpected. */
  async stop(): Promise<void> {
    this.ending = true;
    const { child } = this;
    if (!child) return;
    const end = await child.stop(60_000).catch((error: unknown): ProcessExit | undefined => {
      this.unexpected.push(`${this.name} did not end after SIGTERM: ${String(error)}`);
      return undefined;
    });
    if (end && end.code !== 0) this.unexpected.push(this.wordsOf(child, end));
  }

  /** takeMemory keeps what the worker has told about its memory since the last call. */
  takeMemory(): void {
    const { events } = this.child ?? { events: [] };
    for (let at = events.length - 1; at >= 0; at -= 1) {
      if (events[at]!.event === 'memory') this.memory.push(events.splice(at, 1)[0] as unknown as MemorySample);
    }
  }

  private watch(child: SpawnedProcess): void {
    child.exit(2 ** 31 - 1).then(
      (end) => {
        if (!this.ending && this.child === child) this.unexpected.push(this.wordsOf(child, end));
      },
      () => undefined,
    );
  }

  private wordsOf(child: SpawnedProcess, end: ProcessExit): string {
    return `${this.name} ended with ${end.code ?? end.signal}: ${child.lines.slice(-15).join('\n')}`;
  }
}
