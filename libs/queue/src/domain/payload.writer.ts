import { InvalidPayloadError } from '../errors/invalid-payload.error.js';
import { PayloadTooLargeError } from '../errors/payload-too-large.error.js';
import { payloadPath } from './payload.path.js';
import { unstorable } from './text.js';

/** The deepest nesting of a payload: far above what people write, far below what a JSON parser or the server's stack minds. */
export const MAX_PAYLOAD_DEPTH = 100;

/**
 * PayloadWriter writes a payload as JSON text, or throws at the first thing that JSON cannot say as it stands (Q2).
 *
 * It reads every property once, so what was checked is what is stored, and it never calls `toJSON`: nothing turns silently into something
 * else. Properties that are undefined are left out, as an optional property is; −0 is written as 0; everything else that JSON would drop,
 * round or replace is refused. It stops at the byte limit, before a huge text has been built.
 */
export class PayloadWriter {
  private left: number;
  private readonly open = new Set<object>();
  private readonly path: (string | number)[] = [];

  constructor(
    private readonly kind: string,
    private readonly limitBytes: number,
  ) {
    this.left = limitBytes;
  }

  /** write answers the text. Throws InvalidPayloadError with the path, or PayloadTooLargeError. */
  write(payload: unknown): string {
    const text = this.guarded(payload);
    if (Buffer.byteLength(text) > this.limitBytes) throw new PayloadTooLargeError(this.kind, this.limitBytes);
    return text;
  }

  private array(items: readonly unknown[]): string {
    if (Object.keys(items).length > items.length) this.refuse('is an array with named properties');
    const parts: string[] = [];
    for (let index = 0; index < items.length; index += 1) {
      this.path.push(index);
      if (!(index in items)) this.refuse('is a hole in an array');
      const item = items[index];
      if (item === undefined) this.refuse('is undefined in an array');
      parts.push(this.value(item));
      this.spend(1);
      this.path.pop();
    }
    return `[${parts.join(',')}]`;
  }

  private compound(value: object): string {
    if (this.open.has(value)) this.refuse('contains itself');
    if (this.open.size >= MAX_PAYLOAD_DEPTH) this.refuse(`is nested more than ${MAX_PAYLOAD_DEPTH} deep`);
    this.open.add(value);
    this.spend(2);
    const text = Array.isArray(value) ? this.array(value) : this.object(value);
    this.open.delete(value);
    return text;
  }

  /** Getters and proxies run foreign code: whatever they throw is a refusal at the place where it was met. */
  private guarded(payload: unknown): string {
    try {
      if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
        this.refuse(`is ${nameOf(payload)}, a payload is an object`);
      return this.value(payload);
    } catch (error) {
      if (error instanceof InvalidPayloadError || error instanceof PayloadTooLargeError) throw error;
      throw new InvalidPayloadError(this.kind, payloadPath(this.path), 'threw when it was read', { cause: error });
    }
  }

  private object(value: object): string {
    if (!isPlain(value)) this.refuse(`is ${nameOf(value)}: write it as plain JSON, or give the definition a codec`);
    for (const symbol of Object.getOwnPropertySymbols(value)) {
      if (Object.prototype.propertyIsEnumerable.call(value, symbol)) this.refuse('has a property named by a symbol');
    }
    const parts: string[] = [];
    for (const key of Object.keys(value)) {
      this.path.push(key);
      const property = (value as Record<string, unknown>)[key];
      if (property !== undefined) {
        parts.push(`${this.text(key, 'has a name with')}:${this.value(property)}`);
        this.spend(2);
      }
      this.path.pop();
    }
    return `{${parts.join(',')}}`;
  }

  private refuse(reason: string): never {
    throw new InvalidPayloadError(this.kind, payloadPath(this.path), reason);
  }

  private spend(characters: number): void {
    this.left -= characters;
    if (this.left < 0) throw new PayloadTooLargeError(this.kind, this.limitBytes);
  }

  private text(text: string, prefix: string): string {
    this.spend(text.length);
    const wrong = unstorable(text);
    if (wrong) this.refuse(`${prefix} ${wrong}`);
    return JSON.stringify(text);
  }

  private value(value: unknown): string {
    switch (typeof value) {
      case 'string':
        return this.text(value, 'contains');
      case 'number':
        if (!Number.isFinite(value)) this.refuse(`is ${value}`);
        this.spend(1);
        return JSON.stringify(value);
      case 'boolean':
        this.spend(4);
        return value ? 'true' : 'false';
      case 'object':
        if (value !== null) return this.compound(value);
        this.spend(4);
        return 'null';
      default:
        return this.refuse(`is ${nameOf(value)}`);
    }
  }
}

/** A plain object's prototype is null or the root of a realm's objects: one of another realm is plain too. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  if (typeof value !== 'object') return `a ${typeof value}`;
  const name: unknown = (value as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof name === 'string' && /^\w{1,60}$/.test(name) ? `a ${name}` : 'an object of a class';
}
