import { request as httpRequest, type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { AddressRefusedError } from './address.refused.error.js';
import { guardedLookup, type ResolveAll } from './guarded.lookup.js';
import { isRefusedAddress } from './refused.addresses.js';

/** OutgoingRequest is one POST. */
export interface OutgoingRequest {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** signal ends the request, whatever it waits for. */
  readonly signal: AbortSignal;
  readonly url: URL;
}

/** WebhookReply is what is kept of an answer; its body is not. */
export interface WebhookReply {
  readonly retryAfter: string | undefined;
  readonly status: number;
}

/** WebhookSenderOptions say what a sender may reach. */
export interface WebhookSenderOptions {
  /** allowPrivateAddresses lifts the guard. Default false. */
  readonly allowPrivateAddresses?: boolean;
  /** resolveAll replaces the resolver of the guard. Default `dns.lookup`. */
  readonly resolveAll?: ResolveAll;
}

const MAX_DISCARDED_BYTES = 65_536;
const MAX_DISCARD_MS = 2_000;
/** This answer has no body: what follows it is another protocol. */
const SWITCHING_PROTOCOLS = 101;

/**
 * WebhookSender posts to addresses outside our own network and answers the status.
 *
 * It follows no redirect, uses a new connection each time, and reads at most 64 KiB of an answer, for at most two seconds.
 */
export class WebhookSender {
  private readonly lookup: LookupFunction | undefined;

  constructor(options: WebhookSenderOptions = {}) {
    this.lookup = options.allowPrivateAddresses ? undefined : guardedLookup(options.resolveAll);
  }

  /** send answers the reply, or rejects with AddressRefusedError, the signal's abort, or the connection's error. */
  async send(outgoing: OutgoingRequest): Promise<WebhookReply> {
    this.refuseLiteral(outgoing.url);
    const response = await this.post(outgoing);
    await discard(response);
    return { retryAfter: response.headers['retry-after'], status: response.statusCode ?? 0 };
  }

  private post({ body, headers, signal, url }: OutgoingRequest): Promise<IncomingMessage> {
    const options: RequestOptions = {
      agent: false,
      headers: { ...headers, 'Content-Length': String(Buffer.byteLength(body)) },
      method: 'POST',
      signal,
      ...(this.lookup && { lookup: this.lookup }),
    };
    return new Promise((resolve, reject) => {
      const request: ClientRequest = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options);
      request.once('response', resolve);
      // A receiver that wants to speak another protocol has answered, and gets no further.
      request.once('upgrade', (response, socket) => {
        socket.destroy();
        resolve(response);
      });
      // Whatever else may come: a request that is over without an answer has failed.
      request.once('close', () => reject(new Error('The connection ended without an answer.')));
      // Stays on for the life of the request: an error after the answer must not be an uncaught one.
      request.on('error', reject);
      request.end(body);
    });
  }

  /** A literal address is never looked up, so the guard of the lookup does not see it. URL has already undone decimal, octal and hex forms. */
  private refuseLiteral(url: URL): void {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (this.lookup && isIP(host) !== 0 && isRefusedAddress(host)) throw new AddressRefusedError(host);
  }
}

/** discard reads an answer to its end or to the bounds, and ends the connection. It never rejects: the status is known. */
function discard(response: IncomingMessage): Promise<void> {
  if (response.statusCode === SWITCHING_PROTOCOLS) return Promise.resolve();
  return new Promise((resolve) => {
    let left = MAX_DISCARDED_BYTES;
    const timer = setTimeout(() => response.destroy(), MAX_DISCARD_MS);
    response.on('error', () => undefined);
    response.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) response.destroy();
    });
    response.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
