import { createHmac } from 'node:crypto';
import { expectedDeliveries, SAMPLES, SHARED_ID, takes, tenantPlans } from '../demo/demo.plan.js';
import { between, demoTable, exactly, holds, sameCounts } from '../demo/demo.report.js';
import { ReceiverEndpoint } from '../demo/receiver.endpoint.js';

describe('what the demo is judged by', () => {
  const plans = tenantPlans();

  it('deals every sample out once, and one id to all tenants', () => {
    expect(plans.map(({ events }) => events.length)).toEqual([110, 110, 109]);
    expect(plans.flatMap(({ events }) => events)).toHaveLength(SAMPLES);
    for (const { events } of plans) {
      expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
      expect(events[0]?.id).toBe(SHARED_ID);
    }
    expect(new Set(plans.map(({ events }) => JSON.stringify(events[0]?.payload))).size).toBe(plans.length);
  });

  it('expects something of every subscription, and overlaps within each tenant', () => {
    for (const plan of plans) {
      const expected = plan.subscriptions.map((subscription) => expectedDeliveries(plan, subscription));
      expect(Math.min(...expected)).toBeGreaterThan(0);
      expect(expected.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(plan.events.length);
    }
  });

  it('takes a type, what begins with it, or everything', () => {
    const subscription = (...types: string[]) => ({ manner: 'steady' as const, name: 'some', types });
    expect(takes(subscription('issues.*'), 'issues.opened')).toBe(true);
    expect(takes(subscription('issues.*'), 'issues')).toBe(false);
    expect(takes(subscription('issues.*'), 'issues_more.opened')).toBe(false);
    expect(takes(subscription('push', 'fork'), 'fork')).toBe(true);
    expect(takes(subscription('*'), 'push')).toBe(true);
  });

  it('tells what does not hold', () => {
    const statistics = new Map([['a/b push', 2]]);
    const wrong = [
      exactly(2, 1),
      exactly(0, 1),
      between(1, 3, 0),
      between(0, 3, 4),
      sameCounts(statistics, new Map([['a/b push', 3]])),
      sameCounts(statistics, new Map([...statistics, ['c/d push', 1]])),
    ];
    expect(wrong.filter((cell) => cell.holds)).toEqual([]);
    const checks = wrong.map((cell, n) => ({ cells: [exactly(1, 1), cell], what: `check ${n}` }));
    expect(checks.some(holds)).toBe(false);
    expect(demoTable(['one', 'two'], checks).match(/WRONG$/gm)).toHaveLength(checks.length);
  });
});

describe('ReceiverEndpoint', () => {
  const mine = { id: 'event-1', payload: { n: 1 }, type: 'push' };
  const secret = 'the-secret-of-this-one';

  function endpoint(failures = 0): ReceiverEndpoint {
    return Object.assign(new ReceiverEndpoint('/acme/everything', [mine], failures), { secret });
  }

  function headers(body: string, { by = secret, delivery = '7', ageS = 0 } = {}): Record<string, string> {
    const timestamp = String(Math.floor(Date.now() / 1_000) - ageS);
    const digest = createHmac('sha256', by).update(`${timestamp}.${delivery}.${body}`).digest('hex');
    return {
      'x-holdfast-delivery': delivery,
      'x-holdfast-signature': `v1=${digest}`,
      'x-holdfast-timestamp': timestamp,
    };
  }

  it('takes a delivery and knows it again', () => {
    const receiver = endpoint();
    const body = JSON.stringify(mine);
    expect([receiver.receive(headers(body), body), receiver.receive(headers(body), body)]).toEqual(['taken', 'taken']);
    expect(receiver).toMatchObject({ distinct: 1, duplicates: 1, events: 1, foreign: 0, refused: 0 });
  });

  it("refuses what another's secret has signed, what was changed, and what is old", () => {
    const receiver = endpoint();
    const body = JSON.stringify(mine);
    const verdicts = [
      receiver.receive(headers(body, { by: 'the-secret-of-another' }), body),
      receiver.receive(headers(body), `${body} `),
      receiver.receive(headers(body, { ageS: 301 }), body),
      receiver.receive({}, body),
    ];
    expect(new Set(verdicts)).toEqual(new Set(['refused']));
    expect(receiver).toMatchObject({ distinct: 0, refused: 4 });
  });

  it("counts an event that is none of its tenant's, also under an id that is", () => {
    const receiver = endpoint();
    for (const event of [
      { ...mine, id: 'event-2' },
      { ...mine, payload: { n: 2 } },
    ]) {
      const body = JSON.stringify(event);
      receiver.receive(headers(body, { delivery: event.id + String(event.payload.n) }), body);
    }
    expect(receiver.foreign).toBe(2);
  });

  it('fails as often as it shall, and counts nothing of it as arrived', () => {
    const receiver = endpoint(2);
    const body = JSON.stringify(mine);
    const verdicts = [1, 2, 3].map(() => receiver.receive(headers(body), body));
    expect(verdicts).toEqual(['failed', 'failed', 'taken']);
    expect(receiver).toMatchObject({ distinct: 1, duplicates: 0, failed: 2 });
  });
});
