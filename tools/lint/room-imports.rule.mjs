import { builtinModules } from 'node:module';
import path from 'node:path';
import { rooms } from './rooms.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');
const BUILTIN = new Set(builtinModules);

/** Reports an import that the table of rooms does not allow, type imports included: a type ties two rooms together as much as a value. */
export const roomImports = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      outside: '"{{specifier}}" leaves the lib by a path: import the package instead.',
      package: 'Room "{{from}}" of {{lib}} may not import "{{specifier}}" (tools/lint/rooms.mjs).',
      room: 'Room "{{from}}" of {{lib}} may not import from "{{to}}" (tools/lint/rooms.mjs).',
      unknown: 'Room "{{from}}" of {{lib}} is not in tools/lint/rooms.mjs: give it a row.',
    },
  },
  create(context) {
    const file = path.relative(ROOT, context.filename);
    const lib = Object.keys(rooms).find((folder) => file.startsWith(`${folder}/`));
    if (!lib) return {};
    const from = roomOf(path.relative(lib, file));
    const row = rooms[lib][from] ?? rooms[lib]['*'];
    const check = (node) => {
      if (typeof node?.value !== 'string') return;
      const report = (messageId, data) =>
        context.report({ node, messageId, data: { from, lib, specifier: node.value, ...data } });
      if (node.value.startsWith('.')) {
        const target = path.relative(lib, path.join(path.dirname(file), node.value)).replace(/\.[cm]?[jt]s$/, '');
        if (target.startsWith('..')) return report('outside');
        const to = roomOf(target);
        if ((to !== from || !target.includes('/')) && !allowsRoom(row.rooms, to, target))
          report('room', { to: target });
      } else if (!isBuiltin(node.value) && !allowsPackage(row.packages ?? [], node.value)) report('package');
    };
    return {
      Program: (node) => row || context.report({ node, messageId: 'unknown', data: { from, lib } }),
      ...(row && {
        CallExpression: (node) => node.callee.name === 'require' && check(node.arguments[0]),
        ExportAllDeclaration: (node) => check(node.source),
        ExportNamedDeclaration: (node) => check(node.source),
        ImportDeclaration: (node) => check(node.source),
        ImportExpression: (node) => check(node.source),
        TSExternalModuleReference: (node) => check(node.expression),
        TSImportType: (node) => check(node.source ?? node.argument?.literal),
      }),
    };
  },
};

function roomOf(target) {
  const [first] = target.split('/');
  return target.includes('/') ? first : first.replace(/\.ts$/, '');
}

function allowsRoom(allowed, room, target) {
  const taken = allowed.filter((entry) => entry.startsWith('!')).map((entry) => entry.slice(1));
  if (taken.some((entry) => (/^[./]/.test(entry) ? target.includes(entry) : room === entry))) return false;
  return allowed.includes('*') || allowed.includes(room);
}

function allowsPackage(allowed, specifier) {
  return allowed.some((entry) =>
    entry.endsWith('/*') ? specifier.startsWith(entry.slice(0, -1)) : specifier === entry,
  );
}

function isBuiltin(specifier) {
  return specifier.startsWith('node:') || BUILTIN.has(specifier);
}
