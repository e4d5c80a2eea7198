/** TestRoleOptions say what a role of the tests may do. */
export interface TestRoleOptions {
  /** attributes are those of CREATE ROLE besides LOGIN and PASSWORD, such as `CONNECTION LIMIT 1`. Default none. */
  readonly attributes?: string;
  /** owner makes it the owner of the database and of all that has been created there. Default false. */
  readonly owner?: boolean;
}

/** TestRole is a database account that goes with its test database. It may connect and nothing else until it is granted more, unless it is the owner. */
export interface TestRole {
  readonly name: string;
  readonly password: string;
  /** url connects to the test database as this role. */
  readonly url: string;
}
