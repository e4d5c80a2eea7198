import { MigrationsPendingError } from './migrations-pending.error.js';

describe('MigrationsPendingError', () => {
  it('C2: names what is missing and a remedy that exists: the migrator or the option', () => {
    const { message } = new MigrationsPendingError('holdfast', ['0002-more', '0003-most']);
    expect(message).toContain('The schema "holdfast" lacks 0002-more, 0003-most.');
    expect(message).toContain("migrations: 'up'");
    expect(message).toContain('new Migrator(client, …).up()');
    expect(message).not.toMatch(/holdfast migrate/);
  });
});
