/** LeakedConnectionsError tells what a test file left open on its database. */
export class LeakedConnectionsError extends Error {
  constructor(
    readonly database: string,
    readonly leaks: readonly string[],
  ) {
    super(
      `Connections were left on ${database}; give back every client and end every pool before drop():\n  ${leaks.join('\n  ')}`,
    );
    this.name = 'LeakedConnectionsError';
  }
}
