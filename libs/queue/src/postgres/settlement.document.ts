import { storableText } from '../domain/text.js';
import type { FailureRecord } from '../domain/failure.js';
import type { Settlement } from '../domain/settlement.js';
import { MAX_DELAY_MS, type SettlementDocument } from './sql/settle-jobs.sql.js';

const MAX_TEXT_LENGTH = 2_000;
const MAX_CODE_LENGTH = 100;

/** settlementDocument writes a settlement as settle-jobs reads it. Nothing in it can be refused by the database: the end of an attempt is always recordable (K3). */
export function settlementDocument(token: string, settlement: Settlement): SettlementDocument {
  const { verb } = settlement;
  switch (verb) {
    case 'complete':
      return { token, verb, outcome: settlement.outcome };
    case 'repeat':
      return { token, verb, delay: boundedDelay(settlement.delayMs), outcome: settlement.outcome };
    case 'retry': {
      const { delayMs, failure, outage = false } = settlement;
      return { token, verb, delay: boundedDelay(delayMs), outage, ...failureFields(failure) };
    }
    case 'defer':
    case 'lose':
      return { token, verb, delay: boundedDelay(settlement.delayMs), ...failureFields(settlement.failure) };
    case 'bury':
      return { token, verb, ...failureFields(settlement.failure) };
    case 'refuse':
      return { token, verb, code: settlement.code, params: settlement.params };
    case 'cancel':
    case 'giveBack':
      return { token, verb };
  }
}

/** boundedDelay answers a delay between none and ten years, whatever it was (K57). */
export function boundedDelay(ms: number): number {
  return Number.isNaN(ms) ? 0 : Math.round(Math.min(Math.max(ms, 0), MAX_DELAY_MS));
}

/** documentText is a document as JSON in which every text can be stored. */
export function documentText(document: unknown): string {
  return JSON.stringify(document, (_key, value: unknown) =>
    typeof value === 'string' ? storableText(value, MAX_TEXT_LENGTH) : value,
  );
}

function failureFields({
  attempt,
  code,
  errorClass,
  message,
}: FailureRecord): Pick<SettlementDocument, 'code' | 'failure'> {
  const bounded = storableText(code, MAX_CODE_LENGTH);
  return { code: bounded, failure: { attempt, code: bounded, class: errorClass, message } };
}
