import { createHash, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { bearerOf, type Credentials } from '../access/credentials.js';
import { Unauthorized } from '../problems/unauthorized.js';

/** OPERATOR_TOKEN is what the operator's bearer token is compared with. */
export const OPERATOR_TOKEN = Symbol('OPERATOR_TOKEN');

/** OperatorGuard lets in the bearer of the operator's token, compared in constant time (H4). */
@Injectable()
export class OperatorGuard implements CanActivate {
  private readonly expected: Buffer;

  constructor(@Inject(OPERATOR_TOKEN) token: string) {
    this.expected = digest(token);
  }

  canActivate(context: ExecutionContext): boolean {
    const given = bearerOf(context.switchToHttp().getRequest<Credentials>());
    if (timingSafeEqual(digest(given ?? ''), this.expected)) return true;
    throw new Unauthorized('This is for operators: send the OPERATOR_TOKEN of the api as Authorization: Bearer ….');
  }
}

/** Digests have one length, whatever was given. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
