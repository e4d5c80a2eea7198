import { CommitUnknownError, failureClassOf, isConnectionLost, sqlStateOf } from '@holdfast/kernel';
import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Problem, problemBody, type ProblemBody } from './problem.js';
import { Unauthorized } from './unauthorized.js';

/** What the body parser calls its refusals, and what a client is told about each. */
const PARSER_PROBLEMS: Readonly<Record<string, string>> = {
  'charset.unsupported': 'The body must be encoded as UTF-8.',
  'encoding.unsupported':
    'The Content-Encoding of the body is not supported: send it as it is, or with gzip, deflate or br.',
  'entity.parse.failed': 'The body is not valid JSON.',
  'request.aborted': 'The body ended before its Content-Length.',
  'request.size.invalid': 'The body does not have the length that its Content-Length says.',
};

const TOO_MANY_CONNECTIONS = '53300';

/** ProblemFilter answers every error as problem+json. What is not the client's fault is logged and told as 500 or 503 without its text. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger(ProblemFilter.name);

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly bodyLimitBytes: number,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const body = this.bodyOf(error);
    const response: unknown = host.switchToHttp().getResponse();
    const { httpAdapter } = this.adapterHost;
    if (body.status >= 500)
      this.logger.error(
        error instanceof Error ? (error.stack ?? error.message) : 'A value that is no error was thrown.',
      );
    if (httpAdapter.isHeadersSent(response)) return void httpAdapter.end(response);
    httpAdapter.setHeader(response, 'Content-Type', 'application/problem+json; charset=utf-8');
    if (error instanceof Unauthorized) httpAdapter.setHeader(response, 'WWW-Authenticate', 'Bearer');
    httpAdapter.reply(response, body, body.status);
  }

  private bodyOf(error: unknown): ProblemBody {
    if (error instanceof Problem) return problemBody(error.getStatus(), error.detail, error.errors);
    if (error instanceof HttpException) return problemBody(error.getStatus(), this.detailOf(error));
    if (isUnavailable(error)) return problemBody(503, 'The database cannot be reached at the moment: try again.');
    return problemBody(500, 'Something went wrong on our side; nothing was stored.');
  }

  /** Nest wraps what the body parser and the router refuse, and keeps theirs as the cause. */
  private detailOf(error: HttpException): string {
    if (error.cause instanceof URIError) return 'The path is not a valid percent-encoded URL.';
    const { type } = (error.cause ?? {}) as { type?: unknown };
    if (type === 'entity.too.large') return `The body is over ${this.bodyLimitBytes} bytes.`;
    return PARSER_PROBLEMS[String(type)] ?? error.message;
  }
}

/** After a lost answer to COMMIT too the request is to be sent again: the event's id tells whether it was stored. */
function isUnavailable(error: unknown): boolean {
  if (isConnectionLost(error) || failureClassOf(error) === 'unavailable') return true;
  return error instanceof CommitUnknownError || sqlStateOf(error) === TOO_MANY_CONNECTIONS;
}
