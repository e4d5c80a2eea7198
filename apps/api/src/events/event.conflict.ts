/** EventConflict ends the transaction of an event whose id has already been accepted: its jobs vanish with it. */
export class EventConflict extends Error {
  constructor(readonly eventId: string) {
    super(`The event ${eventId} has been accepted before.`);
    this.name = 'EventConflict';
  }
}
