import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SecondKernelError } from '../errors/second-kernel.error.js';
import { claimKernel } from './kernel-claim.js';
import { KERNEL_VERSION } from './kernel-version.js';

describe('the claim on being the only copy', () => {
  const top = { path: '/app/node_modules/@holdfast/kernel', version: '1.0.0' };
  const nested = { path: '/app/node_modules/library/node_modules/@holdfast/kernel', version: '1.0.0' };

  it('refuses another path, and says both, their versions and what to do', () => {
    const scope = {};
    claimKernel(top, scope);
    const refused = errorOf(() => claimKernel({ ...nested, version: '1.2.0' }, scope));
    expect(refused).toBeInstanceOf(SecondKernelError);
    expect(refused).toMatchObject({ code: 'kernel.second_copy', first: top, second: { path: nested.path } });
    for (const part of [`1.0.0 at ${top.path}`, `1.2.0 at ${nested.path}`, 'npm ls @holdfast/kernel', 'npm dedupe'])
      expect(String(refused)).toContain(part);
  });

  it('refuses another version at the same path: a bundle that holds two', () => {
    const scope = {};
    claimKernel(top, scope);
    expect(() => claimKernel({ ...top, version: '1.2.0' }, scope)).toThrow(SecondKernelError);
  });

  it('stays with the first copy, and lets that one be loaded again', () => {
    const scope = {};
    claimKernel(top, scope);
    expect(() => claimKernel(nested, scope)).toThrow(SecondKernelError);
    expect(() => claimKernel(top, scope)).not.toThrow();
    expect(() => claimKernel(nested, {})).not.toThrow();
  });

  it('overlooks what is no claim', () => {
    for (const foreign of [null, 'text', {}, { path: 1 }]) {
      const scope = {};
      Object.defineProperty(scope, Symbol.for('holdfast.kernel-copy'), { configurable: true, value: foreign });
      expect(() => claimKernel(top, scope)).not.toThrow();
      expect(() => claimKernel(nested, scope)).toThrow(SecondKernelError);
    }
  });

  it('names the version of package.json', () => {
    const manifest = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8')) as { version: string };
    expect(KERNEL_VERSION).toBe(manifest.version);
  });

  it('is made by both entry points that hold state, and survives a reset of the modules', () => {
    const claim = () => (globalThis as Record<symbol, unknown>)[Symbol.for('holdfast.kernel-copy')];
    for (const entry of ['../index.js', '../typeorm.js', '../index.js']) {
      jest.resetModules();
      require(entry);
      expect(claim()).toEqual({ path: join(__dirname, '../..'), version: KERNEL_VERSION });
    }
  });
});

function errorOf(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown.');
}
