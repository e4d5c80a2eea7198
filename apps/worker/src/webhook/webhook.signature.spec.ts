import { signatureOf } from './webhook.signature.js';

describe('signatureOf', () => {
  const delivery = { body: '{"id":"e1"}', deliveryId: '42', timestamp: 1_764_500_000 };
  const secret = 'a-secret-of-the-test';

  it('D7: is the HMAC-SHA256 over timestamp, delivery id and body', () => {
    // printf '1764500000.42.{"id":"e1"}' | openssl dgst -sha256 -hmac a-secret-of-the-test
    expect(signatureOf(delivery, [secret])).toBe('v1=151510a707f6b890a5024e77174b069091614dd73bd89be79717b53b23429e69');
  });

  it('D7: covers each of them', () => {
    const others = [{ body: '{}' }, { deliveryId: '43' }, { timestamp: 1_764_500_001 }].map((change) => ({
      ...delivery,
      ...change,
    }));
    const signatures = [delivery, ...others].map((each) => signatureOf(each, [secret]));
    expect(new Set(signatures).size).toBe(4);
  });

  it('D7: is there once for each secret, in their order', () => {
    const [now, before] = [signatureOf(delivery, ['the-new-secret']), signatureOf(delivery, [secret])];
    expect(now).not.toBe(before);
    expect(signatureOf(delivery, ['the-new-secret', secret])).toBe(`${now},${before}`);
  });
});
