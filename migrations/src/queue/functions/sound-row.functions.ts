import type { SchemaName } from '@holdfast/kernel';

/** Rule is one condition that a row must meet, under the name that the error of a broken one carries. */
type Rule = readonly [name: string, condition: string];

const COLUMN_TYPES = {
  attempt: 'integer',
  claimed_at: 'timestamptz',
  dedupe_key: 'text',
  due_at: 'timestamptz',
  error_code: 'text',
  finished_at: 'timestamptz',
  kind: 'text',
  lease_owner: 'text',
  lease_token: 'uuid',
  lease_until: 'timestamptz',
  losses: 'smallint',
  max_attempts: 'integer',
  outcome: 'text',
  payload_version: 'smallint',
  priority: 'smallint',
  state: 'smallint',
  tenant_id: 'text',
  waits_for: 'bigint',
  waits_token: 'uuid',
} as const;

type Column = keyof typeof COLUMN_TYPES;

const REQUEST_RULES: readonly Rule[] = [
  ['kind_length', 'length(kind) BETWEEN 1 AND 100'],
  ['tenant_id_length', 'tenant_id IS NULL OR octet_length(tenant_id) BETWEEN 1 AND 200'],
  ['dedupe_key_length', 'dedupe_key IS NULL OR octet_length(dedupe_key) BETWEEN 1 AND 512'],
  ['priority_range', 'priority BETWEEN 0 AND 9'],
  ['due_at_finite', 'isfinite(due_at)'],
  ['max_attempts_range', 'max_attempts IS NULL OR max_attempts BETWEEN 1 AND 100'],
  ['payload_version_range', 'payload_version >= 1'],
];

const JOB_RULES: readonly Rule[] = [
  ...REQUEST_RULES,
  ['state_range', 'state BETWEEN 0 AND 5'],
  ['attempt_range', 'attempt >= 0 AND (max_attempts IS NULL OR attempt <= max_attempts)'],
  [
    'attempt_of_state',
    'CASE state WHEN 0 THEN max_attempts IS NULL OR attempt < max_attempts WHEN 1 THEN attempt >= 1 ELSE true END',
  ],
  [
    'lease_while_running',
    `CASE WHEN state = 1 THEN num_nulls(lease_token, lease_owner, lease_until, claimed_at) = 0
      ELSE num_nonnulls(lease_token, lease_owner, lease_until) = 0 END`,
  ],
  ['finished_when_final', '(state >= 2) = (finished_at IS NOT NULL)'],
  ['losses_range', 'losses >= 0'],
  ['lease_owner_length', 'lease_owner IS NULL OR length(lease_owner) BETWEEN 1 AND 255'],
  ['outcome_length', 'outcome IS NULL OR length(outcome) BETWEEN 1 AND 100'],
  ['error_code_length', 'error_code IS NULL OR length(error_code) BETWEEN 1 AND 100'],
];

/**
 * soundRow makes `sound_job` and `sound_job_request`: what the tables' single CHECK asks.
 *
 * Each statement that writes a row reads and prepares its table's CHECKs afresh: fifteen of them made a single INSERT or UPDATE cost six times as
 * much as the row itself (190 against 30 µs); one that calls a function, whose plan the session keeps, adds 20 µs. A broken rule is raised as a check
 * violation under its own name. No rule looks at `payload`, `failures` or `refusal`: a large payload would be fetched from its out-of-line storage
 * each time the job changes its state.
 */
export function soundRow(schema: SchemaName): string[] {
  return [
    ...soundFunction(schema, 'job', JOB_RULES),
    ...soundFunction(schema, 'job_request', [
      ...REQUEST_RULES,
      ['waits', 'num_nulls(waits_for, waits_token) IN (0, 2)'],
    ]),
  ];
}

/** soundCheck is the table's CHECK. */
export function soundCheck(schema: SchemaName, table: 'job' | 'job_request'): string {
  return `CONSTRAINT ${table}_is_sound CHECK (${schema.of(`sound_${table}`)}(${columnsOf(table).join(', ')}))`;
}

export function dropSoundRow(schema: SchemaName): string[] {
  return (['job_request', 'job'] as const).map(
    (table) => `DROP FUNCTION ${schema.of(`sound_${table}`)}(${typesOf(table)})`,
  );
}

function columnsOf(table: 'job' | 'job_request'): Column[] {
  const request: Column[] = [
    'kind',
    'tenant_id',
    'dedupe_key',
    'priority',
    'due_at',
    'max_attempts',
    'payload_version',
  ];
  if (table === 'job_request') return [...request, 'waits_for', 'waits_token'];
  const lease: Column[] = ['lease_token', 'lease_owner', 'lease_until', 'claimed_at'];
  return [...request, 'state', 'attempt', 'losses', ...lease, 'finished_at', 'outcome', 'error_code'];
}

function soundFunction(schema: SchemaName, table: 'job' | 'job_request', rules: readonly Rule[]): string[] {
  const name = schema.of(`sound_${table}`);
  const parameters = columnsOf(table).map((column) => `${column} ${COLUMN_TYPES[column]}`);
  const broken = rules.map(([rule, condition]) => `WHEN (${condition}) IS FALSE THEN '${table}_${rule}'`);
  return [
    `CREATE FUNCTION ${name}(${parameters.join(', ')})
RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $function$
DECLARE
  v_rule text;
BEGIN
  IF ${rules.map(([, condition]) => `(${condition})`).join('\n    AND ')} THEN
    RETURN true;
  END IF;
  v_rule := CASE ${broken.join('\n    ')} END;
  IF v_rule IS NULL THEN
    RETURN true;
  END IF;
  RAISE EXCEPTION USING ERRCODE = 'check_violation', CONSTRAINT = v_rule, TABLE = '${table}',
    MESSAGE = format('new row for relation "${table}" violates "%s"', v_rule);
END
$function$`,
    `COMMENT ON FUNCTION ${name}(${typesOf(table)}) IS 'Holdfast: whether a row of ${table} is sound; raises the name of the rule that it breaks.'`,
  ];
}

function typesOf(table: 'job' | 'job_request'): string {
  return columnsOf(table)
    .map((column) => COLUMN_TYPES[column])
    .join(', ');
}
