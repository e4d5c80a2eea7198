import { z } from 'zod';

const name = z
  .string('expected a string')
  .min(1, 'expected 1 to 200 characters')
  .max(200, 'expected 1 to 200 characters')
  .refine((text) => !/[\0\p{Surrogate}]/u.test(text), 'expected text that can be stored');
const retentionDays = z
  .number('expected a number of days')
  .int('expected whole days')
  .min(1, 'expected 1 to 3650')
  .max(3_650, 'expected 1 to 3650');

/** TENANT_ID is what a tenant's id may be. */
export const TENANT_ID = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/** tenantBody is the body of `POST /tenants`. */
export const tenantBody = z.strictObject({
  id: z
    .string('expected a string')
    .regex(TENANT_ID, 'expected 1 to 63 lower-case letters, digits, dashes or underscores'),
  name,
  retentionDays: retentionDays.default(30),
});

/** tenantChange is the body of `PATCH /tenants/:id`. */
export const tenantChange = z
  .strictObject({ name: name.optional(), retentionDays: retentionDays.optional() })
  .refine((change) => Object.keys(change).length > 0, 'expected name or retentionDays');

/** TenantBody is a valid body of `POST /tenants`. */
export type TenantBody = z.infer<typeof tenantBody>;

/** TenantChange is a valid body of `PATCH /tenants/:id`. */
export type TenantChange = z.infer<typeof tenantChange>;
