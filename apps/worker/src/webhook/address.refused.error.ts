/** AddressRefusedError says that a webhook's host is, or resolves to, an address inside our own network. */
export class AddressRefusedError extends Error {
  constructor(readonly host: string) {
    super(
      `${host} is a loopback, private, link-local or otherwise special address: webhooks are not sent there. ` +
        'Use a public address; ALLOW_PRIVATE_ADDRESSES=true lifts this for development.',
    );
    this.name = 'AddressRefusedError';
  }
}
