import type { Socket } from 'node:net';
import type { Client } from 'pg';

/** The first byte of a message that makes the server run a statement: Execute, or a simple Query. */
const RUNS = new Set(['E', 'Q'].map((type) => type.charCodeAt(0)));

/** WireCounter counts the statements that a connected `pg` client sends, by the messages on its socket. */
export class WireCounter {
  statements = 0;

  constructor(client: Client) {
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
    const write = stream.write.bind(stream) as (...given: unknown[]) => boolean;
    stream.write = (...given: unknown[]) => {
      this.look(given[0] as Buffer);
      return write(...given);
    };
  }

  /** `pg` writes whole messages: a type, and a length that counts itself. */
  private look(messages: Buffer): void {
    for (let at = 0; at < messages.length; at += 1 + messages.readUInt32BE(at + 1))
      if (RUNS.has(messages[at]!)) this.statements += 1;
  }
}
