import { isRefusedAddress } from './refused.addresses.js';

describe('D7: the addresses that webhooks are not sent to', () => {
  it.each([
    ['this host', '0.0.0.0'],
    ['loopback', '127.8.9.10'],
    ['private', '10.0.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['carrier-grade NAT', '100.64.0.1'],
    ['link-local, a cloud metadata address', '169.254.169.254'],
    ['the address a cloud answers its machines on', '168.63.129.16'],
    ['multicast', '224.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['unique local, a cloud metadata address', 'fd00:ec2::254'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['IPv4 loopback, mapped', '::ffff:127.0.0.1'],
    ['IPv4 loopback, mapped, in hex', '::ffff:7f00:1'],
    ['IPv4 private, compatible', '::10.0.0.1'],
    ['IPv4 private, translated', '::ffff:0:10.0.0.1'],
    ['IPv4 private through NAT64', '64:ff9b::10.0.0.1'],
    ['6to4', '2002:7f00:1::'],
    ['Teredo', '2001:0:1::1'],
    ['multicast', 'ff02::1'],
  ])('%s: %s', (_, address) => {
    expect(isRefusedAddress(address)).toBe(true);
  });

  it.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8'])(
    'lets %s pass',
    (address) => {
      expect(isRefusedAddress(address)).toBe(false);
    },
  );
});
