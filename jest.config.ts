/**
 * @jest-config-loader esbuild-register
 */
import type { Config } from 'jest';
import swcOptions from './tools/swc.options.json';

/** NestJS 12 is published as ES modules, which jest can only load after compiling them to CommonJS. */
const compiled = ['/node_modules/(?!(@nestjs)/)'];

const shared = {
  moduleFileExtensions: ['ts', 'js', 'cjs', 'mjs', 'json', 'node'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  modulePathIgnorePatterns: ['<rootDir>/.*/dist/'],
  rootDir: __dirname,
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['@holdfast/source', 'node', 'node-addons'] },
  transform: {
    '\\.(ts|js|mjs)$': ['@swc/jest', swcOptions] as [string, Record<string, unknown>],
  },
  transformIgnorePatterns: compiled,
};

/** Only a run that contains a test with a database starts one: the global setup belongs to that project. */
const config: Config = {
  maxWorkers: 2,
  projects: [
    { ...shared, displayName: 'unit', testMatch: ['**/*.spec.ts'] },
    {
      ...shared,
      displayName: 'database',
      globalSetup: '<rootDir>/libs/testing/jest/global-setup.cjs',
      globalTeardown: '<rootDir>/libs/testing/jest/global-teardown.cjs',
      testMatch: ['**/*.int-spec.ts', '**/*.proc-spec.ts', '**/*.e2e-spec.ts'],
    },
  ],
  testTimeout: 60_000,
};

export default config;
