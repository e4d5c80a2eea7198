import { lookup, type LookupAddress, type LookupAllOptions, type LookupOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { AddressRefusedError } from './address.refused.error.js';
import { isRefusedAddress } from './refused.addresses.js';

/** ResolveAll is how names become addresses: `dns.lookup` with `all: true`. */
export type ResolveAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * guardedLookup answers only public addresses, to the very connection that is being opened: a name that answered a public address when
 * somebody looked and a private one now (DNS rebinding) gets nowhere. A name with none but refused addresses fails with AddressRefusedError.
 */
export function guardedLookup(resolveAll: ResolveAll = lookup): LookupFunction {
  return (hostname, options: LookupOptions, callback) => {
    resolveAll(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const allowed = addresses.filter(({ address }) => !isRefusedAddress(address));
      const first = allowed[0];
      if (!first) return callback(new AddressRefusedError(hostname), []);
      if (options.all) return callback(null, allowed);
      callback(null, first.address, first.family);
    });
  };
}
