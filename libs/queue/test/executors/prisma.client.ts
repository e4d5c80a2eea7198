import { PrismaPg } from '@prisma/adapter-pg';
import * as runtime from '@prisma/client/runtime/client';

const COMPILER_FILE = '@prisma/client/runtime/query_compiler_fast_bg.postgresql';
const COMPILER = require(`${COMPILER_FILE}.wasm-base64.js`) as { readonly wasm: string };

/** Node has it; the library of types that has it is that of browsers. */
declare const WebAssembly: { readonly Module: new (bytes: Uint8Array) => object };

/** PrismaRawTransaction is what a client without models has inside `$transaction`. */
export interface PrismaRawTransaction {
  $executeRawUnsafe(query: string, ...values: unknown[]): Promise<number>;
  $queryRawUnsafe<T = unknown>(query: string, ...values: unknown[]): Promise<T>;
  $transaction<T>(work: (tx: PrismaRawTransaction) => Promise<T>): Promise<T>;
}

export interface PrismaRawClient extends PrismaRawTransaction {
  $connect(): Promise<void>;
  $disconnect(): Promise<void>;
}

/** What no model needs: a graph without a record. */
const EMPTY_GRAPH = Buffer.alloc(32).toString('base64');

/**
 * prismaClient answers a client of Prisma for a schema without models: what `prisma generate` writes into a project, without its command, which loads
 * engines from elsewhere. The queries of the real client go through the real driver adapter.
 */
export function prismaClient(url: string): PrismaRawClient {
  const Client = runtime.getPrismaClient({
    activeProvider: 'postgresql',
    clientVersion: '7.10.0',
    compilerWasm: {
      getQueryCompilerWasmModule: () => Promise.resolve(new WebAssembly.Module(Buffer.from(COMPILER.wasm, 'base64'))),
      getRuntime: () => Promise.resolve(require(`${COMPILER_FILE}.js`) as object),
      importName: './query_compiler_fast_bg.js',
    },
    engineVersion: 'none',
    inlineSchema: 'datasource db {\n  provider = "postgresql"\n}\n',
    parameterizationSchema: { graph: EMPTY_GRAPH, strings: [] },
    previewFeatures: [],
    runtimeDataModel: { enums: {}, models: {}, types: {} },
  } as never) as unknown as new (options: object) => PrismaRawClient;
  return new Client({ adapter: new PrismaPg({ connectionString: url, max: 2 }) });
}
