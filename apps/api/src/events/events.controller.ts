import { Body, Controller, HttpCode, Post, Res, UseGuards } from '@nestjs/common';
import { JsonBodyGuard } from '../problems/json-body.guard.js';
import { SchemaPipe } from '../problems/schema.pipe.js';
import { EventAcceptance, type AcceptedEvent } from './event.acceptance.js';
import { eventBody, type EventBody } from './event.body.js';

/** ResponseHeaders is what is needed of the response, whatever the HTTP library. */
interface ResponseHeaders {
  setHeader(name: string, value: string): unknown;
}

/** EventsController takes events. */
@Controller('events')
export class EventsController {
  constructor(private readonly acceptance: EventAcceptance) {}

  /** accept answers 202 once the event and its jobs have been committed; `Location` is where its first job is told about. */
  @Post()
  @HttpCode(202)
  @UseGuards(JsonBodyGuard)
  async accept(
    @Body(new SchemaPipe(eventBody)) body: EventBody,
    @Res({ passthrough: true }) response: ResponseHeaders,
  ): Promise<AcceptedEvent> {
    const accepted = await this.acceptance.accept(body);
    const first = accepted.jobs[0];
    if (first) response.setHeader('Location', `/jobs/${first.id}`);
    return accepted;
  }
}
