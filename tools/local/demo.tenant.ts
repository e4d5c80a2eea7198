import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { LocalProblem } from './local.problem.js';

const TENANT = { id: 'demo', name: 'The demo of npm start' };
const ANSWER_WITHIN_MS = 10_000;
const ONLY_MINE = 0o600;

/**
 * demoTenant makes the tenant `demo` where it is not there yet, and answers an API key of its: the one that `keyFile` has kept from an earlier start, where
 * it still opens something, else a new one.
 */
export async function demoTenant(api: string, operatorToken: string, keyFile: string): Promise<string> {
  const kept = existsSync(keyFile) ? readFileSync(keyFile, 'utf8').trim() : '';
  if (kept && (await send(`${api}/subscriptions?limit=1`, kept, 'GET')).ok) return kept;
  const made = await send(`${api}/tenants`, operatorToken, 'POST', TENANT);
  const answer = made.status === 409 ? await send(`${api}/tenants/${TENANT.id}/keys`, operatorToken, 'POST') : made;
  const { apiKey, detail } = (await answer.json()) as { apiKey?: string; detail?: string };
  if (apiKey === undefined) throw new LocalProblem(`The api made no key for the tenant ${TENANT.id}: ${detail ?? ''}`);
  keep(keyFile, apiKey);
  return apiKey;
}

/** A folder that cannot be written to is no reason not to start: the next start makes another key. */
function keep(keyFile: string, apiKey: string): void {
  try {
    mkdirSync(dirname(keyFile), { recursive: true });
    writeFileSync(keyFile, `${apiKey}\n`, { mode: ONLY_MINE });
  } catch (error) {
    console.log(`[start] The key of the tenant ${TENANT.id} could not be kept for the next start: ${String(error)}`);
  }
}

function send(url: string, token: string, method: string, body?: object): Promise<Response> {
  return fetch(url, {
    ...(body && { body: JSON.stringify(body) }),
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    method,
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
}
