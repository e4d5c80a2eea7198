/**
 * Runs TypeScript directly: `node -C @holdfast/source -r ./tools/register.cjs file.ts`.
 * The condition resolves the workspace's packages to their sources; this hook compiles them
 * and lets a `.js` specifier find the `.ts` file beside it.
 */
const { existsSync, readFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { transformSync } = require('@swc/core');
const options = require('./swc.options.json');

process.setSourceMapsEnabled(true);

Module._extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), { ...options, filename });
  module._compile(code, filename);
};

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function (request, parent, ...rest) {
  if (request.startsWith('.') && request.endsWith('.js') && parent?.filename?.endsWith('.ts')) {
    const source = path.resolve(path.dirname(parent.filename), `${request.slice(0, -3)}.ts`);
    if (existsSync(source)) return source;
  }
  return resolveFilename.call(this, request, parent, ...rest);
};
