import { readFileSync } from 'node:fs';
import path from 'node:path';
import { enqueueGrantsFor, grantsFor, operatorGrantsFor, sqlEnqueueGrantsFor } from '../src/index.js';

const guide = readFileSync(path.join(__dirname, '../../docs/privileges.md'), 'utf8');

it('C2: docs/privileges.md prints the grants as they are', () => {
  const grants = [
    ...grantsFor('holdfast', 'orders_app'),
    ...enqueueGrantsFor('holdfast', 'orders_producer'),
    ...operatorGrantsFor('holdfast', 'orders_office'),
    ...sqlEnqueueGrantsFor('holdfast', 'orders_python'),
  ];
  expect(guide.match(/^GRANT .*$/gm)).toEqual(grants.map((statement) => `${statement};`));
});
