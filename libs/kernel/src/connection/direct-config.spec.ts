import { Client, type ClientConfig } from 'pg';
import { directConfigOf } from './direct-config.js';

describe('directConfigOf', () => {
  const password = () => Promise.resolve('asked for');
  const ssl = { ca: 'the authority', rejectUnauthorized: true };
  const application: ClientConfig = { database: 'app', host: 'pooler', password, port: 6432, ssl, user: 'me' };
  const connected = (config: ClientConfig) => {
    const { database, host, password: secret, port, ssl: tls, user } = new Client(config) as ClientConfig;
    return { database, host, password: secret, port, ssl: tls, user };
  };
  const address = { database: 'db', host: 'direct', port: 5433 };

  it('R19: keeps TLS and the password function of the application where the URL names neither', () => {
    for (const url of ['postgres://direct:5433/db', 'postgres://me@direct:5433/db']) {
      expect(connected(directConfigOf(application, url))).toEqual({ ...address, password, ssl, user: 'me' });
    }
  });

  it("R19: reads them from the application's own URL as well", () => {
    const config = { connectionString: 'postgres://me:secret@pooler/app', ssl };
    expect(connected(directConfigOf(config, 'postgres://direct:5433/db'))).toEqual({
      ...address,
      password: 'secret',
      ssl,
      user: 'me',
    });
  });

  it('R19: the URL wins where it names them', () => {
    const config = directConfigOf(application, 'postgres://you:own%20one@direct:5433/db?sslmode=disable');
    expect(connected(config)).toEqual({ ...address, password: 'own one', ssl: false, user: 'you' });
    const verified = directConfigOf({ ...application, ssl: false }, 'postgres://direct:5433/db?sslmode=verify-full');
    expect(connected(verified)).toMatchObject({ password, ssl: {} });
  });

  it("R19: another user does not get the application's password", () => {
    const { password: passed, user } = directConfigOf(application, 'postgres://you@direct:5433/db');
    expect([passed, user]).toEqual([undefined, 'you']);
  });

  it('R19: other parameters of the URL stay', () => {
    expect(directConfigOf(application, 'postgres://direct/db?options=-c%20geqo%3Doff')).toMatchObject({
      options: '-c geqo=off',
    });
  });
});
