import { ESLint } from 'eslint';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import tseslint from 'typescript-eslint';

/**
 * Lints snippets as if they stood in given files: reads `[{ code, file }]` on standard input, answers the rules that each broke.
 * A file that does not exist has no types, so the rules that need types are off for it.
 */
const cwd = path.resolve(import.meta.dirname, '../..');
const typed = new ESLint({ cwd });
const untyped = new ESLint({
  cwd,
  overrideConfig: [
    { ...tseslint.configs.disableTypeChecked, languageOptions: { parserOptions: { projectService: false } } },
  ],
});

const answers = [];
for (const { code, file, needsTypes } of JSON.parse(await text(process.stdin))) {
  const [result] = await (needsTypes ? typed : untyped).lintText(code, { filePath: path.join(cwd, file) });
  answers.push(result.messages.map(({ message, ruleId }) => `${ruleId}: ${message}`));
}
console.log(JSON.stringify(answers));
