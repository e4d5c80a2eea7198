/** TENANT_SETTING carries a transaction's tenant: the policies of every table of the hub compare with it (T1). */
export const TENANT_SETTING = 'app.tenant_id';

/** API_KEY_SETTING carries the hash of the API key that a request came with, while nobody knows yet whose it is: it shows that one row alone. */
export const API_KEY_SETTING = 'app.api_key_hash';
