/** KitError is what the testing kit throws when a test cannot be run as it is written: its message says what to change. */
export class KitError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}
