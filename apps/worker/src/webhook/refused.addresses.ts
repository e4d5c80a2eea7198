import { BlockList, isIPv6 } from 'node:net';

/** What is no public unicast address (the IANA special-purpose registries), and what a cloud answers its own machines on. */
const IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

const IPV6: readonly (readonly [string, number])[] = [
  ['::', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
];

const NAT64 = '64:ff9b::';
const NAT64_BITS = 96;

/** A list matches IPv4-mapped IPv6 addresses (`::ffff:127.0.0.1`) by its IPv4 rules. */
const refused = new BlockList();
for (const [net, bits] of IPV4) {
  refused.addSubnet(net, bits, 'ipv4');
  refused.addSubnet(`${NAT64}${net}`, NAT64_BITS + bits, 'ipv6');
}
for (const [net, bits] of IPV6) refused.addSubnet(net, bits, 'ipv6');

/** isRefusedAddress tells whether an IP address is anything but a public one, also when it is written inside an IPv6 address. */
export function isRefusedAddress(address: string): boolean {
  // A zone (`fe80::1%eth0`) hides the address from the list.
  const plain = address.split('%', 1)[0] ?? address;
  return refused.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
}
