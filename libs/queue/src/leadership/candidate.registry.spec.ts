import { DuplicateCandidateError } from '../errors/duplicate-candidate.error.js';
import { CandidateRegistry } from './candidate.registry.js';

describe('the candidates of a process', () => {
  it('K107: two names with one key are refused: on one session both would hold it', () => {
    const registry = new CandidateRegistry();
    const first = { key: 7, name: 'a' };
    registry.enter(first);
    registry.enter(first);
    registry.enter({ key: 8, name: 'b' });
    expect(() => registry.enter({ key: 7, name: 'c' })).toThrow(DuplicateCandidateError);
    expect(() => registry.enter({ key: 7, name: 'c' })).toThrow(/"c" and "a" have the same lock key/);
    registry.leave(first);
    registry.enter({ key: 7, name: 'c' });
    expect(registry.empty).toBe(false);
  });
});
