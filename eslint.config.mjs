import { createProjectGraphAsync } from '@nx/devkit';
import nx from '@nx/eslint-plugin';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';
import { projectConstraints, specConstraints } from './tools/lint/projects.mjs';
import { roomImports } from './tools/lint/room-imports.rule.mjs';

// The rule on projects reads the graph from Nx's cache and passes everything when there is none.
await createProjectGraphAsync({ exitOnError: false, resetDaemonClient: true });

const specs = ['**/*.spec.ts', '**/*.int-spec.ts', '**/*.proc-spec.ts', '**/*.e2e-spec.ts', '**/test/**/*.ts'];
const shipped = ['libs/**/*.ts', 'apps/**/*.ts', 'migrations/**/*.ts'];

const noForwardRef = {
  selector: 'Identifier[name="forwardRef"]',
  message: 'A cycle of providers: turn one of the dependencies around.',
};
const nounWithOneJob = {
  selector: ':matches(ClassDeclaration, ClassExpression)[id.name=/(Service|Manager|Utils?|Common|Shared|Helper)$/]',
  message: 'A class is a noun with one job: name it after that.',
};
const onlyExplorers = {
  paths: [
    {
      name: '@nestjs/core',
      importNames: ['DiscoveryService', 'MetadataScanner', 'Reflector'],
      message: 'Only *.explorer.ts reads decorators.',
    },
  ],
};

export default tseslint.config(
  { ignores: ['**/dist/', '**/node_modules/', '.nx/', 'coverage/', '.holdfast/'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      parserOptions: { projectService: { allowDefaultProject: ['*.ts'] }, tsconfigRootDir: import.meta.dirname },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: { '@nx': nx, holdfast: { rules: { 'room-imports': roomImports } } },
    rules: {
      '@nx/enforce-module-boundaries': ['error', projectConstraints],
      '@typescript-eslint/ban-ts-comment': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-redundant-type-constituents': 'off',
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowBoolean: true, allowNever: true, allowNumber: true },
      ],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'max-lines': ['error', { max: 300 }],
      'no-restricted-imports': ['error', onlyExplorers],
      'no-restricted-syntax': ['error', noForwardRef],
    },
  },
  {
    files: shipped,
    ignores: specs,
    rules: {
      'holdfast/room-imports': 'error',
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'no-console': 'error',
      'no-restricted-syntax': ['error', noForwardRef, nounWithOneJob],
    },
  },
  // A function there writes one statement, or holds one suite: its length is that of the SQL, or of the list of cases.
  {
    files: ['migrations/**/*.ts', '**/*.sql.ts', '**/*.contract.ts', '**/*.contract.*.ts'],
    rules: { 'max-lines-per-function': 'off' },
  },
  { files: ['**/*.explorer.ts'], rules: { 'no-restricted-imports': 'off' } },
  { files: ['**/bin/**/*.ts', 'libs/testing/**/*.ts'], rules: { 'no-console': 'off' } },
  {
    files: specs,
    rules: {
      '@nx/enforce-module-boundaries': ['error', specConstraints],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-require-imports': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
      'max-lines': ['error', { max: 500 }],
    },
  },
  prettier,
);
