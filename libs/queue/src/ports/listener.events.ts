/** ListenerEvent is what became of a listener; no listener is told it, so that none can go in circles. */
export type ListenerEvent =
  /** A listener has missed events because it was busy: told at the first, and again with the sum when it has caught up. */
  | { readonly type: 'listener.behind'; readonly dropped: number; readonly listener: string; readonly waiting: number }
  /** A listener threw; the event is not told to it again. */
  | { readonly type: 'listener.failed'; readonly error: unknown; readonly event: string; readonly listener: string };
