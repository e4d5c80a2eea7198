import { HoldfastError } from './holdfast.error.js';

/** DataSourceNotInitializedError says that a TypeORM DataSource has no connection pool yet. */
export class DataSourceNotInitializedError extends HoldfastError {
  constructor() {
    super(
      'kernel.data_source_not_initialized',
      'The DataSource has no connection pool yet: await dataSource.initialize() before it is used.',
    );
  }
}
