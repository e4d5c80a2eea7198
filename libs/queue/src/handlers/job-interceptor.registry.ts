import { isJobDefinition } from '../domain/definition.js';
import { InvalidInterceptorError } from '../errors/invalid-interceptor.error.js';
import type { Intercepting, InterceptOptions } from './job.interceptor.js';

/** InterceptorEntry is an interceptor, the calls it stands around, and the place it comes from. */
export interface InterceptorEntry extends InterceptOptions {
  /** interceptor is called for its definitions alone, which the type no longer says. */
  readonly interceptor: Intercepting<never>;
  /** source names the class and its module for messages. */
  readonly source: string;
}

const OPTIONS = ['only', 'order'];

/** JobInterceptorRegistry knows what stands around handler calls, and in which order (R20). It knows no Nest. */
export class JobInterceptorRegistry {
  private readonly entries: InterceptorEntry[] = [];
  private sealed = false;

  /** around answers the interceptors of a kind, the outermost first: by `order`, and where that is equal as they were registered. */
  around(kind: string): InterceptorEntry[] {
    return this.entries
      .filter(({ only }) => !only || only.some((definition) => definition.kind === kind))
      .sort((a, b) => (a.order ?? 0) - (b.order ?? 0));
  }

  /**
   * register adds an interceptor; the same instance twice is one. Throws InvalidInterceptorError for what is none, for options that say nothing, and for
   * what comes after the start.
   */
  register(entry: InterceptorEntry): void {
    const { interceptor, source } = entry;
    if (typeof (interceptor as Partial<Intercepting<never>> | null | undefined)?.intercept !== 'function')
      throw new InvalidInterceptorError(source, 'it is no object with a function intercept(call, next)');
    checkInterceptOptions(source, entry);
    if (this.entries.some((present) => present.interceptor === interceptor)) return;
    if (this.sealed) throw new InvalidInterceptorError(source, 'name it before start()');
    this.entries.push(entry);
  }

  /** seal takes no interceptor from here on: the runner has read them. */
  seal(): void {
    this.sealed = true;
  }
}

/** checkInterceptOptions throws InvalidInterceptorError for an `order` that is no number, or an `only` that is no list of definitions. */
export function checkInterceptOptions(source: string, { only, order }: InterceptOptions): void {
  if (order !== undefined && !Number.isFinite(order))
    throw new InvalidInterceptorError(source, 'its option order must be a finite number');
  if (only === undefined) return;
  if (!Array.isArray(only) || only.length === 0 || !only.every(isJobDefinition))
    throw new InvalidInterceptorError(
      source,
      'its option only must be a list of definitions: where one is undefined, two files import each other, so move the definitions to a file of their own',
    );
}

/** interceptOptions checks what a decorator or `queue.intercept` was given. Throws InvalidInterceptorError, also for an option that there is not. */
export function interceptOptions(source: string, options: InterceptOptions = {}): InterceptOptions {
  if (typeof options !== 'object' || options === null)
    throw new InvalidInterceptorError(source, 'its options must be an object: { order, only }');
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined)
    throw new InvalidInterceptorError(source, `${unknown} is no option of an interceptor: there are order and only`);
  checkInterceptOptions(source, options);
  return options;
}
