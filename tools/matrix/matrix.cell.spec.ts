import { type MatrixCell, pick, titleOf } from './matrix.cell.js';

describe('the cells of the matrix', () => {
  const cell = (axes: MatrixCell['axes']): MatrixCell => ({ alone: false, axes, run: async () => 'passed' });
  const cells = [
    cell({ check: 'packages', application: 'plain' }),
    cell({ check: 'suite', node: '20' }),
    cell({ check: 'suite', node: '24' }),
    cell({ check: 'suite', node: '24', tests: 'short' }),
  ];
  const picked = (...args: string[]) => pick(cells, args, '20').map(titleOf);

  it('are all picked without a word', () => {
    expect(picked()).toEqual(['check=packages application=plain', 'check=suite node=20', 'check=suite node=24']);
  });

  it('are picked by every word that is given', () => {
    expect(picked('check=suite')).toEqual(['check=suite node=20', 'check=suite node=24']);
    expect(picked('check=suite', 'node=24')).toEqual(['check=suite node=24']);
    expect(picked('check=packages', 'node=24')).toEqual([]);
    expect(picked('chekc=suite')).toEqual([]);
    expect(picked('suite')).toEqual([]);
  });

  it('with the short form of the tests are picked by that word alone', () => {
    expect(picked('tests=short')).toEqual(['check=suite node=24 tests=short']);
    expect(picked('tests=short', 'node=20')).toEqual([]);
  });

  it('that are short are picked together with other words', () => {
    const servers = ['14', '18'].map((server) => cell({ check: 'servers', server, tests: 'short' }));
    expect(pick([...cells, ...servers], ['server=14', 'tests=short'], '20')).toEqual([servers[0]]);
  });

  it('of the other Node are those that name another than this', () => {
    expect(picked('node=other')).toEqual(['check=suite node=24']);
    expect(pick(cells, ['node=other'], '22').map(titleOf)).toEqual(['check=suite node=20', 'check=suite node=24']);
  });
});
